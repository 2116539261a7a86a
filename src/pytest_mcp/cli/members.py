"""`pytest-mcp run` with targets that have different environments: run each part in its own, one after the other.

Without targets, the members stand for a root that has no environment of its own.

In comes the request for all of them; out comes one answer, made in `report/members`. The time limit, `maxfail` and the
token limit are those of all parts together. A part that cannot run does not keep the others from running. Which
targets belong together is decided in `environments/by_environment.py`.
"""

import math
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import anyio

from pytest_mcp import engine
from pytest_mcp.api.errors import CallError, ExecutionFailed, Fault, InvalidParams, RefusedByPytest
from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.api.results import DiscoverResult, ExecuteResult, PartialResult
from pytest_mcp.api.targets import Target
from pytest_mcp.cli import exit_codes, render
from pytest_mcp.cli.colours import Painter
from pytest_mcp.cli.files.junit_file import JUnitFile
from pytest_mcp.cli.files.run_page import OnPart
from pytest_mcp.config.model import LEAST_REPLY_BYTES, LEAST_TOKENS, Config
from pytest_mcp.environments import interpreter, members
from pytest_mcp.events.ledger import Ledger
from pytest_mcp.events.run import Run
from pytest_mcp.events.steps import Steps
from pytest_mcp.execution import supervisor_client
from pytest_mcp.execution.background import in_thread
from pytest_mcp.execution.spare import Spare
from pytest_mcp.report.members.merge import MemberAnswer, merged
from pytest_mcp.running.attempt import OnProgress
from pytest_mcp.text import few, in_line

Answer = TypeVar("Answer", ExecuteResult, DiscoverResult)

INTERRUPTED = "interrupted"
PLAIN = Painter(has_colours=False)
_NOT_RUN = "was not run: "
# Why the root itself, which is a part if it has tests of its own, cannot run.
NO_ENVIRONMENT = "it has tests outside of its members, and no environment for them"

Parts = list[list[Target]]


async def instead_of_root(error: CallError, asked: Request, config: Config) -> Parts:
    """The members that stand for a root without an environment, which this error is about; otherwise none."""
    is_about_it = isinstance(error, ExecutionFailed) and error.error_type == "environment" and not list(asked.targets)
    return await in_thread(partial(members.instead_of_root, config)) if is_about_it else []


def with_notice(result: Answer, parts: Parts) -> Answer:
    names = [target.relative for part in parts if not is_root(part) for target in part]
    notice = f"The root has no environment of its own, so its members were taken, each with its own: {few(names)}."
    return result.model_copy(update={"notices": [*result.notices, notice]})


def is_root(part: Sequence[Target]) -> bool:
    return [target.relative for target in part] == [members.ROOT]


@dataclass
class Members:
    """The parts of one request, and what is known of those that have ended."""

    request: ExecuteTests
    config: Config
    parts: Parts
    keep: OnPart
    # Whether the text that pytest printed is to be condensed although it is asked for in full.
    condenses: bool
    # Whether they stand for a root without an environment.
    stand_for_root: bool
    answers: list[MemberAnswer] = field(default_factory=list)
    # Of the part that runs: whether its child has reported something.
    has_begun: bool = False
    # An exit code if the JUnit file could not be written.
    unwritten: int | None = None

    async def execute(self, spare: Spare | None, on_progress: OnProgress) -> ExecuteResult:
        """Raises InvalidParams for what cannot be merged."""
        self._check()
        limit = self.request.timeout or self.config.default_timeout
        deadline = anyio.current_time() + limit

        def follow(made: Ledger | Steps) -> None:
            self.has_begun = True
            on_progress(made)

        with JUnitFile.of(self.config.pytest_options) as junit:
            for part in self.parts:
                left = math.ceil(deadline - anyio.current_time())
                if self._is_over(part):
                    continue
                if self.stand_for_root and is_root(part):
                    self._skip(part, NO_ENVIRONMENT, code=exit_codes.OF_ERROR_TYPES["environment"])
                    continue
                if left <= 0:
                    self._skip(part, f"the limit of {limit} seconds had passed")
                    continue
                config = self._config(junit.options(len(self.answers)))
                runs: list[Run[ExecuteTests]] = []
                self.has_begun = False
                call = engine.execute(self._request(part, left), config, spare, follow, on_run=runs.append)
                if (result := await self._result(part, call)) is not None:
                    self._add_result(part, junit.cleaned(result), runs)
            self.unwritten = junit.write(self.answers)
        return self._merged()

    def rescued(self, error: CallError) -> ExecuteResult | None:
        """The answer of a command that was ended at once, with all that ran until then."""
        if not isinstance(error, ExecutionFailed):
            return None
        for part in self.parts[len(self.answers) :][:1]:
            self._add_error(part, error)
        for part in self.parts[len(self.answers) :]:
            self._skip(part, INTERRUPTED)
        return self._merged()

    def _merged(self) -> ExecuteResult:
        shown = {"detail": "tests"} if self.condenses else {}
        return merged(self.answers, self.request.model_copy(update=shown))

    def _check(self) -> None:
        for name, given in {"coverage": self.request.coverage, "shard": self.config.shard}.items():
            if given is not None:
                names = " and ".join(map(self._name, self.parts[:2]))
                message = f"is for one environment, but {names} have their own; run each alone"
                raise InvalidParams([Fault(name, message, "several_environments", given)])

    def _config(self, pytest_options: tuple[str, ...]) -> Config:
        most = max(LEAST_REPLY_BYTES, self.config.max_reply_bytes // len(self.parts))
        return self.config._replace(pytest_options=pytest_options, max_reply_bytes=most)

    def _request(self, part: Sequence[Target], seconds: int) -> ExecuteTests:
        most = self.request.max_tokens or self.request.default_max_tokens
        changes: dict[str, Any] = {
            "path": None,
            "node_ids": tuple(part),
            "timeout": seconds,
            "max_tokens": max(LEAST_TOKENS, most // len(self.parts)),
        }
        if self.request.maxfail is not None:
            changes["maxfail"] = self.request.maxfail - self._failures
        return self.request.model_copy(update=changes)

    async def _result(self, part: Sequence[Target], call: Awaitable[ExecuteResult]) -> ExecuteResult | None:
        """None if it ends with an error, which is the answer then."""
        try:
            return await call
        except CallError as error:
            self._add_error(part, error)
            return None

    def _add_result(self, part: Sequence[Target], result: ExecuteResult, runs: Sequence[Run[ExecuteTests]]) -> None:
        for run in runs:
            self.keep(run)
        known = runs[0].environment if runs else None
        versions = f"Python {known['python']}, pytest {known['pytest']}" if known else None
        self._add(part, result=result, versions=versions)

    @property
    def _failures(self) -> int:
        summaries = [answer.result.summary for answer in self.answers if answer.result is not None]
        return sum(summary.failed + summary.errors for summary in summaries)

    def _is_over(self, part: Sequence[Target]) -> bool:
        """Whether nothing more is to run; then this part is skipped."""
        event = supervisor_client.interruption.get()
        most = 1 if self.request.failfast else self.request.maxfail
        if event is not None and event.is_set():
            self._skip(part, INTERRUPTED)
        elif most is not None and self._failures >= most:
            # Not an error: the answer has failures.
            self._skip(part, f"{self._failures} failed before", code=None)
        else:
            return False
        return True

    def _skip(self, part: Sequence[Target], why: str, *, code: int | None = exit_codes.INTERRUPTED) -> None:
        self._add(part, problem=_NOT_RUN + why, error_code=code)

    def _add_error(self, part: Sequence[Target], error: CallError) -> None:
        partial = error.data.get("partial") if self.has_begun else None
        result = None if partial is None else PartialResult.model_validate(partial)
        if result is not None:
            self.keep(result)
        lines = render.of_error(error, PLAIN)
        problem = _problem(error, lines)
        self._add(
            part,
            result=result,
            problem=problem,
            error=None if [problem] == [_NOT_RUN + line for line in lines] else "\n".join(lines),
            error_code=exit_codes.of_error(error),
        )

    def _add(self, part: Sequence[Target], **known: Any) -> None:
        usual: dict[str, Any] = {"facts": None, "result": None}
        self.answers.append(MemberAnswer(self._name(part), **usual | known))

    def _name(self, part: Sequence[Target]) -> str:
        root = self.config.root
        folder = members.home(interpreter.pointed_at([target.path for target in part], root), root)
        return "the project root" if folder == root else folder.relative_to(root).as_posix()


def _problem(error: CallError, lines: Sequence[str]) -> str:
    """A refusal is told whole if it fits into a notice."""
    if not isinstance(error, InvalidParams | RefusedByPytest):
        return f"did not finish: {lines[0]}"
    whole = _NOT_RUN + lines[0]
    return whole if len(lines) == 1 and in_line(whole) == whole else f"{_NOT_RUN}its arguments were refused"
