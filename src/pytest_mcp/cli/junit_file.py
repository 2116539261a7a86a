"""One JUnit XML file for several runs: the suites of the files that pytest has written for each."""

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element, ParseError, SubElement

from pytest_mcp.text import in_line

OPTION = "--junitxml="


def write_suites(path: Path, runs: Iterable[tuple[Path, str, str | None]]) -> None:
    """Of each run its file, what it is called, and why it has no result; such a run has one test case, an error."""
    suites = Element("testsuites", name="pytest tests")
    for file, label, problem in runs:
        suites.extend(_suites(file, label, problem))
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def _suites(file: Path, label: str, problem: str | None) -> list[Element]:
    try:
        suites = list(ET.parse(file).getroot())  # noqa: S314 - pytest wrote it, and expat expands no bombs
    except (OSError, ParseError):
        suite = Element("testsuite", name="pytest", errors="1", failures="0", skipped="0", tests="1", time="0")
        case = SubElement(suite, "testcase", classname=label, name="run", time="0")
        SubElement(case, "error", message=in_line(problem or "no JUnit file was written"))
        suites = [suite]
    for suite in suites:
        suite.set("name", f"{suite.get('name', 'pytest')} {label}")
    return suites
