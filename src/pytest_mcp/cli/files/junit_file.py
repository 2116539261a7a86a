"""One JUnit XML file for several runs.

In come pytest's options with `--junitxml`; out come options that give each run a file of its own, and at the end the
file that was asked for, with the suites of all runs. A run without a result has one test case, which is an error.
"""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element, ParseError, SubElement

from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli.output import UNWRITTEN, print_message
from pytest_mcp.report.members.merge import MemberAnswer
from pytest_mcp.text import in_line

OPTION = "--junitxml="


@dataclass(frozen=True)
class JUnitFile:
    given: tuple[str, ...]
    # The files of the runs, named by their numbers. None if no file was asked for.
    folder: Path | None

    @staticmethod
    @contextmanager
    def of(options: tuple[str, ...]) -> "Iterator[JUnitFile]":
        if not any(option.startswith(OPTION) for option in options):
            yield JUnitFile(options, None)
            return
        with tempfile.TemporaryDirectory(prefix="pytest-mcp-junit-") as folder:
            yield JUnitFile(options, Path(folder))

    def options(self, number: int) -> tuple[str, ...]:
        """Those of one run."""
        return tuple(
            f"{OPTION}{self.folder / str(number)}" if self.folder and option.startswith(OPTION) else option
            for option in self.given
        )

    def cleaned(self, result: ExecuteResult) -> ExecuteResult:
        """Without the line in which pytest says where it wrote its file, which is gone soon."""
        if self.folder is None:
            return result
        lines = [line for line in result.text_output.split("\n") if str(self.folder) not in line]
        return result.model_copy(update={"text_output": "\n".join(lines)})

    def write(self, answers: Sequence[MemberAnswer]) -> int | None:
        """Returns an exit code if it could not be written."""
        if self.folder is None:
            return None
        suites = Element("testsuites", name="pytest tests")
        for number, answer in enumerate(answers):
            suites.extend(_suites(self.folder / str(number), answer))
        path = next(Path(option.removeprefix(OPTION)) for option in self.given if option.startswith(OPTION))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            ET.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)
        except OSError as error:
            print_message(f"the JUnit file could not be written to {in_line(str(path))}: {error.strerror}")
            return UNWRITTEN
        return None


def _suites(path: Path, answer: MemberAnswer) -> list[Element]:
    try:
        found = list(ET.parse(path).getroot())  # noqa: S314 - pytest wrote it, and expat expands no bombs
    except (OSError, ParseError):
        found = [_error(answer)]
    for suite in found:
        suite.set("name", f"{suite.get('name', 'pytest')} {answer.label}")
    return found


def _error(answer: MemberAnswer) -> Element:
    suite = Element("testsuite", name="pytest", errors="1", failures="0", skipped="0", tests="1", time="0")
    case = SubElement(suite, "testcase", classname=answer.label, name="run", time="0")
    SubElement(case, "error", message=in_line(answer.problem or "no JUnit file was written"))
    return suite
