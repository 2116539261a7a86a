"""One JUnit file of the files of several runs."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pytest_mcp.cli.junit_file import JUnitFile
from pytest_mcp.terminal.output import UNWRITTEN

SUITE = '<testsuites><testsuite name="shop" tests="3"><testcase name="test_é" /></testsuite></testsuites>'
RUNS = [("a", None), ("b", "was killed"), ("c", None)]


def test_it_has_the_suites_of_all_runs_and_an_error_for_each_run_without_any(tmp_path: Path) -> None:
    with JUnitFile.of(("--lf", f"--junitxml={tmp_path}/out/all.xml")) as junit:
        files = [Path(junit.options(number)[1].partition("=")[2]) for number in range(3)]
        files[0].write_text(SUITE, "utf-8")
        files[2].write_text("<broken", "utf-8")
        for label, problem in RUNS:
            junit.add(label, problem)
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
    assert not any(file.parent.exists() for file in files)


def test_a_file_that_cannot_be_written_is_an_exit_code_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with JUnitFile.of((f"--junitxml={tmp_path}",)) as junit:
        junit.add("a", None)
        assert junit.write() == UNWRITTEN

    assert "could not be written" in capsys.readouterr().err


def test_without_the_option_nothing_is_written(tmp_path: Path) -> None:
    with JUnitFile.of(("--lf",)) as junit:
        assert junit.options(0) == ("--lf",)
        junit.add("a", None)
        assert junit.write() is None

    assert list(tmp_path.iterdir()) == []


def test_the_file_of_one_run_is_left_to_pytest(tmp_path: Path) -> None:
    with JUnitFile.of((f"--junitxml={tmp_path}/one.xml",)) as junit:
        assert junit.write() is None

    assert list(tmp_path.iterdir()) == []
