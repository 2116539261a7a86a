"""One JUnit file of the files of several runs."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pytest_mcp.cli.junit_file import junit_file
from pytest_mcp.terminal.output import UNWRITTEN

SUITE = '<testsuites><testsuite name="shop" tests="3"><testcase name="test_é" /></testsuite></testsuites>'
# What they are called, why one has no result, and what pytest has written.
RUNS = [("a", None, SUITE), ("b", "was killed", None), ("c", None, "<broken")]


def test_it_has_the_suites_of_all_runs_and_an_error_for_each_run_without_any(tmp_path: Path) -> None:
    with junit_file(("--lf", f"--junitxml={tmp_path}/out/all.xml")) as junit:
        for label, problem, content in RUNS:
            file = Path(junit.options()[1].partition("=")[2])
            if content is not None:
                file.write_text(content, "utf-8")
            junit.runs.append((label, problem))
        written = junit.write()

    suites = list(ET.parse(tmp_path / "out/all.xml").getroot())
    assert written is None
    assert [(suite.get("name"), suite.get("tests")) for suite in suites] == [
        ("shop a", "3"),
        ("pytest b", "1"),
        ("pytest c", "1"),
    ]
    assert suites[0][0].get("name") == "test_é"
    assert [error.get("message") for error in suites[1].iter("error")] == ["was killed"]
    assert not file.parent.exists()


def test_a_file_that_cannot_be_written_is_an_exit_code_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with junit_file((f"--junitxml={tmp_path}",)) as junit:
        junit.runs.append(("a", None))
        assert junit.write() == UNWRITTEN

    assert "could not be written" in capsys.readouterr().err


def test_without_the_option_and_for_one_run_nothing_is_written(tmp_path: Path) -> None:
    with junit_file(("--lf",)) as junit:
        assert junit.options() == ("--lf",)
        junit.runs.append(("a", None))
        assert junit.write() is None
    with junit_file((f"--junitxml={tmp_path}/one.xml",)) as junit:
        assert junit.write() is None

    assert list(tmp_path.iterdir()) == []
