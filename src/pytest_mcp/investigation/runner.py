"""Run chosen tests in a fresh process, as often as an investigation needs, until its deadline.

A run is returned whatever became of it; what it says about the test is decided in `outcome`.
"""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
from pydantic import ValidationError

from pytest_mcp.api.parameters import MAX_NODE_IDS
from pytest_mcp.api.requests import DiscoverTargets, ExecuteTests
from pytest_mcp.api.targets import parse_path
from pytest_mcp.config.model import Config
from pytest_mcp.process.background import in_thread
from pytest_mcp.process.job import CallTrace, Proof, Trace
from pytest_mcp.process.supervisor_protocol import OVERTIME_SECONDS
from pytest_mcp.python import virtualenv
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.report import no_result
from pytest_mcp.run.attempt import Asked, Attempt, Call, Deadline, command_of
from pytest_mcp.run.events import Portrait
from pytest_mcp.run.run import OnProgress, Project, Run

# A run that would have less time than this is not started.
LEAST_SECONDS = 1
# Of the time for all of it, this share at most is kept for ending the last run.
SHARE_FOR_ENDING = 0.2
# A hook of git has them: with these, git in a copy would read and write the checkout's repository.
_OF_ONE_REPOSITORY = frozenset(
    f"GIT_{name}"
    for name in ("DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES")
)
_WILDCARDS = re.compile(r"[*?\[]")

OnStep = Callable[[str], None]
Result = TypeVar("Result")


class OutOfTime(Exception):
    """The deadline has passed."""


def deadline_of_runs(seconds: int) -> Deadline:
    """So long before the end of an investigation that a run can be ended: the answer must not be late."""
    kept = min(OVERTIME_SECONDS, SHARE_FOR_ENDING * seconds)
    return Deadline(seconds, anyio.current_time() + seconds - kept)


@dataclass(frozen=True)
class Runner:
    """Runs tests of the project in `config.root` with the Python that was chosen for it."""

    config: Config
    chosen: Candidate
    # When each of its runs is made to end, which takes time.
    deadline: Deadline
    # When all of it must be over.
    end: float = math.inf
    # What pytest collects for the whole suite: targets, or everything.
    suite: tuple[str, ...] = ()
    # Set in the environment of every run, over what the operator's has.
    variables: Mapping[str, str] = field(default_factory=dict)
    # Further options for pytest. Only options that the project's plugins are known to have.
    options: tuple[str, ...] = ()
    # The checkout that the project in `config.root` is a copy of, and the top of the copy.
    moved: tuple[Path, Path] | None = None
    # Told of everything that its runs report, and of what they are for.
    on_progress: OnProgress = lambda _progress: None
    on_step: OnStep = lambda _words: None

    def adding(self, *options: str, **variables: str) -> "Runner":
        """The same, with further options and variables."""
        return replace(self, options=(*self.options, *options), variables={**self.variables, **variables})

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Raises OutOfTime if the block is not done when all of it must be over."""
        with anyio.CancelScope(deadline=self.end) as scope:
            yield
        if scope.cancelled_caught:
            raise OutOfTime

    async def computed(self, work: Callable[[], Result]) -> Result:
        """In a thread. Raises OutOfTime."""
        with self.in_time():
            return await in_thread(work)
        raise OutOfTime

    def within(self, seconds: float) -> "Runner":
        """The same, with at most so much time for all that it runs from now on."""
        moment = min(self.deadline.moment, anyio.current_time() + max(LEAST_SECONDS, seconds))
        return replace(self, deadline=replace(self.deadline, moment=moment))

    def at(self, copy: Path, *, instead_of: Path) -> "Runner":
        """The same, in a copy of the whole checkout: everything is imported from there."""
        root = copy / self.config.root.relative_to(instead_of)
        given = self.config.environment.get("PYTHONPATH", "").split(os.pathsep)
        inside = [(place, Path(place).is_relative_to(instead_of)) for place in given if place]
        kept = [str(copy / Path(place).relative_to(instead_of)) if moves else place for place, moves in inside]
        # In front of editable installs of the checkout, which the child looks for as well.
        path = os.pathsep.join([str(root), str(root / "src"), *kept])
        environment = {name: value for name, value in self.config.environment.items() if name not in _OF_ONE_REPOSITORY}
        config = self.config._replace(root=root, environment=environment)
        moved = replace(self, config=config, moved=(instead_of, copy))
        return moved.adding(PYTHONPATH=path)

    async def run(
        self,
        ids: Sequence[str] | None,
        *,
        paths: Sequence[str] = (),
        trace: Trace | None = None,
        calls: CallTrace | None = None,
    ) -> Run[ExecuteTests]:
        """Run exactly these tests in this order, in one process. None: all tests that pytest finds.

        `paths` are what pytest collects (and imports); without any, the files of the ids, or the suite.
        Raises OutOfTime, or ExecutionFailed if the machine cannot start processes.
        """
        if ids is not None and not paths:
            paths = list(dict.fromkeys(node_id.partition("::")[0] for node_id in ids))
        job = {"ids": None if ids is None else [*ids], "trace": trace, "calls": calls}
        return await self._attempt(self.request(*paths), job)

    async def run_after(
        self,
        others: Sequence[str],
        node_ids: Sequence[str],
        *,
        files: Sequence[str] | None = None,
        calls: CallTrace | None = None,
    ) -> Run[ExecuteTests]:
        """After other tests; or, if these are names of files, with these imported."""
        before = [each for each in others if "::" in each]
        if others and not before:
            files = [*others, *(node_id.partition("::")[0] for node_id in node_ids)]
        return await self.run([*before, *node_ids], paths=files or (), calls=calls)

    async def prove(self, paths: Sequence[str], proof: Proof, ids: Sequence[str] | None = None) -> Run[ExecuteTests]:
        """Run the tests of these files, or these of them, in forks. Raises as above."""
        return await self._attempt(self.request(*paths), {"ids": None if ids is None else [*ids], "proof": proof})

    async def collect(self) -> Run[DiscoverTargets]:
        """All tests of the suite, in the order in which pytest would run them."""
        request = DiscoverTargets.model_validate(_node_ids(self.suite), context=self.config.bounds)
        return await self._attempt(request, {})

    async def run_as_asked(self, node_ids: Sequence[str]) -> Run[ExecuteTests]:
        """As `execute_tests` would run these `node_ids`: without seeds and options of an investigation."""
        plain = replace(self, variables={}, options=())
        return await plain._attempt(self.request(*node_ids), {})

    def request(self, *targets: str) -> ExecuteTests:
        """No targets, or more than a call may name, stand for the suite. Those that a test has removed are left out."""

        def checked(some: Sequence[str]) -> ExecuteTests:
            named = _node_ids(some if 0 < len(some) <= MAX_NODE_IDS else self.suite)
            return ExecuteTests.model_validate({**named, "show_capture": False}, context=self.config.bounds)

        try:
            return checked(targets)
        except ValidationError as error:
            gone = {fault["loc"][-1] for fault in error.errors()}
            return checked([target for place, target in enumerate(targets) if place not in gone])

    async def _attempt(self, request: Asked, job: Mapping[str, Any]) -> Run[Asked]:
        if self.deadline.left < LEAST_SECONDS:
            raise OutOfTime
        config = self.config._replace(environment={**self.config.environment, **self.variables})
        # Never the server's spare: it was started in another environment, and the next call can use it.
        call = Call(request, Project(config, on_progress=self.on_progress))
        command = command_of(call, self.chosen, collects_only=call.collects_only)
        moved = None if self.moved is None else [str(folder) for folder in self.moved]
        merged: Any = {**command.job, **job, "moved": moved, "args": [*self.options, *command.job["args"]]}
        command = replace(command, job=merged)
        with self.in_time():
            run = await Attempt(call, self.chosen, self.deadline, command).run([])
        if run.exit.stopped_by is not None:
            raise no_result.interrupted(run, run.exit.stopped_by)
        return run


def _node_ids(targets: Sequence[str]) -> dict[str, list[str]]:
    return {"node_ids": list(targets)} if targets else {}


def suite_targets(test: Path, root: Path, portrait: Portrait | None, python: Path) -> tuple[str, ...]:
    """What pytest collects for the suite of a test: in a monorepo of its member, else of the whole project.

    Paths relative to the root, with which pytest finds the settings file and the rootdir that it finds for the test
    alone. Empty for the whole project, which pytest collects without arguments.
    """
    if portrait is None:
        return ()
    # With an option -c, pytest 7 takes the folder of the test for the rootdir.
    settings = Path(portrait.rootdir) if portrait.inifile is None else Path(portrait.inifile).parent
    around = [folder for folder in (virtualenv.prefix_of(python).parent, settings) if test.is_relative_to(folder)]
    member = max([root, *around], key=lambda folder: len(folder.parts))
    if member == root:
        return ()
    return _relative(_testpaths(member, portrait), root) or _relative([member], root)


def _testpaths(member: Path, portrait: Portrait) -> list[Path]:
    """Those inside the member: pytest uses them only if it is started in the rootdir. None if one has wildcards."""
    if any(map(_WILDCARDS.search, portrait.testpaths)):
        return []
    places = [Path(os.path.normpath(Path(portrait.rootdir) / name)) for name in portrait.testpaths]
    return [place for place in places if place.is_relative_to(member)]


def _relative(places: Sequence[Path], root: Path) -> tuple[str, ...]:
    """Without those that do not exist and those that a call may not name."""
    targets = []
    for place in places:
        with suppress(ValueError):
            targets.append(parse_path(str(place), root).relative)
    return tuple(targets)
