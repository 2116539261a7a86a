import sys
from pathlib import Path

import pytest

from pytest_mcp.config import Config, configure
from pytest_mcp.interpreter import Candidate, candidates, fix


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return (tmp_path / "project").resolve()


def configured(root: Path, *, python: Path | None = None, environment: dict[str, str] | None = None) -> Config:
    return configure(
        root=str(root),
        python=None if python is None else str(python),
        timeout=60,
        max_timeout=60,
        max_runs=2,
        errors="jsonrpc",
        environment=environment or {},
    )


def make_environment(folder: Path) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n", encoding="utf-8")
    python.chmod(0o755)
    return python


def test_a_project_without_an_environment_has_no_candidate(root: Path) -> None:
    assert candidates(configured(root)) == []


def test_the_environments_of_the_root_come_before_the_active_one(root: Path, tmp_path: Path) -> None:
    active = make_environment(tmp_path / "active")
    venv = make_environment(root / "venv")
    dot_venv = make_environment(root / ".venv")

    found = candidates(configured(root, environment={"VIRTUAL_ENV": str(tmp_path / "active")}))

    assert [candidate.python for candidate in found] == [dot_venv, venv, active]
    assert [candidate.problem for candidate in found] == [None, None, None]


def test_the_operators_choice_is_the_only_candidate(root: Path, tmp_path: Path) -> None:
    make_environment(root / ".venv")
    chosen = make_environment(tmp_path / "chosen")

    found = candidates(configured(root, python=chosen, environment={"VIRTUAL_ENV": str(tmp_path)}))

    assert found == [Candidate(chosen, "--python")]


def test_the_servers_own_environment_is_not_the_projects(root: Path) -> None:
    (candidate,) = candidates(configured(root, environment={"VIRTUAL_ENV": sys.prefix}))

    assert candidate.problem is not None
    assert "server's own" in candidate.problem


def test_an_interpreter_that_cannot_be_started_is_kept_with_the_reason(root: Path, tmp_path: Path) -> None:
    gone = make_environment(tmp_path / "gone")
    gone.unlink()
    gone.symlink_to(tmp_path / "nowhere")
    plain = make_environment(tmp_path / "plain")
    plain.chmod(0o644)

    reasons = {path: candidates(configured(root, python=path))[0].problem for path in (root, gone, plain)}
    missing = candidates(configured(root, python=root / "missing"))[0].problem

    assert all(reasons.values())
    assert missing is not None
    assert len({missing, *reasons.values()}) == 4


def test_an_environment_without_its_python_is_told_rather_than_passed_over(root: Path) -> None:
    (root / ".venv").mkdir()

    (candidate,) = candidates(configured(root))

    assert candidate.described() == {
        "python": f"{root}/.venv/bin/python",
        "source": ".venv in the project root",
        "problem": "does not exist",
    }


def test_the_fix_installs_pytest_into_the_interpreter_that_lacks_it() -> None:
    broken = Candidate(Path("/a/python"), ".venv in the project root").rejected("does not exist")
    bare = Candidate(Path("/b c/python"), "VIRTUAL_ENV").rejected("no pytest", lacks_pytest=True)

    assert fix([broken, bare], Path("/project")) == "'/b c/python' -m pip install pytest"


def test_the_fix_for_the_operators_own_choice_leaves_the_projects_environment_alone() -> None:
    chosen = Candidate(Path("/a/python"), "--python").rejected("does not exist")

    assert fix([chosen], Path("/project")).startswith("correct --python, or leave it out")


def test_the_fix_makes_an_environment_where_there_is_none() -> None:
    line = fix([], Path("/project"))

    assert line == "python3 -m venv /project/.venv && /project/.venv/bin/python -m pip install pytest"
