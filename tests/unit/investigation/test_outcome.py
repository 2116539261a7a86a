"""What one run says about a test."""

from dataclasses import replace

import pytest

from pytest_mcp.investigation.outcome import Letter, Outcome, outcome_of
from pytest_mcp.run.events import Event, FilesRefused, ImportedElsewhere, Interrupted, Phase, Seeded, Selected, Started
from tests.support.invented.records import (
    absent,
    execution,
    exited,
    one_test,
    phase,
    raised,
    session,
    skipped,
    uncollected,
)
from tests.support.invented.surveys import HELLO

TEST = "test_a.py::test_one"
LONG = f"AssertionError: assert {{'city': 'Bremen', {'x' * 200}}} == {{'city': 'Hamburg'}}"
LEAF = f"{LONG[:58]} ... {LONG[-58:]}; ['city']: 'Bremen' != 'Hamburg'"
WINDOW = "AssertionError: assert 'a…' == 'b…'; line 2, character 3: - 'x' + 'y'"
EXPLAINED = ["AssertionError: assert 'a…' == 'b…'", "  line 2, character 3: - 'x'", "  + 'y'", "  more"]
FAILED = raised("AssertionError: assert 1 == 2", ("test_a.py:3", "test_one", "assert price() == 2"))


@pytest.mark.parametrize(
    ("phases", "letter", "words"),
    [
        ([], "P", ""),
        ([FAILED], "F", "AssertionError: assert 1 == 2"),
        ([raised("assert f() == 2\n  +  where 1 = f()")], "F", "AssertionError: assert f() == 2"),
        ([raised(f"{LONG}\n  \n  ['city']: 'Bremen' != 'Hamburg'\n  ['zip']: 1 != 2")], "F", LEAF),
        ([phase(TEST, message=EXPLAINED[0], chain=[[None, None, EXPLAINED, []]])], "F", WINDOW),
        ([skipped(TEST, "no net")], "S", "no net"),
        ([phase(TEST, outcome="rerun")], "R", "passed only when a plugin repeated it"),
    ],
)
def test_a_test_that_ran_to_its_end_has_an_outcome(phases: list[Phase], letter: Letter, words: str) -> None:
    seen = outcome_of(execution(session(one_test(TEST, *phases), selected=1)), TEST)

    assert (seen.letter, seen.words) == (letter, words)


@pytest.mark.parametrize(
    ("told", "letter", "words"),
    [
        ([uncollected("test_a.py", error_type="ImportError", message="x")], "C", "cannot be collected: ImportError: x"),
        ([absent("test_a.py", "no net")], "S", "no net"),
        ([], "?", "not there"),
        ([FilesRefused(files=["/project/test_a.py"])], "?", "pytest does not collect its file (python_files)"),
    ],
)
def test_a_test_that_did_not_run_has_none_but_a_reason(told: list[Event], letter: Letter, words: str) -> None:
    seen = outcome_of(execution(session(*told, selected=0)), TEST)

    assert seen.letter == letter
    assert words in seen.words


def test_a_process_that_dies_while_the_test_runs_is_a_failure() -> None:
    died = outcome_of(replace(execution([Started(TEST)]), exit=replace(exited(None), signal="SIGSEGV")), TEST)

    assert (died.letter, died.words) == ("F", "the process ended while it ran (SIGSEGV)")


def late(*told: Event) -> Outcome:
    stopped = Interrupted("KeyboardInterrupt", "", ["test_a.py:3: in test_one", "/lib/python3.12/x.py:9: in wait"])
    run = execution([*told, stopped])
    return outcome_of(replace(run, exit=replace(exited(None), reason="timeout", duration=9.0)), TEST)


def test_a_hang_has_the_frames_of_the_project() -> None:
    running, importing = late(Selected(1), Started(TEST)), late(HELLO)
    not_begun = late(Selected(2), Started("a.py::other"))

    assert (running.letter, running.stack) == ("H", ("test_a.py:3: in test_one",))
    assert running.words == "it was still running after 9 s, at test_a.py:3: in test_one"
    assert importing.words == "its file was still being imported after 9 s, at test_a.py:3: in test_one"
    assert (not_begun.letter, not_begun.words, not_begun.stack) == ("?", "it had not begun after 9 s", ())


def test_one_cause_is_the_same_statement_whatever_its_line_and_values() -> None:
    def cause(message: str, place: str, statement: str) -> object:
        failed = raised(message, (place, "test_one", statement))
        return outcome_of(execution(session(one_test(TEST, failed), selected=1)), TEST).cause

    first = cause("AssertionError: assert 1 == 2", "test_a.py:3", "assert price() == 2")

    assert cause("AssertionError: assert 7 == 2", "test_a.py:30", "assert price()  ==  2") == first
    assert cause("AssertionError: assert 1 == 2", "test_a.py:4", "assert cost() == 2") != first
    assert cause("KeyError: 1", "test_a.py:3", "assert price() == 2") != first


def failing(*said: str) -> list[Outcome]:
    return [Outcome("F", cause="sum", said=each) for each in said]


@pytest.mark.parametrize(
    ("there", "here", "is_like"),
    [
        ("assert 1 == 2", ["assert 1 == 2"] * 3, True),
        ("assert 1 == 2", ["assert 7 == 2"] * 3, False),
        ("assert 1 == 2", ["assert 7 == 2", "assert 8 == 2"], True),
        ("assert x == 2", ["assert 7 == 2", "assert 8 == 2"], False),
    ],
)
def test_a_failure_is_like_others_if_its_values_are_unless_these_differ_from_run_to_run(
    there: str, here: list[str], is_like: bool
) -> None:
    seen = failing(there)[0]

    assert seen.is_like(failing(*here)) == is_like
    assert not replace(seen, cause="other").is_like(failing(there))


def test_the_folder_of_a_copy_and_addresses_are_no_values() -> None:
    failed = raised("AssertionError: <T object at 0x7f0011223344> in /project/a.py", ("test_a.py:3", "test_one", "f()"))
    seen = outcome_of(execution(session(one_test(TEST, failed), selected=1)), TEST)

    assert seen.said == "AssertionError: <T object at 0x…> in a.py"


def test_seeds_and_foreign_imports_are_kept() -> None:
    foreign = ImportedElsewhere("shop", "/elsewhere/shop.py", "shop.py")
    seen = outcome_of(execution(session(Seeded(7), foreign, one_test(TEST), selected=1)), TEST)

    assert (seen.random_seed, seen.elsewhere) == (7, "shop from /elsewhere/shop.py")


def test_a_skip_is_neither_a_pass_nor_a_failure() -> None:
    seen = Outcome("S", "no network")

    assert (seen.is_known, seen.passed, seen.failed) == (False, False, False)
