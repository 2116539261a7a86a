"""When the choice of an environment deserves a word: by files and variables alone."""

from pathlib import Path

import pytest

from pytest_mcp.config.model import Config
from pytest_mcp.python.interpreter import Candidate, doubts, visible
from tests.support.projects.disk import configured, make_environment


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return (tmp_path / "project").resolve()


def with_pytest(folder: Path) -> Path:
    package = folder / "lib" / "python3.12" / "site-packages" / "pytest"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    return make_environment(folder)


def doubted(config: Config, *places: Path, rejected: tuple[Candidate, ...] = ()) -> list[str]:
    """What is said when the first candidate that was not rejected is taken."""
    folder = places[0] if places else config.root
    chosen = next(one for one in visible(config, folder) if one.python not in [other.python for other in rejected])
    return doubts(chosen, rejected, places, config)


def test_one_environment_leaves_no_doubt(root: Path) -> None:
    with_pytest(root / ".venv")

    assert doubted(configured(root)) == []


def test_an_active_environment_that_could_have_been_meant_is_named(root: Path, tmp_path: Path) -> None:
    with_pytest(root / ".venv")
    other = with_pytest(tmp_path / "other")

    (said,) = doubted(configured(root, environment={"VIRTUAL_ENV": str(tmp_path / "other")}))

    assert "ran with .venv/bin/python;" in said
    assert f"{other} (VIRTUAL_ENV)" in said


def test_an_active_environment_without_pytest_is_no_rival(root: Path, tmp_path: Path) -> None:
    with_pytest(root / ".venv")
    make_environment(tmp_path / "other")

    assert doubted(configured(root, environment={"VIRTUAL_ENV": str(tmp_path / "other")})) == []


def test_the_active_environment_that_was_chosen_is_no_rival_of_itself(root: Path) -> None:
    with_pytest(root / ".venv")

    assert doubted(configured(root, environment={"VIRTUAL_ENV": str(root / ".venv")})) == []


def test_two_environments_in_one_folder_disagree(root: Path) -> None:
    with_pytest(root / ".venv")
    with_pytest(root / "venv")

    (said,) = doubted(configured(root))

    assert "venv/bin/python (venv in the project root)" in said


def test_environments_of_an_outer_project_and_of_pixi_are_no_contradiction(root: Path) -> None:
    with_pytest(root / ".venv")
    with_pytest(root / "service" / ".venv")
    with_pytest(root / ".pixi" / "envs" / "default")
    with_pytest(root / ".pixi" / "envs" / "test")

    assert doubted(configured(root), root / "service") == []


def test_an_environment_of_the_projects_that_had_to_be_passed_over_is_named(root: Path, tmp_path: Path) -> None:
    bare = Candidate(make_environment(root / ".venv"), ".venv in the project root")
    used = with_pytest(tmp_path / "other")
    config = configured(root, environment={"VIRTUAL_ENV": str(tmp_path / "other")})

    (said,) = doubted(config, rejected=(bare.rejected("pytest cannot be imported", lacks_pytest=True),))

    assert said == (f"The tests ran with {used} because .venv/bin/python cannot be used: pytest cannot be imported.")


def test_a_stale_variable_is_no_doubt(root: Path, tmp_path: Path) -> None:
    with_pytest(root / ".venv")
    stale = Candidate(tmp_path / "gone" / "bin" / "python", "VIRTUAL_ENV").rejected("does not exist")

    assert doubted(configured(root), rejected=(stale,)) == []


def test_projects_that_were_called_together_could_have_used_their_own(root: Path) -> None:
    with_pytest(root / ".venv")
    for name in ("a", "b"):
        with_pytest(root / name / ".venv")
        (root / name / "test_it.py").touch()

    together = doubts(visible(configured(root), root)[0], (), [root / "a" / "test_it.py", root / "b"], configured(root))

    assert together == ["These have their own environments: a, b. Call each alone to use it."]


def test_the_operators_choice_is_never_doubted(root: Path, tmp_path: Path) -> None:
    with_pytest(root / ".venv")
    chosen = make_environment(tmp_path / "chosen")

    assert doubts(Candidate(chosen, "--python"), (), [root], configured(root, python=chosen)) == []
