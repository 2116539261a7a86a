"""The test after other tests, in the suite's order, and the smallest set of tests that changes its outcome.

In come the test and what other tests could do to it: make it fail, or make it pass. Out come what was tried and the
tests that do it. Every try is a fresh process. How a set is narrowed down is decided in `bisection`.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from pytest_mcp.investigation import alone, outcome
from pytest_mcp.investigation.alone import Say
from pytest_mcp.investigation.bisection import Search
from pytest_mcp.investigation.outcome import Letter, Outcome
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.report.failures import Failure
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.text import label

# It passes alone and fails after these tests, or it fails alone and passes after them.
Effect = Literal["fails_after", "fails_without"]

# Runs the test after some others, or with some files imported.
Try = Callable[[Sequence[str]], Awaitable[Outcome]]

# How often the tests that were found are run again with the test under investigation.
CONFIRMATIONS = 2
# After so many tries without an outcome a smallest set is not looked for any further: each may take as long as a suite.
MOST_UNKNOWN = 8
_SAID: Mapping[Letter, str] = {"P": "passes", "F": "fails", "S": "is skipped", "R": "passes when repeated"}
_NO_TIME = "not tried, the time was over"
_REORDERED = "the project changes the order of the tests"


class Unknown(Exception):
    """A run that was to confirm what was found, or too many of those before, had no outcome; the message says why."""


@dataclass(frozen=True)
class Polluter:
    """Node ids; files, if importing them is enough."""

    node_ids: tuple[str, ...]
    effect: Effect
    # Whether `execute_tests` shows it when it is given these ids and the test.
    can_be_shown: bool


@dataclass(frozen=True)
class Order:
    evidence: tuple[str, ...] = ()
    # Whether the outcome was another one than alone at least once.
    is_different: bool = False
    polluter: Polluter | None = None
    # The same tests in the same order had both outcomes.
    is_contradicted: bool = False
    # Whether every order could be tried.
    is_complete: bool = True
    # If the time was over before a smallest set was found: those that may be in it, in their order.
    left: tuple[str, ...] = ()
    # Of the run that failed and showed the difference.
    failure: Failure | None = None

    def and_then(self, *words: str) -> "Order":
        return replace(self, evidence=(*self.evidence, *words))


@dataclass(frozen=True)
class Arrangement:
    """Tests to run before the test, and what to collect (and import) for it; None: only their files."""

    place: str
    before: tuple[str, ...]
    files: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Suite:
    """All tests in order. If a plugin shuffles them, any of them may come before any other."""

    ids: tuple[str, ...]
    is_shuffled: bool = False
    # How many tests have names that no call can contain. They are not tried.
    unnamed: int = 0

    def arrangements(self, node_id: str) -> list[Arrangement]:
        """Its file, then everything before it; none twice."""
        if node_id not in self.ids:
            return []
        place = self.ids.index(node_id)
        before = self.ids[:place] + (self.ids[place + 1 :] if self.is_shuffled else ())
        file = _file(node_id)
        in_file = tuple(each for each in before if _file(each) == file)
        files = tuple(dict.fromkeys(_file(each) for each in self.ids))
        found = [Arrangement(f"after {self._number(in_file)} in its file", in_file)] if in_file else []
        if len(before) > len(in_file) or len(files) > 1:
            found.append(Arrangement(f"after {self._number(before)} in the suite", before, files))
        return found

    def _number(self, tests: Sequence[str]) -> str:
        if not tests:
            return "importing all test files"
        which = "other" if self.is_shuffled else "earlier"
        return f"the {which} test" if len(tests) == 1 else f"all {len(tests)} {which} tests"


class OrderSearch:
    def __init__(self, runner: Runner, node_id: str, effect: Effect, say: Say) -> None:
        self.runner = runner
        self.node_id = node_id
        self.effect: Effect = effect
        self.say = say
        # What is still under suspicion while a smallest set is looked for.
        self.left: tuple[str, ...] = ()
        # How many tries of that had no outcome. They rule nothing out.
        self.unknown = 0

    async def look(self, suite: Suite, *, most_seconds: float | None = None) -> Order:
        """`most_seconds` bounds each run of many tests, not the search that follows if it shows the effect."""
        found = Order()
        for arrangement in suite.arrangements(self.node_id):
            self.say(arrangement.place)
            runner = self.runner if most_seconds is None else self.runner.within(most_seconds)
            try:
                seen = await self._after(arrangement.before, arrangement.files, runner)
            except OutOfTime:
                return replace(found.and_then(f"{arrangement.place}: {_NO_TIME}"), is_complete=False)
            found = found.and_then(f"{arrangement.place}: {self._told(seen)}")
            if self._has_effect(seen):
                return await self._narrowed(replace(found, is_different=True, failure=seen.failure), arrangement)
            found = replace(found, is_complete=found.is_complete and seen.is_known)
        if suite.unnamed:
            return found.and_then(f"after {suite.unnamed} tests with names that a call cannot contain: not tried")
        return found

    async def _after(
        self, before: Sequence[str], files: Sequence[str] | None = None, runner: Runner | None = None
    ) -> Outcome:
        asked = [*before, self.node_id]
        run = await (runner or self.runner).run(asked, paths=files or ())
        seen = outcome.of(run, self.node_id)
        return seen if _ran_in_order(run.ledger, asked) else replace(seen, letter="?", words=_REORDERED)

    def _told(self, seen: Outcome) -> str:
        """With the cause, unless it is the same as alone."""
        said = _SAID.get(seen.letter, "unknown")
        is_the_same = seen.is_known and not self._has_effect(seen)
        return said if is_the_same or not seen.words else f"{said} ({seen.words})"

    def _has_effect(self, seen: Outcome) -> bool:
        return seen.failed if self.effect == "fails_after" else seen.passed

    async def _narrowed(self, found: Order, arrangement: Arrangement) -> Order:
        cut_short = replace(found, is_complete=False)
        self.left = arrangement.before or arrangement.files or ()
        try:
            smallest = await self._smallest(arrangement)
        except (OutOfTime, Unknown) as error:
            return replace(cut_short.and_then(self._ruled_out(arrangement, str(error))), left=self.left)
        if self.unknown:
            found = cut_short.and_then(f"fewer tests may be enough: {self.unknown} smaller sets had no outcome")
        try:
            return await self._confirmed(found, smallest)
        except (OutOfTime, Unknown) as error:
            polluter = Polluter(smallest, self.effect, can_be_shown=True)
            why = str(error) or "no time"
            unconfirmed = found.and_then(f"the tests are not confirmed: {why}")
            return replace(unconfirmed, polluter=polluter, is_complete=False)

    async def _smallest(self, arrangement: Arrangement) -> tuple[str, ...]:
        """Files, if collecting them is enough; else tests, of few files first. Raises OutOfTime and Unknown."""
        own = _file(self.node_id)
        others = [file for file in arrangement.files or () if file != own]
        if others and (not arrangement.before or self._has_effect(await self._after((), arrangement.files))):
            return await self._search(others, lambda files: self._after((), [*files, own]), "files", _itself)
        tests: dict[str, list[str]] = {}
        for each in arrangement.before:
            tests.setdefault(_file(each), []).append(each)

        def of_files(files: Sequence[str]) -> tuple[str, ...]:
            return tuple(chain.from_iterable(tests[file] for file in files))

        files = [*tests]
        if len(files) > 1:
            files = [*await self._search(files, lambda some: self._after(of_files(some)), "files", of_files)]
        return await self._search(of_files(files), self._after, "tests", _itself)

    async def _search(
        self, things: Sequence[str], run: Try, what: str, tests: Callable[[Sequence[str]], tuple[str, ...]]
    ) -> tuple[str, ...]:
        """The smallest set of these that has the effect. `tests` are those of things that are under suspicion."""

        async def has_effect(chosen: Sequence[str]) -> bool | None:
            self.left = tests(search.left)
            self.say(f"bisecting {len(chosen)} of {len(things)} {what}")
            seen = await run(chosen)
            self._count(seen)
            return self._has_effect(seen) if seen.is_known else None

        search = Search(things, has_effect)
        return tuple(await search.run())

    def _count(self, seen: Outcome) -> None:
        self.unknown += not seen.is_known
        if self.unknown > MOST_UNKNOWN:
            raise Unknown(seen.words)

    def _ruled_out(self, arrangement: Arrangement, why: str) -> str:
        """`why` there is no outcome; nothing if the time was over."""
        total = len(arrangement.before) or len(arrangement.files or ())
        left = self.left
        if len(left) == total:
            return f"which of them is not known: {why or 'the time was over'}"
        between = f"{label(left[0])} to {label(left[-1])}"
        until = f" ({why})" if why else " when the time was over"
        return f"{total - len(left)} of {total} ruled out{until}; left: {len(left)}, {between}"

    async def _confirmed(self, found: Order, smallest: tuple[str, ...]) -> Order:
        """In the form of a call if that shows it; and once more alone."""
        self.say("confirming")
        polluter = Polluter(smallest, self.effect, can_be_shown=True)
        if not await self._repeats(smallest, as_asked=True):
            if not await self._repeats(smallest, as_asked=False):
                return replace(found.and_then("the same tests again: another outcome"), is_contradicted=True)
            polluter = replace(polluter, can_be_shown=False)
        if self._has_effect(await self._alone()):
            return await self._changed_for_good(found)
        names = ", ".join(map(label, smallest[:2])) + (f" and {len(smallest) - 2} more" if len(smallest) > 2 else "")
        done = "failed" if self.effect == "fails_after" else "passed"
        again = f"{done} {CONFIRMATIONS} of {CONFIRMATIONS} times more after {names}, not alone"
        return replace(found.and_then(again), polluter=polluter)

    async def _changed_for_good(self, found: Order) -> Order:
        """Alone it has the other outcome now: by chance, or because something outlives the processes."""
        for _ in range(CONFIRMATIONS):
            if not self._has_effect(await self._alone()):
                return replace(found.and_then("alone again: both outcomes"), is_contradicted=True)
        done = "fails" if self.effect == "fails_after" else "passes"
        return found.and_then(f"now {done} alone too: a test left something behind, such as a file or a database row")

    async def _repeats(self, before: tuple[str, ...], *, as_asked: bool) -> bool:
        for _ in range(CONFIRMATIONS):
            if as_asked:
                seen = outcome.of(await self.runner.run_as_asked([*before, self.node_id]), self.node_id)
            elif "::" in before[0]:
                seen = _known(await self._after(before))
            else:
                seen = _known(await self._after((), [*before, _file(self.node_id)]))
            if not self._has_effect(seen):
                return False
        return True

    async def _alone(self) -> Outcome:
        return _known(await alone.once(self.runner, self.node_id))


def _known(seen: Outcome) -> Outcome:
    """No outcome is not another outcome. Raises Unknown."""
    if not seen.is_known:
        raise Unknown(seen.words)
    return seen


def _ran_in_order(ledger: Ledger, asked: Sequence[str]) -> bool:
    """A conftest can reorder tests after everything else has."""
    wanted = set(asked)
    return [each for each in ledger.tests if each in wanted] == [each for each in asked if each in ledger.tests]


def _file(node_id: str) -> str:
    return node_id.partition("::")[0]


def _itself(things: Sequence[str]) -> tuple[str, ...]:
    return tuple(things)


async def suite_of(runner: Runner, *, is_shuffled: bool) -> Suite:
    if is_shuffled:
        runner = runner.with_options("--randomly-dont-reorganize")
    run = await runner.collect()
    unaskable = set(run.ledger.unaskable)
    ids = dict.fromkeys(item.id for item in run.ledger.items if item.id not in unaskable)
    return Suite(tuple(ids), is_shuffled, len(unaskable))
