"""One JUnit XML file for several runs.

pytest writes the file of one run itself. For several each gets a file of its own, and at the end the file that was
asked for has the suites of all of them. A run without a result has one test case, which is an error.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element, ParseError, SubElement

from pytest_mcp.report.report import Report
from pytest_mcp.terminal.output import UNWRITTEN, print_message
from pytest_mcp.text import in_line

OPTION = "--junitxml="


@dataclass(frozen=True)
class JUnitFile:
    given: tuple[str, ...]
    # The files of the runs, named by their numbers. None if no file was asked for.
    folder: Path | None
    # What the runs that have ended are called, and why one has no result.
    runs: list[tuple[str, str | None]] = field(default_factory=list)

    def options(self) -> tuple[str, ...]:
        """Those of the next of several runs."""
        own = f"{OPTION}{self.folder}/{len(self.runs)}"
        return tuple(own if option.startswith(OPTION) else option for option in self.given)

    def cleaned(self, report: Report) -> Report:
        """Without the line in which pytest says where it wrote its file, which is gone soon."""
        if self.folder is None:
            return report
        return replace(report, printed=self._cleaned(report.printed), condensed=self._cleaned(report.condensed))

    def _cleaned(self, printed: str) -> str:
        return "\n".join(line for line in printed.split("\n") if str(self.folder) not in line)

    def write(self) -> int | None:
        """If there were several runs. Returns an exit code if it could not be written."""
        if self.folder is None or not self.runs:
            return None
        suites = Element("testsuites", name="pytest tests")
        for number, (label, problem) in enumerate(self.runs):
            suites.extend(_suites(self.folder / str(number), label, problem))
        path = next(Path(option.removeprefix(OPTION)) for option in self.given if option.startswith(OPTION))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            ET.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)
        except OSError as error:
            print_message(f"the JUnit file could not be written to {in_line(str(path))}: {error.strerror}")
            return UNWRITTEN
        return None


@contextmanager
def junit_file(options: tuple[str, ...]) -> Iterator[JUnitFile]:
    """The file that these options ask for. The files of its runs are gone after the block."""
    if not any(option.startswith(OPTION) for option in options):
        yield JUnitFile(options, None)
        return
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-junit-") as folder:
        yield JUnitFile(options, Path(folder))


def _suites(path: Path, label: str, problem: str | None) -> list[Element]:
    try:
        suites = list(ET.parse(path).getroot())  # noqa: S314 - pytest wrote it, and expat expands no bombs
    except (OSError, ParseError):
        suite = Element("testsuite", name="pytest", errors="1", failures="0", skipped="0", tests="1", time="0")
        case = SubElement(suite, "testcase", classname=label, name="run", time="0")
        SubElement(case, "error", message=in_line(problem or "no JUnit file was written"))
        suites = [suite]
    for suite in suites:
        suite.set("name", f"{suite.get('name', 'pytest')} {label}")
    return suites
