"""Which environments are found, in which order, and why not the others: by the files and variables alone."""

import sys
from pathlib import Path

import pytest

from pytest_mcp.config.model import Config
from pytest_mcp.python.interpreter import Candidate, candidates, doubts, pointed_at, visible
from tests.support.git import commit_all, git
from tests.support.projects.disk import configured, environment, make_environment


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return (tmp_path / "project").resolve()


def only(root: Path, *, python: Path | None = None, variables: dict[str, str] | None = None) -> Candidate:
    (candidate,) = visible(configured(root, python=python, environment=variables), root)
    return candidate


def test_the_environments_of_the_project_come_before_the_active_ones(root: Path, tmp_path: Path) -> None:
    places = {
        ".venv in the project root": root / ".venv",
        "venv in the project root": root / "venv",
        "UV_PROJECT_ENVIRONMENT": tmp_path / "of uv",
        "VIRTUAL_ENV": tmp_path / "active",
        "CONDA_PREFIX": tmp_path / "conda",
        "pixi's environment default": root / ".pixi" / "envs" / "default",
        "pixi's environment beta": root / ".pixi" / "envs" / "beta",
    }
    expected = [Candidate(make_environment(place), source) for source, place in places.items()]
    active = {variable: str(place) for variable, place in places.items() if variable.isupper()}

    found = visible(configured(root, environment=active), root)

    assert found == expected


def test_the_nearest_environment_rules_and_none_above_the_root_is_looked_at(root: Path, tmp_path: Path) -> None:
    make_environment(tmp_path / ".venv")
    outer = make_environment(root / ".venv")
    inner = make_environment(root / "services" / "a" / "venv")
    (root / "services" / "a" / "tests").mkdir()

    found = visible(configured(root), root / "services" / "a" / "tests")

    assert found == [Candidate(inner, "venv in services/a"), Candidate(outer, ".venv in the project root")]


def test_the_operators_choice_is_the_only_candidate(root: Path, tmp_path: Path) -> None:
    make_environment(root / ".venv")
    chosen = make_environment(tmp_path / "chosen")

    found = visible(configured(root, python=chosen, environment={"VIRTUAL_ENV": str(tmp_path)}), root)

    assert found == [Candidate(chosen, "--python")]


def test_an_environment_that_is_found_in_two_ways_is_one(root: Path) -> None:
    python = make_environment(root / ".venv")

    assert only(root, variables={"VIRTUAL_ENV": str(root / ".venv")}) == Candidate(python, ".venv in the project root")


def test_the_servers_own_environment_is_not_the_projects(root: Path) -> None:
    problem = only(root, variables={"VIRTUAL_ENV": sys.prefix}).problem

    assert problem == "is the server's own environment, not the project's"


@pytest.mark.parametrize("sign", ["named base", "has condabin"])
def test_the_base_of_conda_is_nobodys_project(root: Path, tmp_path: Path, sign: str) -> None:
    make_environment(tmp_path / "conda")
    variables = {"CONDA_PREFIX": str(tmp_path / "conda")}
    if sign == "named base":
        variables["CONDA_DEFAULT_ENV"] = "base"
    else:
        (tmp_path / "conda" / "condabin").mkdir()

    assert only(root, variables=variables).problem == "is conda's base environment, not the project's"


def test_a_relative_environment_of_uvs_is_read_from_its_projects_folder(root: Path) -> None:
    (root / "service" / "tests").mkdir(parents=True)
    (root / "service" / "uv.lock").touch()
    python = make_environment(root / "service" / "made-by-uv")

    found = visible(configured(root, environment={"UV_PROJECT_ENVIRONMENT": "made-by-uv"}), root / "service" / "tests")

    assert found == [Candidate(python, "UV_PROJECT_ENVIRONMENT")]


@pytest.mark.parametrize("opened", [".", "member"])
def test_in_a_workspace_a_relative_environment_of_uvs_is_read_from_the_workspaces_root(root: Path, opened: str) -> None:
    """A workspace that begins above the root is not asked: then it is read from the root, as if there were none."""
    (root / "member").mkdir()
    (root / "pyproject.toml").write_text("[tool.uv.workspace]\nmembers = ['mem*']\n", encoding="utf-8")
    (root / "member" / "pyproject.toml").write_text("[tool.uv]\npackage = true\n", encoding="utf-8")
    python = make_environment(root / opened / "made-by-uv")

    found = visible(configured(root / opened, environment={"UV_PROJECT_ENVIRONMENT": "made-by-uv"}), root / "member")

    assert found == [Candidate(python, "UV_PROJECT_ENVIRONMENT")]


def test_an_interpreter_that_cannot_be_started_is_kept_with_the_reason(root: Path, tmp_path: Path) -> None:
    gone = make_environment(tmp_path / "gone")
    gone.unlink()
    gone.symlink_to(tmp_path / "nowhere")
    plain = make_environment(tmp_path / "plain")
    plain.chmod(0o644)

    reasons = {path: only(root, python=path).problem for path in (root, gone, plain, root / "missing")}

    assert all(reasons.values())
    assert len(set(reasons.values())) == 4


@pytest.mark.parametrize("kind", ["folder", "file", "dangling link"])
def test_an_environment_without_its_python_is_told_rather_than_passed_over(root: Path, kind: str) -> None:
    place = root / ".venv"
    if kind == "folder":
        place.mkdir()
    elif kind == "file":
        place.touch()
    else:
        place.symlink_to(root / "gone")

    assert only(root).described() == {
        "python": f"{root}/.venv/bin/python",
        "source": ".venv in the project root",
        "problem": "does not exist",
    }


async def test_a_linked_worktree_borrows_the_environment_of_the_same_place_in_its_main_checkout(tmp_path: Path) -> None:
    main, linked = (tmp_path / "main").resolve(), (tmp_path / "linked").resolve()
    (main / "api" / "tests").mkdir(parents=True)
    (main / "api" / "tests" / "test_it.py").touch()
    commit_all(main)
    git("worktree", "add", linked, cwd=main)
    nearest = make_environment(main / "api" / ".venv")
    outer = make_environment(main / ".venv")

    found = [one async for one in candidates(configured(linked), linked / "api" / "tests")]
    below = [one async for one in candidates(configured(linked / "api"), linked / "api" / "tests")]

    assert found == [Candidate(nearest, ".venv in api"), Candidate(outer, ".venv in the main checkout")]
    assert below == [Candidate(nearest, ".venv in the main checkout")]


def test_a_call_points_at_the_folder_that_all_its_targets_share(root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "test_one.py").touch()

    assert pointed_at([], root) == root
    assert pointed_at([root / "a" / "test_one.py"], root) == root / "a"
    assert pointed_at([root / "a" / "test_one.py", root / "a" / "b"], root) == root / "a"
    assert pointed_at([root / "a" / "b"], root) == root / "a" / "b"


# When the choice deserves a word


def with_pytest(folder: Path) -> Path:
    return environment(folder, "pytest") / "bin/python"


def doubted(config: Config, *places: Path, rejected: tuple[Candidate, ...] = ()) -> list[str]:
    """What is said when the first candidate that was not rejected is taken."""
    folder = places[0] if places else config.root
    chosen = next(one for one in visible(config, folder) if one.python not in [other.python for other in rejected])
    return doubts(chosen, rejected, places, config)


def test_an_active_environment_that_could_have_been_meant_is_named_if_it_has_pytest(root: Path, tmp_path: Path) -> None:
    with_pytest(root / ".venv")
    other = with_pytest(tmp_path / "other")
    make_environment(tmp_path / "bare")

    (said,) = doubted(configured(root, environment={"VIRTUAL_ENV": str(tmp_path / "other")}))

    assert "ran with .venv/bin/python;" in said
    assert f"{other} (VIRTUAL_ENV)" in said
    for active in (tmp_path / "bare", root / ".venv"):
        assert doubted(configured(root, environment={"VIRTUAL_ENV": str(active)})) == []


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
