"""`pytest-mcp run` with targets that have different environments: run each part in its own, one after the other.

Without targets, the members stand for a root that has no environment of its own. The time limit and `maxfail` are those
of all parts together. A part that cannot run does not keep the others from running. Which targets belong together is
decided in `python/members.py`; the reports of the parts are merged before anything is cut.
"""

import math
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element, ParseError, SubElement

import anyio

from pytest_mcp import engine
from pytest_mcp.api.errors import CallError, ExecutionFailed, Fault, InvalidParams
from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.api.targets import Target
from pytest_mcp.cli import exit_codes, render_run
from pytest_mcp.config.model import Config
from pytest_mcp.process import interruption
from pytest_mcp.process.background import in_thread
from pytest_mcp.python import interpreter, members
from pytest_mcp.report.merge import LabelledReport, merge
from pytest_mcp.report.report import Report
from pytest_mcp.report.verdict import Evidence
from pytest_mcp.run.run import Project
from pytest_mcp.terminal.colours import Painter
from pytest_mcp.text import few, in_line, safe

PLAIN = Painter(has_colours=False)
JUNIT = "--junitxml="
_NOT_RUN = "was not run: "
# Why the root itself, which is a part if it has tests of its own, cannot run.
NO_ENVIRONMENT = "it has tests outside of its members, and no environment for them"

Parts = list[list[Target]]


async def instead_of_root(error: CallError, asked: Request, config: Config) -> Parts:
    """The members that stand for a root without an environment, which this error is about; otherwise none."""
    is_about_it = isinstance(error, ExecutionFailed) and error.error_type == "environment" and not list(asked.targets)
    return await in_thread(partial(members.instead_of_root, config)) if is_about_it else []


def instead_notice(parts: Parts) -> str:
    names = [target.relative for part in parts if not is_root(part) for target in part]
    return f"The root has no environment of its own, so its members were taken, each with its own: {few(names)}."


def is_root(part: Sequence[Target]) -> bool:
    return [target.relative for target in part] == [members.ROOT]


@dataclass(frozen=True)
class _Ended:
    label: str
    report: Report
    # Why it has no result, the error in full unless that says all of it, and the exit code that stands for it.
    gap: str | None = None
    error: str = ""
    code: int | None = None


@dataclass
class MemberRuns:
    """The parts of one request, and what is known of those that have ended."""

    request: ExecuteTests
    project: Project
    parts: Parts
    # Whether they stand for a root without an environment.
    stand_for_root: bool
    ended: list[_Ended] = field(default_factory=list)

    async def execute(self) -> Report:
        """Raises InvalidParams for what cannot be merged."""
        config = self.project.config
        if config.shard is not None:
            names = " and ".join(map(self._name, self.parts[:2]))
            message = f"is for one environment, but {names} have their own; run each alone"
            raise InvalidParams([Fault("shard", message, "several_environments", config.shard.number)])
        limit = self.request.timeout or config.default_timeout
        deadline = anyio.current_time() + limit
        with tempfile.TemporaryDirectory(prefix="pytest-mcp-junit-") as folder:
            for number, part in enumerate(self.parts):
                left = math.ceil(deadline - anyio.current_time())
                ended = self._skipped(part, left, limit) or await self._run(part, left, Path(folder, str(number)))
                self.ended.append(ended)
            return self._merged(self._write_junit(Path(folder)))

    async def _run(self, part: Sequence[Target], seconds: int, junit: Path) -> _Ended:
        config = self.project.config
        options = [f"{JUNIT}{junit}" if given.startswith(JUNIT) else given for given in config.pytest_options]
        project = replace(self.project, config=config._replace(pytest_options=tuple(options)))
        changes: dict[str, Any] = {"path": None, "node_ids": tuple(part), "timeout": seconds}
        if self.request.maxfail is not None:
            changes["maxfail"] = self.request.maxfail - self._failures
        report = await engine.execute(self.request.model_copy(update=changes), project)

        def cleaned(printed: str) -> str:
            """Without the line in which pytest says where it wrote its file, which is gone soon."""
            return "\n".join(line for line in printed.split("\n") if str(junit) not in line)

        return self._ended(part, replace(report, printed=cleaned(report.printed), condensed=cleaned(report.condensed)))

    def _write_junit(self, folder: Path) -> str | None:
        """Why the file that was asked for could not be written."""
        given = [each for each in self.project.config.pytest_options if each.startswith(JUNIT)]
        if not given:
            return None
        runs = ((folder / str(number), each.label, each.gap) for number, each in enumerate(self.ended))
        try:
            write_suites(Path(given[-1].removeprefix(JUNIT)), runs)
        except OSError as error:
            return f"The JUnit file could not be written: {error.strerror}."
        return None

    def _skipped(self, part: Sequence[Target], left: int, limit: int) -> _Ended | None:
        """What is known of a part that is not to run."""
        most = 1 if self.request.failfast else self.request.maxfail
        nothing = partial(_Ended, self._name(part), Report(Evidence(has_no_result=True)))
        if interruption.is_asked():
            return nothing(f"{_NOT_RUN}interrupted", code=exit_codes.INTERRUPTED)
        if most is not None and self._failures >= most:
            # Without a code: the answer has failures.
            return nothing(f"{_NOT_RUN}{self._failures} failed before")
        if self.stand_for_root and is_root(part):
            return nothing(f"{_NOT_RUN}{NO_ENVIRONMENT}", code=exit_codes.OF_ERROR_TYPES["environment"])
        if left <= 0:
            return nothing(f"{_NOT_RUN}the limit of {limit} seconds had passed", code=exit_codes.INTERRUPTED)
        return None

    def _ended(self, part: Sequence[Target], report: Report) -> _Ended:
        error = report.problem
        if error is None:
            return _Ended(self._name(part), report)
        lines = render_run.error_lines(error, PLAIN)
        gap = f"{_NOT_RUN if isinstance(error, InvalidParams) else 'did not finish: '}{lines[0]}"
        # A single line is in the notice.
        whole = "\n".join(lines) if len(lines) > 1 else ""
        return _Ended(self._name(part), report, gap, whole, exit_codes.of_error(error))

    def _merged(self, unwritten: str | None) -> Report:
        # A member that a filter leaves without tests is as it should be; one that has none is not.
        empty = [each for each in self.ended if each.report.verdict == "no_tests"]
        # What `changed` leaves out is not counted as deselected.
        lacking = [each for each in empty if self.request.changed is None and not each.report.deselected]
        gaps = [f"{each.label} {in_line(each.gap)}" for each in self.ended if each.gap is not None]
        gaps = [gap if gap.endswith((".", "?")) else f"{gap}." for gap in gaps] + ([unwritten] if unwritten else [])
        notices = [*gaps, *(f"{each.label} has no tests." for each in lacking)]
        parts = [LabelledReport(each.label, each.report) for each in self.ended]
        whole = merge(parts, notices, one_is_missing=bool(gaps), may_be_empty=not lacking, keeps_apart=True)
        codes = [each.code for each in self.ended if each.code is not None]
        return replace(
            whole,
            exit_code=max(codes, default=whole.exit_code),
            notices=[*whole.notices, *([instead_notice(self.parts)] if self.stand_for_root else [])],
            printed=self._with_errors(whole.printed),
            condensed=self._with_errors(whole.condensed),
            closing=_closing(whole),
        )

    def _with_errors(self, printed: str) -> str:
        errors = [f"{each.label}:\n{safe(each.error)}" for each in self.ended if each.error]
        return "\n\n".join(filter(None, [*errors, printed]))

    @property
    def _failures(self) -> int:
        return sum(each.report.summary.failed + each.report.summary.errors for each in self.ended)

    def _name(self, part: Sequence[Target]) -> str:
        root = self.project.config.root
        folder = members.member_of(interpreter.pointed_at([target.path for target in part], root), root)
        return "the project root" if folder == root else folder.relative_to(root).as_posix()


def _closing(report: Report) -> str:
    """The counts that no other key of an answer has, as pytest writes them."""
    numbers = {
        "xfailed": report.xfailed,
        "xpassed": report.xpassed,
        "deselected": report.deselected,
        "rerun": report.repeated,
    }
    listed = ", ".join(f"{number} {name}" for name, number in numbers.items() if number)
    return f"{listed} in {report.duration:.2f}s" if listed else ""


def write_suites(path: Path, runs: Iterable[tuple[Path, str, str | None]]) -> None:
    """The suites of several runs, each with its file, name and problem. One without a file has an error as its case."""
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
