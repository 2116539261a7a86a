"""Which kind a set of findings is, and what is said about it."""

from dataclasses import replace

import pytest

from pytest_mcp.investigation import answer
from pytest_mcp.investigation.answer import Findings, rate_in_words
from pytest_mcp.investigation.base import AtBase
from pytest_mcp.investigation.order import Order
from pytest_mcp.investigation.outcome import Letter, Outcome
from pytest_mcp.investigation.repetitions import Alone, Reproduction, Seeds
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


def seen_alone(*outcomes: Outcome, wanted: int = 5) -> Findings:
    return Findings(TEST, Alone(outcomes, tuple(Seeds(number) for number in range(len(outcomes))), wanted))


def alone(*letters: Letter) -> Findings:
    return seen_alone(*(seen(letter) for letter in letters))


def valued(*said: str) -> Findings:
    """Failures of one statement that said this."""
    return seen_alone(*(replace(seen("F"), said=words) for words in said))


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
ALWAYS, OFTEN, NEVER = alone(*"FFFFF"), alone(*"F" * 30), alone(*"PPPPP")
NUMBERS = [f"assert 0.{number} < 0.001" for number in range(30)]
FOLDERS = [f"[Errno 2] No such file: '/tmp/pytest-{number}/a.txt'" for number in range(30)]
SAME = AtBase(MAIN, (seen("F"),))
AT_HEAD = AtBase("HEAD", (seen("F"),))
ONLY_HEAD = replace(AT_HEAD, tried=(AT_HEAD, AtBase("HEAD~1", problem="its file is not there")))
OTHER_VALUE = AtBase(MAIN, (replace(seen("F"), said="assert 7 == 4"),))
IN_ORDER = Order(("after all 9 earlier tests in the suite: passes",))
UNFINISHED = Order(("after all 9 earlier tests in the suite: unknown",), is_complete=False)
WITHOUT = polluted("fails_without", LEAK)
# The kind, and what its confidence begins with and contains.
CASES: dict[str, tuple[Findings, Kind, str, str]] = {
    "always": (ALWAYS, "deterministic", "medium", "failed in 5 of 5 runs alone, always the same way"),
    "once": (alone("F"), "deterministic", "low", "a pass rate up to 95 % is still possible"),
    "thirty times": (OFTEN, "deterministic", "high", "a pass rate up to 10 % is still possible"),
    "thirty times with other values": (valued(*NUMBERS), "deterministic", "medium", "with different values"),
    "thirty times in other folders": (valued(*FOLDERS), "deterministic", "high", "always the same way"),
    "sometimes": (alone(*"PPF"), "flaky", "high", "failed in 1 of 3 runs alone"),
    "repeated by a plugin": (alone("R"), "flaky", "high", ""),
    "never": (replace(NEVER, order=IN_ORDER), "passes", "medium", "and in the suite's order"),
    "skipped": (alone(*"SSSSS"), "passes", "high", "skipped"),
    "skipped after it passed": (alone(*"PSS"), "passes", "low", "passed in 1 of 1 run alone, skipped in 2"),
    "skipped after it failed": (alone(*"FSS"), "deterministic", "low", "failed in 1 of 1 run alone, skipped in 2"),
    "skipped after it hung": (alone(*"HS"), "hangs", "low", ""),
    "skipped at the base": (
        replace(ALWAYS, base=AtBase(MAIN, (seen("S"),), problem="skipped")),
        "deterministic",
        "medium",
        "",
    ),
    "never, but its order was not tried": (replace(NEVER, order=UNFINISHED), "passes", "low", "could not be tried"),
    "after another": (
        replace(NEVER, order=polluted("fails_after", LEAK)),
        "order_dependent",
        "high",
        "failed each time",
    ),
    "without another": (replace(ALWAYS, order=WITHOUT), "order_dependent", "high", "passed each time"),
    "without another, also at the base": (replace(ALWAYS, order=WITHOUT, base=SAME), "order_dependent", "high", ""),
    "in one order both": (replace(NEVER, order=Order(is_contradicted=True)), "flaky", "medium", "both outcomes"),
    "at the base too": (replace(ALWAYS, base=SAME), "pre_existing", "high", f"the same way at {MAIN}"),
    "at the base too, the earliest that is there": (replace(ALWAYS, base=ONLY_HEAD), "pre_existing", "medium", ""),
    "at the base too, with other values": (
        replace(valued(*NUMBERS[:5]), base=AtBase(MAIN, (replace(seen("F"), said=NUMBERS[9]),))),
        "pre_existing",
        "medium",
        "with different values",
    ),
    "at the base for another reason": (
        replace(ALWAYS, base=AtBase(MAIN, (seen("F", "other"),))),
        "deterministic",
        "medium",
        "",
    ),
    "at the base with another value": (replace(ALWAYS, base=OTHER_VALUE), "deterministic", "medium", ""),
    "not at the base": (
        replace(ALWAYS, base=AtBase(MAIN, (seen("P"),))),
        "deterministic",
        "medium",
        f"passes at {MAIN}",
    ),
    "at the base with other code": (replace(ALWAYS, base=replace(SAME, problem="x")), "deterministic", "medium", ""),
    "not collected": (alone("C"), "deterministic", "high", "ImportError: x"),
    "never begun": (alone("?", "?"), "inconclusive", "low", "it had not begun"),
    "hanging": (alone("H", "H"), "hangs", "medium", "hung in 2 of 2 runs alone: at a.py:3"),
    "hanging once": (alone("H"), "hangs", "low", ""),
    "hanging since the base": (
        replace(alone("H", "H"), base=AtBase(MAIN, (seen("P"),))),
        "hangs",
        "medium",
        f"passes at {MAIN}",
    ),
    "hanging sometimes": (alone("P", "H"), "flaky", "medium", ""),
    "no time at all": (alone(), "inconclusive", "low", ""),
}


@pytest.mark.parametrize("case", CASES)
def test_the_kind_follows_from_what_was_seen_in_a_small_answer(case: str) -> None:
    findings, kind, level, words = CASES[case]

    result = answer.answer_of(findings)

    assert (result.kind, result.confidence.partition(":")[0]) == (kind, level)
    assert words in result.confidence
    assert estimate(result.model_dump_json()) <= 400


STUCK = Outcome("H", "it was still running", stack=("a.py:3: in test", "b.py:4: in wait"))
EVIDENCE: dict[str, tuple[Findings, list[str]]] = {
    "all that was tried": (
        replace(ALWAYS, order=IN_ORDER, base=AtBase(MAIN, (seen("P"),))),
        [
            "alone: FFFFF (a pass rate up to 45 % is still possible, at 95 %)",
            "cause: AssertionError: assert 3 == 4",
            "after all 9 earlier tests in the suite: passes",
            "at main (a1b2c3d): passes (1 run)",
        ],
    ),
    "several causes": (
        seen_alone(seen("F"), replace(seen("F", "other"), words="KeyError: 'x'"), seen("F"), wanted=3),
        [
            "alone: FFF (a pass rate up to 63 % is still possible, at 95 %)",
            "2 causes: AssertionError: assert 3 == 4 (2x); KeyError: 'x' (1x)",
        ],
    ),
    "a hang": (seen_alone(STUCK), ["alone: H", "stuck in: a.py:3: in test > b.py:4: in wait"]),
    "no time for more": (
        alone(*"PP"),
        ["alone: PP (2 of 5 runs; a failure rate up to 78 % is still possible, at 95 %)"],
    ),
}


@pytest.mark.parametrize("case", EVIDENCE)
def test_evidence_tells_each_thing_that_was_tried(case: str) -> None:
    findings, evidence = EVIDENCE[case]

    assert answer.answer_of(findings).evidence == evidence


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
    (notice,) = answer.answer_of(seen_alone(outcome)).notices

    assert words in notice


def test_recorded_runs_and_why_there_are_no_suspects_are_evidence_and_never_change_the_kind() -> None:
    recorded = ("recorded runs: flaky: failed 4 of 37 times",)

    result = answer.answer_of(replace(ALWAYS, past=recorded, suspects=Suspected(problem="it did not fail")))

    assert (result.kind, result.suspects) == ("deterministic", [])
    assert result.evidence[-2:] == ["suspects: it did not fail", *recorded]


def test_the_failure_to_look_at_is_the_first_alone_or_else_the_one_after_other_tests() -> None:
    failure = investigated()[0].failure
    in_order = replace(NEVER, order=replace(polluted("fails_after", LEAK), outcome=replace(seen("F"), failure=failure)))
    died = seen_alone(seen("F"), replace(seen("F"), failure=failure))

    assert [each.failure for each in (NEVER, ALWAYS, in_order, died)] == [None, None, failure, failure]


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
