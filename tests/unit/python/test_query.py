"""Asking another program, with small real ones: those that answer, and those that do everything but that."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from pytest_mcp.config.model import PREFIX
from pytest_mcp.python import query
from pytest_mcp.python.query import Question, Unanswered
from tests.support.projects.managed import Home
from tests.support.waiting import processes_in, until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.fixture
def question(home: Home, folder: Path) -> Question:
    return Question("oracle", ("a b", "--c"), folder, folder, home.environment)


async def ask(question: Question) -> str:
    return (await query.ask(question, query.find(question))).stdout


async def test_the_program_gets_its_arguments_and_no_input_and_what_it_says_comes_back_whatever_it_exits_with(
    home: Home, question: Question
) -> None:
    program = home.program("oracle", 'printf "<%s>" "$@"; pwd; cat; echo err >&2; exit 3')

    ended = await query.ask(question, program)

    assert (ended.code, ended.stdout, ended.stderr) == (3, f"<a b><--c>{question.folder}\n", "err\n")


async def test_one_that_does_not_answer_is_ended_at_the_limit_with_all_that_it_started(
    home: Home, question: Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "QUESTION_SECONDS", 1)
    home.program("oracle", "trap '' INT TERM; sleep 600 & setsid sleep 600 & wait; sleep 600")

    with pytest.raises(Unanswered, match="oracle did not answer within 1 seconds"):
        await ask(question)

    assert processes_in(question.folder) == []


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("#!/bin/sh\nhead -c 50000000 /dev/zero\n", "more than 64 KiB"),
        ("#!/bin/sh\necho half; kill -9 $$\n", "SIGKILL"),
        ("#!/no/such/interpreter\n", "could not be started"),
    ],
)
async def test_a_flood_a_killed_program_and_one_that_cannot_be_started_are_no_answer(
    home: Home, question: Question, script: str, reason: str
) -> None:
    home.program("oracle", "").write_text(script, encoding="utf-8")

    with pytest.raises(Unanswered, match=reason):
        await ask(question)


async def test_cancelling_ends_it_with_all_that_it_started(home: Home, question: Question) -> None:
    home.program("oracle", "setsid sleep 600 & touch $HOME/ready; wait; sleep 600")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, question)
        await until((home.folder / "ready").exists)
        tasks.cancel_scope.cancel()

    assert processes_in(question.folder) == []


@pytest.mark.parametrize("path", ["{folder}", "{folder}/bin", "{folder}/../project", "{link}"])
def test_a_program_of_the_project_is_never_found(home: Home, question: Question, path: str) -> None:
    for place in (question.folder, question.folder / "bin"):
        home.program("oracle", "", place)
    link = home.folder / "link"
    link.symlink_to(question.folder)
    mistaken = {"HOME": str(home.folder), "PATH": path.format(folder=question.folder, link=link)}

    with pytest.raises(Unanswered, match="oracle is not on the PATH"):
        query.find(replace(question, environment=mistaken))


@pytest.mark.parametrize("path", ["", ".", ":", "bin", "./bin:project/..", "~/bin"])
def test_an_entry_of_the_path_that_is_relative_or_empty_leads_nowhere(
    home: Home, question: Question, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(question.folder.parent)
    for place in (".", "bin", "~/bin", "project/.."):
        home.program("oracle", "", Path.cwd() / place)

    with pytest.raises(Unanswered, match="oracle is not on the PATH"):
        query.find(replace(question, environment={"HOME": str(home.folder), "PATH": path}))


def test_neither_a_link_to_a_program_of_the_project_nor_a_home_that_is_the_project_is_taken(
    home: Home, question: Question
) -> None:
    (home.bin / "oracle").symlink_to(home.program("oracle", "", question.folder))
    home.program("oracle", "", question.folder / ".local" / "bin")
    mistaken = replace(question, environment={"HOME": str(question.folder), "PATH": "/usr/bin:/bin"})

    for each in (question, mistaken):
        with pytest.raises(Unanswered):
            query.find(each)


def test_a_program_is_found_where_it_is_installed_for_one_user_but_the_path_goes_first(
    home: Home, question: Question
) -> None:
    own = home.program("oracle", "", home.folder / ".local/bin")
    without_path = query.find(replace(question, environment={"HOME": str(home.folder)}))
    program = home.program("oracle", "")

    assert (without_path, query.find(question)) == (own, program)


async def test_a_program_sees_the_environment_less_what_would_mislead_it(home: Home, question: Question) -> None:
    misleading = {
        **dict.fromkeys(("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "WITHHELD"), "x"),
        **dict.fromkeys(("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTEST_ADDOPTS", f"{PREFIX}ROOT"), "x"),
        **dict.fromkeys(("FORCE_COLOR", "CLICOLOR_FORCE", "__PYVENV_LAUNCHER__"), "x"),
    }
    path = f"{home.bin}::.:bin:{question.folder}/bin:/usr/bin:/bin"
    program = home.program(
        "oracle", f"exec {sys.executable} -c 'import os; import json; print(json.dumps(dict(os.environ)))'"
    )
    given = {**home.environment, **misleading, "PATH": path, "POETRY_CACHE_DIR": "/kept"}

    said = await ask(replace(question, environment=given, settings={"EXTRA": "1", "WITHHELD": None}))

    seen = dict(json.loads(said))
    assert program == home.bin / "oracle"
    assert {name: seen.pop(name) for name in ("HOME", "LANG", "POETRY_CACHE_DIR", "EXTRA")} == {
        "HOME": str(home.folder),
        "LANG": "C.UTF-8",
        "POETRY_CACHE_DIR": "/kept",
        "EXTRA": "1",
    }
    assert seen.pop("PATH") == f"{home.bin}:/usr/bin:/bin"
    assert seen.pop("PYTHONDONTWRITEBYTECODE") == "1"
    assert not {*seen} & {*misleading}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo; echo '  first reason '; echo more", "oracle said: first reason"),
        ("printf 'Traceback (most recent call last):\\n  File x\\nKeyError: y\\n\\n'", "oracle said: KeyError: y"),
        ("echo 'It is invalid:'; echo; echo '  - because'", "oracle said: It is invalid: - because"),
        ("", "oracle exited with 1 and printed nothing"),
        (f"echo {'x' * 30_000}", f"oracle said: {'x' * 150}"),
    ],
    ids=["lines", "traceback", "heading", "silence", "a long line"],
)
async def test_a_complaint_is_the_line_that_a_person_would_read_first(
    home: Home, question: Question, script: str, words: str
) -> None:
    program = home.program("oracle", f"exec >&2\n{script}\nexit 1")

    ended = await query.ask(question, program)

    complaint = str(query.complaint("oracle", ended))
    assert complaint == words or (complaint.startswith(words) and len(complaint) < 2 * query.MAX_COMPLAINT)
