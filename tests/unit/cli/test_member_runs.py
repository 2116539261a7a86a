from pathlib import Path
from xml.etree import ElementTree as ET

from pytest_mcp.cli.member_runs import write_suites

SUITE = '<testsuites><testsuite name="shop" tests="3"><testcase name="test_é" /></testsuite></testsuites>'


def test_one_junit_file_has_the_suites_of_all_runs_and_an_error_for_each_run_without_any(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(SUITE, "utf-8")
    (tmp_path / "c").write_text("<broken", "utf-8")

    write_suites(
        tmp_path / "out/all.xml",
        [(tmp_path / "a", "a", None), (tmp_path / "b", "b", "was killed"), (tmp_path / "c", "c", None)],
    )

    suites = list(ET.parse(tmp_path / "out/all.xml").getroot())
    assert [(suite.get("name"), suite.get("tests")) for suite in suites] == [
        ("shop a", "3"),
        ("pytest b", "1"),
        ("pytest c", "1"),
    ]
    assert suites[0][0].get("name") == "test_é"
    assert [error.get("message") for error in suites[1].iter("error")] == ["was killed"]
