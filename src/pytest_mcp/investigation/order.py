"""The test after other tests, in the suite's order, and the smallest set of tests that changes its outcome.

Other tests can make it fail, or make it pass. Every try is a fresh process. How a set is narrowed down is decided in
`bisection`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_mcp.investigation.bisection import Search
from pytest_mcp.investigation.outcome import Letter, Outcome, outcome_of
from pytest_mcp.investigation.repetitions import run_once
from pytest_mcp.investigation.result import Effect, Polluter
from pytest_mcp.investigation.runner import OutOfTime, Runner
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.text import label

# How often the tests that were found are run again with the test under investigation.
CONFIRMATIONS = 2
# After so many tries without an outcome a smallest set is not looked for any further: each may take as long as a suite.
MAX_UNKNOWN = 8
_IN_WORDS: Mapping[Letter, str] = {"P": "passes", "F": "fails", "S": "is skipped", "R": "passes when repeated"}


class Unknown(Exception):
    """A run that was to confirm what was found, or too many of those before, had no outcome; the message says why."""


@dataclass(frozen=True)
class Order:
    evidence: tuple[str, ...] = ()
    # Whether the outcome was another one than alone at least once.
    is_different: bool = False
    polluter: Polluter | None = None
    # Whether `execute_tests` shows the effect when it is given `polluter.rerun`.
    can_be_shown: bool = True
    # The same tests in the same order had both outcomes.
    is_contradicted: bool = False
    # Whether every order could be tried.
    is_complete: bool = True
    # If the time was over before a smallest set was found: those that may be in it, in their order.
    left: tuple[str, ...] = ()
    # Of the run that showed the difference.
    outcome: Outcome | None = None

    def and_then(self, words: str, **changes: Any) -> "Order":
        return replace(self, evidence=(*self.evidence, words), **changes)


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
        in_file = tuple(each for each in before if _file(each) == _file(node_id))
        files = tuple(dict.fromkeys(map(_file, self.ids)))
        arrangements = [Arrangement(f"after {self._number(in_file)} in its file", in_file)] if in_file else []
        if len(before) > len(in_file) or len(files) > 1:
            arrangements.append(Arrangement(f"after {self._number(before)} in the suite", before, files))
        return arrangements

    def _number(self, tests: Sequence[str]) -> str:
        if not tests:
            return "importing all test files"
        which = "other" if self.is_shuffled else "earlier"
        return f"the {which} test" if len(tests) == 1 else f"all {len(tests)} {which} tests"


async def collect_suite(runner: Runner, *, is_shuffled: bool) -> Suite:
    if is_shuffled:
        runner = runner.adding("--randomly-dont-reorganize")
    ledger = (await runner.collect()).ledger
    unaskable = set(ledger.unaskable)
    ids = dict.fromkeys(item.id for item in ledger.items if item.id not in unaskable)
    return Suite(tuple(ids), is_shuffled, len(unaskable))


@dataclass
class OrderSearch:
    runner: Runner
    node_id: str
    effect: Effect
    # What is still under suspicion while a smallest set is looked for.
    left: tuple[str, ...] = ()
    # How many tries of that had no outcome. They rule nothing out.
    unknown: int = 0

    async def run(self, suite: Suite, *, most_seconds: float | None = None) -> Order:
        """`most_seconds` bounds each run of many tests, not the search that follows if it shows the effect."""
        order = Order()
        for arrangement in suite.arrangements(self.node_id):
            self.runner.on_step(arrangement.place)
            runner = self.runner if most_seconds is None else self.runner.within(most_seconds)
            try:
                seen = await self._after(arrangement.before, arrangement.files, runner)
            except OutOfTime:
                return order.and_then(f"{arrangement.place}: not tried, the time was over", is_complete=False)
            order = order.and_then(f"{arrangement.place}: {self._in_words(seen)}")
            if self._has_effect(seen):
                return await self._narrowed(replace(order, is_different=True, outcome=seen), arrangement)
            order = replace(order, is_complete=order.is_complete and seen.is_known)
        if suite.unnamed:
            return order.and_then(f"after {suite.unnamed} tests with names that a call cannot contain: not tried")
        return order

    async def _after(
        self, others: Sequence[str], files: Sequence[str] | None = None, runner: Runner | None = None
    ) -> Outcome:
        run = await (runner or self.runner).run_after(others, [self.node_id], files=files)
        seen = outcome_of(run, self.node_id)
        if _ran_in_order(run.ledger, [*others, self.node_id]):
            return seen
        return replace(seen, letter="?", words="the project changes the order of the tests")

    def _in_words(self, seen: Outcome) -> str:
        """With the cause, unless it is the same as alone."""
        words = _IN_WORDS.get(seen.letter, "unknown")
        is_the_same = seen.is_known and not self._has_effect(seen)
        return words if is_the_same or not seen.words else f"{words} ({seen.words})"

    def _has_effect(self, seen: Outcome) -> bool:
        return seen.failed if self.effect == "fails_after" else seen.passed

    async def _narrowed(self, order: Order, arrangement: Arrangement) -> Order:
        self.left = arrangement.before or arrangement.files or ()
        total = len(self.left)
        try:
            smallest = await self._smallest(arrangement)
        except (OutOfTime, Unknown) as error:
            return order.and_then(self._ruled_out(total, str(error)), left=self.left, is_complete=False)
        if self.unknown:
            doubt = f"fewer tests may be enough: {self.unknown} smaller sets had no outcome"
            order = order.and_then(doubt, is_complete=False)
        polluter = Polluter(node_ids=smallest, effect=self.effect, rerun={"node_ids": [*smallest, self.node_id]})
        try:
            return await self._confirmed(order, polluter)
        except (OutOfTime, Unknown) as error:
            unconfirmed = f"the tests are not confirmed: {str(error) or 'no time'}"
            return order.and_then(unconfirmed, polluter=polluter, is_complete=False)

    async def _smallest(self, arrangement: Arrangement) -> list[str]:
        """Files, if collecting them is enough; else tests. Raises OutOfTime and Unknown."""
        others: Sequence[str] = [file for file in arrangement.files or () if file != _file(self.node_id)]
        if arrangement.before and not (others and self._has_effect(await self._after((), arrangement.files))):
            others = arrangement.before

        what = "tests" if others is arrangement.before else "files"

        async def has_effect(chosen: Sequence[str]) -> bool | None:
            self.left = tuple(search.left)
            self.runner.on_step(f"bisecting {len(chosen)} of {len(others)} {what}")
            seen = await self._after(chosen)
            self.unknown += not seen.is_known
            if self.unknown > MAX_UNKNOWN:
                raise Unknown(seen.words)
            return self._has_effect(seen) if seen.is_known else None

        search = Search(others, has_effect)
        return await search.run()

    def _ruled_out(self, total: int, why: str) -> str:
        """`why` there is no outcome; nothing if the time was over."""
        left = self.left
        if len(left) == total:
            return f"which of them is not known: {why or 'the time was over'}"
        until = f" ({why})" if why else " when the time was over"
        between = f"{label(left[0])} to {label(left[-1])}"
        return f"{total - len(left)} of {total} ruled out{until}; left: {len(left)}, {between}"

    async def _confirmed(self, order: Order, polluter: Polluter) -> Order:
        """In the form of a call if that shows it; and once more alone."""
        self.runner.on_step("confirming")
        before = polluter.node_ids
        can_be_shown = await self._repeats(before, as_asked=True)
        if not can_be_shown and not await self._repeats(before):
            return order.and_then("the same tests again: another outcome", is_contradicted=True)
        failed, fails = ("failed", "fails") if self.effect == "fails_after" else ("passed", "passes")
        # By chance, or because something outlives the processes.
        if self._has_effect(await self._alone()):
            if not all([self._has_effect(await self._alone()) for _ in range(CONFIRMATIONS)]):
                return order.and_then("alone again: both outcomes", is_contradicted=True)
            left = "a test left something behind, such as a file or a database row"
            return order.and_then(f"now {fails} alone too: {left}")
        names = ", ".join(map(label, before[:2])) + (f" and {len(before) - 2} more" if len(before) > 2 else "")
        again = f"{failed} {CONFIRMATIONS} of {CONFIRMATIONS} times more after {names}, not alone"
        return order.and_then(again, polluter=polluter, can_be_shown=can_be_shown)

    async def _repeats(self, before: Sequence[str], *, as_asked: bool = False) -> bool:
        for _ in range(CONFIRMATIONS):
            if as_asked:
                seen = outcome_of(await self.runner.run_as_asked([*before, self.node_id]), self.node_id)
            else:
                seen = _known(await self._after(before))
            if not self._has_effect(seen):
                return False
        return True

    async def _alone(self) -> Outcome:
        return _known(await run_once(self.runner, self.node_id))


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
