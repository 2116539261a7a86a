"""What is told of a project's environment: every key, bounded, whatever the child said or did not say."""

import json
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_mcp.api.advice import in_shell
from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.results import ExplainResult, Git
from pytest_mcp.environment.explain import SHOWN, explained
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.report.no_result import diagnose
from pytest_mcp.run.events import AboveRoot, Deselected, Event, ImportedElsewhere
from pytest_mcp.tools import BY_NAME, dump
from tests.support.invented.records import session, uncollected
from tests.support.invented.streams import any_event, damaged_sessions
from tests.support.invented.surveys import (
    CHOSEN,
    HELLO,
    ONE_TEST,
    SURROUNDINGS,
    around,
    portrait,
    survey,
    trial,
)

KEYS = list(BY_NAME["explain_environment"].output_schema["required"])
# More than all lists, values and sentences at their longest.
MAX_CHARACTERS = 60_000


def size(answer: ExplainResult) -> int:
    return len(json.dumps(dump(answer)))


def test_a_project_that_is_ready_is_told_with_every_key() -> None:
    told = portrait(
        inifile="/project/pyproject.toml",
        plugins=["xdist-3.8.0"],
        testpaths=["tests"],
        addopts=["-m", "not slow"],
        markers=["slow"],
    )
    run = survey(HELLO, told, *session(ONE_TEST, Deselected(2, None), selected=1))
    linked = around(git=Git(top_level=".", main_checkout="/main"))

    answer = explained(trial(run, Candidate(Path("/project/venv/bin/python"), "venv", "does not exist")), linked)

    assert dump(answer) == {
        "ready": True,
        "summary": "Ready: 1 test, Python 3.12, pytest 9.2",
        "next_step": None,
        "problem": None,
        "notices": [],
        "root": "/project",
        "interpreter": {
            "executable": "/project/.venv/bin/python",
            "source": ".venv in the project root",
            "version": "3.12.1",
            "prefix": "/project/.venv",
        },
        "candidates": [{"python": "/project/venv/bin/python", "source": "venv", "problem": "does not exist"}],
        "pytest": {"version": "9.2.0", "plugins": ["xdist-3.8.0"]},
        "config": {
            "file": "pyproject.toml",
            "rootdir": ".",
            "testpaths": ["tests"],
            "addopts": "-m 'not slow'",
            "markers": ["slow"],
            "python_files": None,
        },
        "tests": {"count": 1, "deselected": 2, "uncollected": []},
        "imported_elsewhere": [],
        "git": {"top_level": ".", "main_checkout": "/main"},
        "temporary_folder": {"path": "/tmp", "writable": True, "free_bytes": 2**40},
        "server": {"version": "0.1.0", "python": "3.13.0", "executable": "/server/bin/python"},
        "omitted": None,
    }


def test_without_a_python_everything_that_it_would_have_told_is_null_and_the_fix_is_the_next_step() -> None:
    broken = Candidate(Path("/project/.venv/bin/python"), ".venv in the project root", "does not exist")
    error = ExecutionFailed(
        "environment", "no Python", RunFacts(), details=["tried it"], fix=in_shell("python3 -m venv .venv")
    )

    answer = explained(trial(None, broken, error=error), SURROUNDINGS)

    assert (answer.ready, answer.problem, answer.next_step) == (False, "no Python", "python3 -m venv .venv")
    assert [candidate.problem for candidate in answer.candidates] == ["does not exist"]
    assert (answer.interpreter, answer.pytest, answer.config, answer.tests) == (None, None, None, None)


def test_a_run_without_a_result_tells_what_was_known_by_then() -> None:
    error = ExecutionFailed("timeout", "too long", RunFacts(stderr="where it hung"), details=["It was collecting."])

    answer = explained(trial(survey(HELLO, portrait(plugins=["cov-7"])), error=error), SURROUNDINGS)

    assert answer.problem == "too long\nIt was collecting.\nstderr| where it hung"
    assert answer.pytest is not None
    assert answer.pytest.plugins == ["cov-7"]
    assert (answer.ready, answer.tests) == (False, None)


def test_what_a_child_has_not_said_is_null_and_its_python_is_the_one_that_was_chosen() -> None:
    error = ExecutionFailed("usage_error", "bad ini", RunFacts())

    silent, started = (explained(trial(run, error=error), SURROUNDINGS) for run in (survey(), survey(HELLO)))

    assert silent.interpreter is not None
    assert (silent.interpreter.executable, silent.interpreter.version) == (str(CHOSEN.python), None)
    assert started.pytest is not None
    assert (started.pytest.plugins, started.config) == (None, None)


def test_a_file_outside_the_root_is_no_settings_file_of_the_project() -> None:
    run = survey(HELLO, portrait(inifile="/elsewhere/pytest.ini"), *session(ONE_TEST, selected=1))

    answer = explained(trial(run), SURROUNDINGS)

    assert answer.config is not None
    assert answer.config.file is None


def test_what_lies_above_the_root_and_is_not_used_is_named_even_where_the_tests_cannot_run() -> None:
    above = AboveRoot(settings=["../tox.ini"], conftests=[])

    answer = explained(trial(survey(HELLO, above), error=ExecutionFailed("crash", "gone", RunFacts())), SURROUNDINGS)

    assert answer.notices == ["Settings above the root are not used: ../tox.ini."]


def test_long_lists_are_cut_and_what_is_missing_is_counted() -> None:
    names = [f"name{number}" for number in range(100)]
    told = portrait(plugins=names, testpaths=names, markers=names, python_files=names)
    broken = [uncollected(f"test_{number}.py") for number in range(100)]
    foreign = [ImportedElsewhere(name, f"/other/{name}.py", f"{name}.py") for name in names]
    candidates = [Candidate(Path(f"/{name}"), "somewhere", "broken") for name in names]

    answer = explained(trial(survey(HELLO, told, *session(*broken, *foreign, selected=0)), *candidates), SURROUNDINGS)

    assert answer.omitted is not None
    assert answer.omitted.model_dump() == {name: 100 - shown for name, shown in SHOWN.items()}
    assert answer.pytest is not None
    assert answer.pytest.plugins == names[: SHOWN["plugins"]]


LOUD = portrait(**dict.fromkeys(("plugins", "testpaths", "addopts", "markers", "python_files"), ["x" * 10_000] * 50))


@settings(max_examples=30)
@given(st.lists(any_event, max_size=6) | damaged_sessions())
@example([HELLO, LOUD, ONE_TEST])
@example([HELLO, portrait(prefix="x" * 10**6, rootdir="x" * 10**6, inifile="x" * 10**6)])
@example([ImportedElsewhere("x" * 10**6, "y" * 10**6, "z" * 10**6)] * 100)
@example([uncollected("x" * 10**6, message="y" * 10**6)] * 100)
def test_whatever_a_child_says_the_answer_is_whole_bounded_and_has_a_next_step_unless_it_is_ready(
    told: list[Event],
) -> None:
    run = survey(*told)

    answer = explained(trial(run, error=diagnose(run)), SURROUNDINGS)

    assert list(dump(answer)) == KEYS
    assert size(answer) < MAX_CHARACTERS
    assert answer.ready == (answer.next_step is None) == answer.summary.startswith("Ready: ")
    assert not answer.ready or (answer.tests is not None and answer.tests.count > 0)
