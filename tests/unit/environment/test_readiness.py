"""Whether tests can run, and the one thing to do if they cannot."""

from typing import get_args

import pytest

from pytest_mcp.api.advice import Sentence, by_operator, in_shell
from pytest_mcp.api.errors import ErrorType, ExecutionFailed, Fault, RefusedByPytest, RunFacts
from pytest_mcp.environment.readiness import Standing, of_failure, of_survey
from pytest_mcp.run.events import Deselected, ImportedElsewhere, Selected, UsageFault
from tests.support.invented.records import absent, item, session, uncollected
from tests.support.invented.surveys import (
    HELLO,
    ONE_TEST,
    SURROUNDINGS,
    TEMPORARY,
    VENV,
    around,
    portrait,
    survey,
    surveyed,
)

NOWHERE = around(looks_like_a_project=False)


def failed(error_type: ErrorType, headline: str = "it failed", *, fix: Sentence | None = None) -> ExecutionFailed:
    return ExecutionFailed(error_type, headline, RunFacts(), fix=fix)


def lacking(module: str) -> Standing:
    error = uncollected("test_a.py", error_type="ModuleNotFoundError", message=f"No module named '{module}'", line=3)
    return of_survey(surveyed(error, ONE_TEST), around(in_src=frozenset({"shop"})))


def next_step(standing: Standing) -> str:
    assert not standing.ready
    assert standing.summary.startswith("Not ready: ")
    assert standing.next_step is not None
    return standing.next_step


def test_tests_that_can_run_are_counted_with_the_versions_that_run_them() -> None:
    many = surveyed(*(item(f"test_a.py::test_{number}") for number in range(980)), selected=980)

    assert of_survey(many, SURROUNDINGS) == Standing(True, "Ready: 980 tests, Python 3.12, pytest 9.2", None)
    assert of_survey(surveyed(ONE_TEST), SURROUNDINGS).summary == "Ready: 1 test, Python 3.12, pytest 9.2"


@pytest.mark.parametrize("error_type", get_args(ErrorType))
def test_whatever_a_run_fails_by_has_words_and_a_next_step(error_type: ErrorType) -> None:
    step = next_step(of_failure(failed(error_type), survey(HELLO), SURROUNDINGS))

    assert step
    assert "{" not in step
    assert "None" not in step


def test_the_fix_of_an_error_is_the_next_step_unless_a_folder_that_is_no_project_would_become_one() -> None:
    fix, for_operator = in_shell("python3 -m venv '/a {b}/.venv'"), by_operator("start pytest-mcp in /elsewhere")

    elsewhere = next_step(of_failure(failed("environment", fix=fix), None, NOWHERE))

    assert next_step(of_failure(failed("environment", fix=fix), None, SURROUNDINGS)) == fix
    assert next_step(of_failure(failed("environment", fix=for_operator), None, NOWHERE)) == for_operator
    assert "--root" in elsewhere
    assert elsewhere == next_step(of_survey(surveyed(selected=0), NOWHERE))


def test_a_process_that_cannot_start_for_want_of_a_temporary_folder_needs_one() -> None:
    full = around(temporary=TEMPORARY.model_copy(update={"writable": False}))

    assert "TMPDIR" in next_step(of_failure(failed("spawn_failure"), None, full))
    assert "TMPDIR" not in next_step(of_failure(failed("spawn_failure"), None, SURROUNDINGS))


def test_settings_that_pytest_refuses_are_named_by_their_file() -> None:
    run = survey(HELLO, UsageFault(["bad line"], "/project/pytest.ini"))
    by_a_caller = RefusedByPytest([Fault("path", "is gone", "not_found", "x")], RunFacts())

    standing = of_failure(failed("usage_error"), run, SURROUNDINGS)

    assert "/project/pytest.ini" in next_step(standing)
    assert of_failure(by_a_caller, run, SURROUNDINGS) == standing


def test_an_option_that_pytest_does_not_know_is_a_plugin_that_is_missing() -> None:
    headline = "usage: pytest.main()\npytest.main(): error: unrecognized arguments: --cov=src\n  inifile"

    step = next_step(of_failure(failed("usage_error", headline), survey(HELLO, portrait()), SURROUNDINGS))

    assert step.startswith(f"Install the plugin that defines --cov=src into {VENV}")


def test_a_crash_is_to_be_seen_by_hand() -> None:
    assert "python -m pytest --collect-only" in next_step(of_failure(failed("crash"), survey(), SURROUNDINGS))


def test_files_that_cannot_be_collected_come_first_with_the_first_of_them() -> None:
    broken = [uncollected("test_a.py", error_type="SyntaxError", message="no\ncolon", line=3), uncollected("test_b.py")]
    foreign = ImportedElsewhere("shop", "/other/shop.py", "shop.py")

    standing = of_survey(surveyed(*broken, foreign, ONE_TEST), SURROUNDINGS)

    assert standing.summary == "Not ready: 2 files cannot be collected, first test_a.py:3: SyntaxError: no colon"
    assert "test_a.py" in next_step(standing)


def test_a_module_that_is_missing_is_the_projects_own_or_somebody_elses() -> None:
    assert "pythonpath = src" in next_step(lacking("shop.cart"))
    assert VENV in next_step(lacking("requests"))
    assert "pythonpath" not in next_step(lacking("requests"))


def test_tests_of_other_code_are_not_ready_however_many_there_are() -> None:
    foreign = ImportedElsewhere("shop", "/other/shop.py", "shop.py")

    standing = of_survey(surveyed(ONE_TEST, foreign), SURROUNDINGS)

    assert "/other/shop.py" in standing.summary
    assert "pip install -e" in next_step(standing)


def test_why_there_is_no_test_decides_what_to_do() -> None:
    deselected = next_step(of_survey(surveyed(Deselected(7, None), selected=0), SURROUNDINGS))
    skipped = next_step(of_survey(surveyed(absent(reason="no database"), selected=0), SURROUNDINGS))
    none = next_step(of_survey(surveyed(selected=0), SURROUNDINGS))
    of_options = survey(HELLO, portrait(), *(event for event in session(selected=0) if not isinstance(event, Selected)))

    assert "all 7" in deselected
    assert "no database" in skipped
    assert "testpaths" in none
    assert "--fixtures" in next_step(of_survey(of_options, SURROUNDINGS))
