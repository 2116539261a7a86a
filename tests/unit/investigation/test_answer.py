"""Which kind a set of findings is, and what is said about it."""

from dataclasses import replace

import pytest

from pytest_mcp.investigation import answer
from pytest_mcp.investigation.alone import Alone, Reproduction, Seeds
from pytest_mcp.investigation.answer import Findings, rate_in_words
from pytest_mcp.investigation.base import AtBase
from pytest_mcp.investigation.order import Order
from pytest_mcp.investigation.outcome import Letter, Outcome
from pytest_mcp.investigation.result import Effect, Kind, Polluter
from pytest_mcp.investigation.suspects import Suspected
from pytest_mcp.report.tokens import estimate
from tests.support.page.pages import investigated

TEST = "tests/test_shop.py::test_price"
LEAK = "tests/test_cart.py::test_leak"
MAIN = "main (a1b2c3d)"
WORDS: dict[Letter, str] = {
    "F": "AssertionError: assert 3 == 4",
    "C": "ImportError: x",
    "?": "it had not begun",
    "H": "at a.py:3",
}


def seen(letter: Letter, cause: str = "sum") -> Outcome:
    return Outcome(letter, WORDS.get(letter, ""), cause if letter == "F" else None)


def alone(*letters: Letter, wanted: int = 5) -> Findings:
    outcomes = tuple(seen(letter) for letter in letters)
    return Findings(TEST, Alone(outcomes, tuple(Seeds(number) for number in range(len(letters))), wanted))


def valued(*said: str) -> Findings:
    """Failures of one statement that said this."""
    findings = alone(*"F" * len(said))
    outcomes = tuple(replace(each, said=words) for each, words in zip(findings.alone.outcomes, said, strict=True))
    return replace(findings, alone=replace(findings.alone, outcomes=outcomes))


def polluted(effect: Effect, *node_ids: str, can_be_shown: bool = True) -> Order:
    polluter = Polluter(node_ids=[*node_ids], effect=effect, rerun={"node_ids": [*node_ids, TEST]})
    evidence = ("after all 9 earlier tests",)
    return Order(evidence, is_different=True, polluter=polluter, can_be_shown=can_be_shown)


def ids(file: str, number: int) -> tuple[str, ...]:
    return tuple(f"{file}::test_{each}" for each in range(number))


def suspected(*files: str, number: int = 1) -> Order:
    """The time was over when so many tests of each of these files were left."""
    left = tuple(node_id for file in files for node_id in ids(file, number))
    return Order(("after all 9 earlier tests",), is_different=True, is_complete=False, left=left)


MANY_FILES = [f"tests/test_{number}.py" for number in range(30)]
TOO_MANY = polluted("fails_after", *ids("tests/test_a.py", 30))
DOUBT = "a pass rate up to 45 % is still possible"
ALWAYS = alone(*"FFFFF")
NEVER = alone(*"PPPPP")
AT_HEAD = AtBase("HEAD", (seen("F"),))
IN_ORDER = Order(("after all 9 earlier tests in the suite: passes",))
UNFINISHED = Order(("after all 9 earlier tests in the suite: unknown",), is_complete=False)
CASES: dict[str, tuple[Findings, Kind, str]] = {
    "always": (
        ALWAYS,
        "deterministic",
        f"medium: failed in 5 of 5 runs alone, always the same way; {DOUBT}",
    ),
    "once": (alone("F"), "deterministic", "low: failed in 1 of 1 run alone; a pass rate up to 95 % is still possible"),
    "thirty times": (
        alone(*"F" * 30),
        "deterministic",
        "high: failed in 30 of 30 runs alone, always the same way; a pass rate up to 10 % is still possible",
    ),
    "thirty times with other values": (
        valued(*(f"assert 0.{number} < 0.001" for number in range(30))),
        "deterministic",
        "medium: failed in 30 of 30 runs alone, with different values; a pass rate up to 10 % is still possible",
    ),
    "thirty times in other folders": (
        valued(*(f"[Errno 2] No such file: '/tmp/pytest-{number}/a.txt'" for number in range(30))),
        "deterministic",
        "high: failed in 30 of 30 runs alone, always the same way; a pass rate up to 10 % is still possible",
    ),
    "with other values, at the base too": (
        replace(
            valued(*(f"assert 0.{number} < 0.001" for number in range(5))),
            base=AtBase(MAIN, (replace(seen("F"), said="assert 0.9 < 0.001"),)),
        ),
        "pre_existing",
        f"medium: failed in 5 of 5 runs alone, with different values, and the same way at {MAIN}",
    ),
    "sometimes": (alone(*"PPF"), "flaky", "high: failed in 1 of 3 runs alone, in the same conditions"),
    "repeated by a plugin": (alone("R"), "flaky", "high: failed in 1 of 1 run alone, in the same conditions"),
    "never": (
        replace(NEVER, order=IN_ORDER),
        "passes",
        "medium: passed in 5 of 5 runs alone and in the suite's order; a failure rate up to 45 % is still possible",
    ),
    "skipped": (alone(*"SSSSS"), "passes", "high: it is skipped ()"),
    "never, but its order was not tried": (
        replace(NEVER, order=UNFINISHED),
        "passes",
        f"low: passed in 5 of 5 runs alone; the suite's order could not be tried; {DOUBT.replace('pass', 'failure')}",
    ),
    "after another": (
        replace(NEVER, order=polluted("fails_after", LEAK)),
        "order_dependent",
        "high: passed in 5 of 5 runs alone, failed each time after one other",
    ),
    "without another": (
        replace(ALWAYS, order=polluted("fails_without", LEAK)),
        "order_dependent",
        "high: failed in 5 of 5 runs alone, passed each time after one other",
    ),
    "without another, also at the base": (
        replace(ALWAYS, order=polluted("fails_without", LEAK), base=AtBase(MAIN, (seen("F"),))),
        "order_dependent",
        "high: failed in 5 of 5 runs alone, passed each time after one other",
    ),
    "in one order both": (
        replace(NEVER, order=Order(is_different=True, is_contradicted=True)),
        "flaky",
        "medium: the same tests in the same order had both outcomes",
    ),
    "at the base too": (
        replace(ALWAYS, base=AtBase(MAIN, (seen("F"),))),
        "pre_existing",
        f"high: failed in 5 of 5 runs alone, and the same way at {MAIN}",
    ),
    "at the base too, and earlier commits could not be tried": (
        replace(ALWAYS, base=replace(AT_HEAD, tried=(AT_HEAD, AtBase("HEAD~1", problem="its file is not there")))),
        "pre_existing",
        "medium: failed in 5 of 5 runs alone, and the same way at HEAD",
    ),
    "at the base for another reason": (
        replace(ALWAYS, base=AtBase(MAIN, (seen("F", "other"),))),
        "deterministic",
        f"medium: failed in 5 of 5 runs alone, always the same way; {DOUBT}",
    ),
    "at the base with another value": (
        replace(ALWAYS, base=AtBase(MAIN, (replace(seen("F"), said="assert 7 == 4"),))),
        "deterministic",
        f"medium: failed in 5 of 5 runs alone, always the same way; {DOUBT}",
    ),
    "not at the base": (
        replace(ALWAYS, base=AtBase(MAIN, (seen("P"),))),
        "deterministic",
        f"medium: failed in 5 of 5 runs alone, always the same way; passes at {MAIN}; {DOUBT}",
    ),
    "at the base with other code": (
        replace(ALWAYS, base=AtBase(MAIN, (seen("F"),), "nothing follows: it imported shop from elsewhere")),
        "deterministic",
        f"medium: failed in 5 of 5 runs alone, always the same way; {DOUBT}",
    ),
    "not collected": (alone("C"), "deterministic", "high: ImportError: x"),
    "never begun": (alone("?", "?"), "inconclusive", "low: the test has no outcome: it had not begun"),
    "hanging": (alone("H", "H"), "hangs", "medium: hung in 2 of 2 runs alone: at a.py:3"),
    "hanging once": (alone("H"), "hangs", "low: hung in 1 of 1 run alone: at a.py:3"),
    "hanging since the base": (
        replace(alone("H", "H"), base=AtBase(MAIN, (seen("P"),))),
        "hangs",
        f"medium: hung in 2 of 2 runs alone: at a.py:3; passes at {MAIN}",
    ),
    "hanging sometimes": (alone("P", "H"), "flaky", "medium: hung in 1 of 2 runs alone: at a.py:3"),
    "no time at all": (alone(), "inconclusive", "low: the time was over before the test had run"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_kind_follows_from_what_was_seen(case: str) -> None:
    findings, kind, confidence = CASES[case]

    assert answer.judge(findings) == (kind, confidence)


def test_failures_of_different_causes_are_told_apart() -> None:
    outcomes = (seen("F"), replace(seen("F", "other"), words="KeyError: 'x'"), seen("F"))
    findings = Findings(TEST, Alone(outcomes, (Seeds(1),) * 3, 3))

    assert answer.judge(findings)[1].startswith("medium: failed in 3 of 3 runs alone; ")
    assert answer.evidence(findings)[1] == "2 causes: AssertionError: assert 3 == 4 (2x); KeyError: 'x' (1x)"


def test_evidence_tells_each_thing_that_was_tried() -> None:
    base = AtBase(MAIN, (seen("P"),))

    assert answer.evidence(replace(ALWAYS, order=IN_ORDER, base=base)) == [
        "alone: FFFFF (a pass rate up to 45 % is still possible, at 95 %)",
        "cause: AssertionError: assert 3 == 4",
        "after all 9 earlier tests in the suite: passes",
        "at main (a1b2c3d): passes (1 run)",
    ]


def test_a_hang_is_told_with_the_frames_that_it_is_stuck_in() -> None:
    stuck = Outcome(
        "H", "it was still running after 9 s, at b.py:4: in wait", stack=("a.py:3: in test", "b.py:4: in wait")
    )

    assert answer.evidence(Findings(TEST, Alone((stuck,), (Seeds(1),), 5))) == [
        "alone: H",
        "stuck in: a.py:3: in test > b.py:4: in wait",
    ]


def test_runs_that_there_was_no_time_for_are_told() -> None:
    told = answer.evidence(alone(*"FF"))[0]

    assert told == "alone: FF (2 of 5 runs; a pass rate up to 78 % is still possible, at 95 %)"


@pytest.mark.parametrize(
    ("findings", "rerun"),
    [
        (ALWAYS, [TEST]),
        (replace(NEVER, order=polluted("fails_after", LEAK)), [LEAK, TEST]),
        (replace(ALWAYS, order=polluted("fails_without", LEAK)), [TEST]),
        (replace(NEVER, order=suspected("tests/test_a.py", number=20)), [*ids("tests/test_a.py", 20), TEST]),
        (replace(NEVER, order=suspected("tests/test_a.py", number=21)), ["tests/test_a.py", TEST]),
        (replace(NEVER, order=suspected(*MANY_FILES)), ["tests", TEST]),
        (replace(NEVER, order=TOO_MANY), ["tests/test_a.py", TEST]),
        (replace(ALWAYS, order=suspected("tests/test_a.py", number=3)), [TEST]),
        (replace(NEVER, order=IN_ORDER), None),
    ],
)
def test_rerun_is_what_makes_it_fail(findings: Findings, rerun: list[str] | None) -> None:
    assert answer.answer_of(findings).rerun == (None if rerun is None else {"node_ids": rerun})


def test_the_polluter_has_the_arguments_that_show_it_and_a_notice_if_they_do_not() -> None:
    shown, hidden = (polluted("fails_after", LEAK, can_be_shown=each) for each in (True, False))

    result, doubtful = (answer.answer_of(replace(NEVER, order=order)) for order in (shown, hidden))

    assert result.polluter == doubtful.polluter == shown.polluter
    assert (len(result.notices), len(doubtful.notices)) == (0, 1)


def test_a_notice_has_the_command_that_shows_a_flaky_failure_by_its_seed() -> None:
    findings = alone(*"PF")
    known = Reproduction("the seed decides", Seeds(None, 7))

    (notice,) = answer.answer_of(replace(findings, alone=replace(findings.alone, reproduction=known))).notices

    assert f"`python -m pytest --randomly-seed=7 {TEST}` shows the failure" in notice


@pytest.mark.parametrize(
    ("outcome", "words"),
    [(Outcome("R"), "repeats failed tests"), (Outcome("P", elsewhere="shop from /x/shop.py"), "shop from /x/shop.py")],
)
def test_what_makes_the_outcomes_doubtful_is_a_notice(outcome: Outcome, words: str) -> None:
    (notice,) = answer.answer_of(Findings(TEST, Alone((outcome,), (Seeds(1),), 5))).notices

    assert words in notice


@pytest.mark.parametrize("case", CASES)
def test_an_answer_is_small(case: str) -> None:
    assert estimate(answer.answer_of(CASES[case][0]).model_dump_json()) <= 400


def test_recorded_runs_are_the_last_line_of_evidence_and_never_change_the_kind() -> None:
    recorded = replace(ALWAYS, past=("recorded runs: flaky: failed 4 of 37 times",))

    assert answer.judge(recorded) == answer.judge(ALWAYS)
    assert answer.evidence(recorded) == [*answer.evidence(ALWAYS), *recorded.past]


def test_the_failure_to_look_at_is_the_first_alone_or_else_the_one_after_other_tests() -> None:
    failure = investigated()[0].failure
    in_order = replace(NEVER, order=replace(polluted("fails_after", LEAK), failure=failure))
    shown = replace(seen("F"), failure=failure)
    died = replace(ALWAYS, alone=replace(ALWAYS.alone, outcomes=(seen("F"), shown)))

    assert [each.failure for each in (NEVER, ALWAYS, in_order, died)] == [None, None, failure, failure]


def test_suspects_that_could_not_be_found_are_evidence_with_the_reason() -> None:
    found = answer.answer_of(replace(ALWAYS, suspects=Suspected(problem="it did not fail when it was traced")))

    assert (found.suspects, found.evidence[-1]) == ([], "suspects: it did not fail when it was traced")


@pytest.mark.parametrize(
    ("failed", "runs", "words"),
    [
        (0, 5, "a failure rate up to 45 % is still possible"),
        (5, 5, "a pass rate up to 45 % is still possible"),
        (3, 10, "it fails in 11 % to 60 % of runs"),
        (10, 50, "it fails in 11 % to 33 % of runs"),
        # Nearly every rate is possible.
        (1, 2, ""),
        (2, 5, ""),
    ],
)
def test_runs_leave_the_rates_that_they_do_not_contradict(failed: int, runs: int, words: str) -> None:
    assert rate_in_words(failed, runs) == words
