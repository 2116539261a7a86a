"""From what was found to the answer: which kind of failure it is, and on what that rests, in words.

It never turns red into green: a test that failed once and passed since is flaky.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

from pytest_mcp.api.errors import RunEnvironment
from pytest_mcp.investigation.base import AtBase
from pytest_mcp.investigation.breaking_commit import Broken
from pytest_mcp.investigation.difference.search import Differences
from pytest_mcp.investigation.order import Order
from pytest_mcp.investigation.outcome import Outcome, pattern
from pytest_mcp.investigation.repetitions import Alone
from pytest_mcp.investigation.result import FirstDifference, InvestigateResult, Kind, Polluter, Sides, sides_of
from pytest_mcp.investigation.several import Together
from pytest_mcp.investigation.suspects import Suspected
from pytest_mcp.report import grouping
from pytest_mcp.report.failures import Failure
from pytest_mcp.text import in_line

# With so many runs of one outcome, only a rate below a tenth is left open.
MANY_RUNS = 29
# So many failures with one cause, and another one at the base, are no chance.
FEW_RUNS = 3
# How many first differences an answer has.
MAX_DIFFERENCES = 3
# A larger set of polluting tests is only counted, and one with longer names.
MAX_LISTED = 20
MAX_CHARACTERS = 4_000
# How many of the innermost frames are named of a test that hangs.
MAX_FRAMES = 5
# What a rate of failure leaves to chance, and so many standard deviations. An interval that reaches farther than this
# to both sides says nothing: after one pass and one failure it is 9 % to 91 %.
ERROR = 0.05
DEVIATIONS = 1.96
WIDEST = 0.3


@dataclass(frozen=True)
class Findings:
    node_id: str
    alone: Alone
    order: Order | None = None
    base: AtBase | None = None
    broken: Broken | None = None
    suspects: Suspected | None = None
    # What differs between runs of the same code, if some pass and some fail.
    apart: Differences | None = None
    # What it called, where no base passes.
    ran: tuple[str, ...] = ()
    # Of all tests, if several were given: this one stands for them.
    together: Together | None = None
    # Whether the time was over before every step was done.
    is_cut_short: bool = False
    notices: tuple[str, ...] = ()
    # What recorded runs say. It is evidence only: the kind rests on the runs of this investigation.
    past: tuple[str, ...] = ()
    # Of the run that collected the test; None if there is none.
    environment: RunEnvironment | None = None

    @property
    def known(self) -> list[Outcome]:
        return [each for each in self.alone.outcomes if each.is_known]

    @property
    def failed(self) -> list[Outcome]:
        return [each for each in self.alone.outcomes if each.failed]

    @property
    def hung(self) -> list[Outcome]:
        return [each for each in self.alone.outcomes if each.letter == "H"]

    @property
    def failure(self) -> Failure | None:
        """The first that was seen."""
        alone = next((each.failure for each in self.failed if each.failure), None)
        return alone or (self.order.outcome.failure if self.order and self.order.outcome else None)

    def differences(self, kind: Kind) -> Differences | None:
        if sides_of(kind).is_same_code:
            return self.apart
        return None if self.base is None else self.base.differences

    @property
    def causes(self) -> set[Hashable]:
        return {each.cause for each in self.failed}

    @property
    def is_steady(self) -> bool:
        """Whether all failures are of one statement with the same values; only folders, ids and the like may differ."""
        values = {grouping.masked(each.said, "", numbers=False) for each in self.failed}
        return len(self.causes) == len(values) == 1

    @property
    def alone_words(self) -> str:
        """For example: failed in 5 of 5 runs alone."""
        done = "passed" if not self.failed else "failed"
        count = len(self.failed) or len(self.known)
        skipped = sum(each.letter == "S" for each in self.alone.outcomes)
        others = f", skipped in {skipped}" if skipped else ""
        return f"{done} in {count} of {len(self.known)} {_runs(len(self.known))} alone{others}"


def answer_of(findings: Findings) -> InvestigateResult:
    kind, confidence = judge(findings)
    differences, together = findings.differences(kind), findings.together
    order = findings.order if kind == "order_dependent" else None
    polluter = order.polluter if order and order.polluter and _can_be_listed(order.polluter.node_ids) else None
    return InvestigateResult(
        kind=kind,
        confidence=confidence,
        evidence=evidence(findings, kind),
        first_difference=_first(differences, together),
        broken_by=None if findings.broken is None else findings.broken.by,
        suspects=[] if findings.suspects is None else [*findings.suspects.functions],
        polluter=polluter,
        notices=[*findings.notices, *_notices(findings, polluter)],
        rerun=None if kind == "passes" else {"node_ids": [*_before(findings, order), *_failing(findings)]},
        tests=[] if together is None else together.tests(kind),
    )


def _first(differences: Differences | None, together: Together | None) -> list[FirstDifference]:
    """One for each call at which tests part."""
    known: dict[tuple[str, str], FirstDifference] = {}
    for each in [*(differences.found if differences else ()), *(together.differences if together else ())]:
        known.setdefault((each.file, each.function), each)
    return [*known.values()][:MAX_DIFFERENCES]


def _failing(findings: Findings) -> list[str]:
    return [findings.node_id] if findings.together is None else findings.together.failing


def _can_be_listed(names: Sequence[str]) -> bool:
    return len(names) <= MAX_LISTED and sum(map(len, names)) <= MAX_CHARACTERS


def _before(findings: Findings, order: Order | None) -> Sequence[str]:
    """What it fails after: the tests that were found, or those that were not ruled out; many by their files."""
    if order is None or findings.failed:
        return ()
    ids = order.left if order.polluter is None else order.polluter.node_ids
    files = [*dict.fromkeys(each.partition("::")[0] for each in ids)]
    folders = [*dict.fromkeys(each.partition("/")[0] for each in files)]
    return next(filter(_can_be_listed, (ids, files, folders)), ())


def judge(findings: Findings) -> tuple[Kind, str]:
    """The kind, and on what it rests. The first that applies; what was seen to contradict itself comes first."""
    if uncollected := next((each for each in findings.alone.outcomes if each.letter == "C"), None):
        return "deterministic", f"high: {uncollected.words}"
    if findings.hung:
        return _judge_hangs(findings)
    if not findings.alone.outcomes:
        return "inconclusive", "low: the time was over before the test had run"
    if skip := next((each for each in findings.alone.outcomes if each.letter == "S" and not findings.known), None):
        return "passes", f"high: it is skipped ({skip.words})"
    if not findings.known:
        return "inconclusive", f"low: the test has no outcome: {findings.alone.outcomes[-1].words}"
    if findings.alone.is_mixed:
        return "flaky", f"high: {findings.alone_words}, in the same conditions"
    if (order := findings.order) is not None and order.is_contradicted:
        return "flaky", "medium: the same tests in the same order had both outcomes"
    if order is not None and order.is_different:
        return "order_dependent", _order_confidence(findings, order)
    return _judge_failures(findings) if findings.failed else _judge_passes(findings)


def _order_confidence(findings: Findings, order: Order) -> str:
    other = "passed" if findings.failed else "failed"
    if order.polluter is None:
        return f"medium: {findings.alone_words}, {other} after others; which of them is not known"
    which = f"{len(order.polluter.node_ids)} others" if len(order.polluter.node_ids) > 1 else "one other"
    return f"{'high' if order.is_complete else 'medium'}: {findings.alone_words}, {other} each time after {which}"


def _judge_hangs(findings: Findings) -> tuple[Kind, str]:
    hung, runs = len(findings.hung), len(findings.alone.outcomes)
    seen = f"hung in {hung} of {runs} {_runs(runs)} alone: {findings.hung[-1].words}"
    if any(each.passed for each in findings.known):
        return "flaky", f"medium: {seen}"
    return "hangs", f"{'low' if hung == 1 else 'medium'}: {seen}{_since(findings.base)}"


def _since(base: AtBase | None) -> str:
    return f"; passes at {base.name}" if base is not None and base.passes else ""


def _judge_failures(findings: Findings) -> tuple[Kind, str]:
    failed, base = len(findings.failed), findings.base
    is_steady = findings.is_steady
    differing = "" if is_steady or len(findings.causes) > 1 else ", with different values"
    if base is not None and base.fails_the_same(findings.failed):
        sure = failed >= FEW_RUNS and is_steady and base.is_way_known and not base.is_only_head
        level = "low" if failed == 1 else "high" if sure else "medium"
        return "pre_existing", f"{level}: {findings.alone_words}{differing}, and the same way at {base.name}"
    level = "low" if failed == 1 else "high" if failed >= MANY_RUNS and is_steady else "medium"
    same = ", always the same way" if is_steady and failed > 1 else differing
    doubt = rate_in_words(failed, len(findings.known))
    return "deterministic", f"{level}: {findings.alone_words}{same}{_since(base)}; {doubt}"


def _judge_passes(findings: Findings) -> tuple[Kind, str]:
    order = findings.order
    is_tried = order is not None and order.is_complete
    level = "low" if not is_tried else "high" if len(findings.known) >= MANY_RUNS else "medium"
    where = "" if order is None or not order.evidence else " and in the suite's order"
    orders = where if is_tried else "; the suite's order could not be tried"
    return "passes", f"{level}: {findings.alone_words}{orders}; {rate_in_words(0, len(findings.known))}"


def evidence(findings: Findings, kind: Kind) -> list[str]:
    alone, suspects = findings.alone, findings.suspects
    lines = [
        *(findings.together.words if findings.together else ()),
        _alone_line(findings) if alone.outcomes else "",
        _cause_line(findings.failed),
        *(f"stuck in: {' > '.join(each.stack[-MAX_FRAMES:])}" for each in findings.hung[-1:] if each.stack),
        alone.reproduction.words if alone.reproduction else "",
        *(findings.order.evidence if findings.order else ()),
        *(_base_lines(findings, findings.base) if findings.base else ()),
        _difference_line(findings.differences(kind), sides_of(kind)),
        f"broken by: {findings.broken.words}" if findings.broken and findings.broken.words else "",
        *findings.ran,
        f"suspects: {suspects.problem}" if suspects and suspects.problem else "",
        *findings.past,
    ]
    return [*filter(None, lines)]


def _difference_line(differences: Differences | None, sides: Sides) -> str:
    if differences is None:
        return ""
    told = f"base is a run {sides.base}, now one {sides.now}" if sides.is_same_code else ""
    words = differences.problem or told
    return f"first difference: {words}" if words else ""


def _alone_line(findings: Findings) -> str:
    alone, failed, known = findings.alone, len(findings.failed), len(findings.known)
    letters = f"alone: {pattern(alone.outcomes)}"
    if findings.hung:
        return letters
    if not known:
        return f"{letters} ({alone.outcomes[-1].words})"
    rate = rate_in_words(failed, known)
    is_whole = alone.is_mixed or len(alone.outcomes) == alone.wanted
    stopped = "" if is_whole else f"{len(alone.outcomes)} of {alone.wanted} runs; "
    return f"{letters} ({stopped}{rate}, at 95 %)" if rate else letters


def _cause_line(failed: Sequence[Outcome]) -> str:
    """With how often each was seen, if there are several."""
    counts = Counter(each.cause for each in failed)
    words = {each.cause: each.words for each in reversed(failed)}
    if len(counts) > 1:
        return f"{len(counts)} causes: " + "; ".join(f"{words[cause]} ({n}x)" for cause, n in counts.most_common())
    return f"cause: {failed[0].words}" if failed and failed[0].words else ""


def _base_lines(findings: Findings, base: AtBase) -> list[str]:
    lines = [f"at {each.name}: {_at_base(findings, each)}" for each in base.tried or (base,)]
    if base.same_as is not None:
        lines.insert(0, f"the code that it runs is the same at {base.same_as}: earlier commits were tried")
    return lines


def _at_base(findings: Findings, base: AtBase) -> str:
    if base.problem is not None:
        return base.problem
    if base.fails_the_same(findings.failed):
        unknown = "" if base.is_way_known else ", as far as can be told: its way there could not be traced"
        return f"fails the same way{unknown}"
    if base.looks_the_same(findings.failed):
        return f"fails by the same statement with the same values, {base.other}"
    if there := next((each for each in base.outcomes if each.failed), None):
        how = "by the same statement with other values" if there.cause in findings.causes else "with another cause"
        return f"fails {how}: {there.words}"
    return f"passes ({len(base.outcomes)} {_runs(len(base.outcomes))})"


def _notices(findings: Findings, polluter: Polluter | None) -> list[str]:
    notices = []
    if polluter is not None and findings.order is not None and not findings.order.can_be_shown:
        why = "plugins or addopts of the project change the order"
        if any(each.random_seed is not None for each in findings.alone.outcomes):
            why = "pytest-randomly shuffles the tests (`python -m pytest -p no:randomly` does not)"
        notices.append(f"execute_tests with polluter.rerun does not show the effect: {why}.")
    if findings.alone.reproduction is not None and (seeds := findings.alone.reproduction.seeds) is not None:
        command = in_line(seeds.command(findings.node_id))
        notices.append(f"execute_tests cannot set a seed; `{command}` shows the failure.")
    if elsewhere := next((each.elsewhere for each in findings.alone.outcomes if each.elsewhere), None):
        notices.append(f"The tests imported {elsewhere}: this may not be the code of the project.")
    if any(each.letter == "R" for each in findings.alone.outcomes):
        notices.append("A plugin of the project repeats failed tests, so some failures do not show.")
    if findings.is_cut_short:
        notices.append("The time was over before everything was tried; a larger timeout may show more.")
    return notices


def _runs(number: int) -> str:
    return "run" if number == 1 else "runs"


def rate_in_words(failed: int, runs: int) -> str:
    """Which rates of failure these runs leave possible at 95 %; nothing where that is nearly every rate.

    Where all runs agree the bound is one-sided: five passes in five runs are still possible for a test that fails in
    45 % of its runs. Else it is Wilson's interval.
    """
    if failed in (0, runs):
        bound = 1 - ERROR ** (1 / runs)
        return f"a {'failure' if failed == 0 else 'pass'} rate up to {100 * bound:.0f} % is still possible"
    rate, square = failed / runs, DEVIATIONS**2 / runs
    middle = (rate + square / 2) / (1 + square)
    half = sqrt(square * (rate * (1 - rate) + square / 4)) / (1 + square)
    return (
        f"it fails in {100 * (middle - half):.0f} % to {100 * (middle + half):.0f} % of runs" if half <= WIDEST else ""
    )
