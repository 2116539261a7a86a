"""The members of a monorepo, as files show them."""

from pathlib import Path

import pytest

from pytest_mcp.api import targets
from pytest_mcp.api.results import Member
from pytest_mcp.config.model import Config
from pytest_mcp.python import members
from pytest_mcp.python.members import MAX_MEMBERS, MemberList
from tests.support.projects.disk import configured, environment, lay

PACKAGE = "[project]\nname = 'x'\n"


def found(root: Path) -> list[str]:
    result = members.find_members(configured(root))
    return [] if result is None else [member.folder for member in result.listed]


def test_a_workspace_declares_its_members(tmp_path: Path) -> None:
    workspace = "[tool.uv.workspace]\nmembers = ['packages/*']\nexclude = ['packages/old']\n"
    projects = {f"{folder}/pyproject.toml": PACKAGE for folder in ("packages/a", "packages/b", "packages/old", "tool")}
    lay(tmp_path, {"pyproject.toml": PACKAGE + workspace, **projects})

    assert found(tmp_path) == ["packages/a", "packages/b"]


def test_a_folder_is_part_of_the_nearest_project_below_the_root(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": PACKAGE, "packages/a/pyproject.toml": PACKAGE, "packages/a/tests/test_a.py": ""})
    environment(tmp_path / "packages/b/.venv")
    lay(tmp_path, {"packages/b/tests/test_b.py": "", "tests/test_x.py": ""})

    homes = [members.member_of(tmp_path / name, tmp_path) for name in ("packages/a/tests", "packages/b/tests", "tests")]

    assert homes == [tmp_path / "packages/a", tmp_path / "packages/b", tmp_path / "tests"]


def test_projects_below_a_root_that_is_none_are_members(tmp_path: Path) -> None:
    lay(
        tmp_path,
        {
            "pyproject.toml": "[tool.ruff]\n",
            "api/pyproject.toml": PACKAGE,
            "api/plugins/one/setup.py": "",
            "jobs/worker/setup.py": "",
            "web/pyproject.toml": "[tool.ruff]\n",
        },
    )

    assert found(tmp_path) == ["api", "jobs/worker"]


def test_an_environment_makes_a_member_of_a_folder_of_any_root_whatever_it_is_called(tmp_path: Path) -> None:
    lay(tmp_path, {"pyproject.toml": PACKAGE})
    for name in ("packages/core", "packages/data", "tests"):
        environment(tmp_path / name / ".venv", "pytest")

    assert found(tmp_path) == ["packages/core", "packages/data", "tests"]


NO_MONOREPOS: dict[str, dict[str, str]] = {
    "nothing": {},
    "a package with material for its tests": {
        "pyproject.toml": PACKAGE,
        "tests/data/one/pyproject.toml": PACKAGE,
        "tests/data/two/setup.py": "",
        "examples/shop/pyproject.toml": PACKAGE,
        "tools/gen/pyproject.toml": PACKAGE,
    },
    "one project below the root": {"backend/pyproject.toml": PACKAGE, "README.md": ""},
    "settings only": {"a/pyproject.toml": "[tool.black]\n", "b/pyproject.toml": "[tool.black]\n"},
}


@pytest.mark.parametrize("kind", NO_MONOREPOS)
def test_other_projects_have_no_members(kind: str, tmp_path: Path) -> None:
    lay(tmp_path, NO_MONOREPOS[kind])

    assert members.find_members(configured(tmp_path)) is None


def test_with_the_operators_python_there_is_nothing_to_tell_of_members(tmp_path: Path) -> None:
    prefix = environment(tmp_path / "a/.venv", "pytest")
    environment(tmp_path / "b/.venv", "pytest")

    assert members.find_members(configured(tmp_path, python=prefix / "bin/python")) is None


def test_each_is_told_with_its_versions_or_with_what_is_missing(tmp_path: Path) -> None:
    lay(tmp_path, {f"{name}/setup.py": "" for name in ("bare", "broken", "lacking", "ready")})
    lay(tmp_path, {"asked/pyproject.toml": "[tool.poetry]\nname = 'x'\n"})
    environment(tmp_path / "ready/.venv", "pytest", "pytest-9.2.0.dist-info")
    environment(tmp_path / "lacking/.venv", settings="version_info = 3.12.1.final.0\n")
    (environment(tmp_path / "broken/.venv", "pytest") / "bin/python").unlink()

    assert members.find_members(configured(tmp_path)) == MemberList(
        (
            Member(
                folder="asked",
                python=None,
                pytest=None,
                problem="not looked at: poetry keeps its environment elsewhere",
            ),
            Member(folder="bare", python=None, pytest=None, problem="no environment"),
            Member(folder="broken", python=None, pytest=None, problem="broken/.venv/bin/python does not exist"),
            Member(folder="lacking", python="3.12.1", pytest=None, problem="lacking/.venv/bin/python has no pytest"),
            Member(folder="ready", python="3.11.7", pytest="9.2.0", problem=None),
        ),
        more=0,
        is_complete=True,
    )


def test_of_many_the_first_are_looked_at(tmp_path: Path) -> None:
    lay(tmp_path, {f"service{number:02}/setup.py": "" for number in range(MAX_MEMBERS + 3)})

    result = members.find_members(configured(tmp_path))

    assert result is not None
    assert (len(result.listed), result.more) == (MAX_MEMBERS, 3)


def test_a_search_that_takes_too_long_ends_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, {f"{name}/setup.py": "" for name in "abc"})
    seconds = iter(range(100))
    monkeypatch.setattr("pytest_mcp.python.members.time.monotonic", lambda: float(next(seconds)))

    result = members.find_members(configured(tmp_path), longest_seconds=2.5)

    assert result is not None
    assert ([member.folder for member in result.listed], result.is_complete) == (["a", "b"], False)


def taken(root: Path) -> list[str]:
    return [target.relative for part in members.instead_of_root(configured(root)) for target in part]


def test_members_stand_for_a_root_only_if_it_has_no_environment_and_one_of_them_may_be_ready(tmp_path: Path) -> None:
    lay(tmp_path, {"a/pyproject.toml": PACKAGE, "b/pyproject.toml": PACKAGE})
    none_ready = taken(tmp_path)
    lay(tmp_path, {"b/pyproject.toml": PACKAGE + "[tool.poetry]\npackage-mode = false\n"})
    kept_elsewhere = taken(tmp_path)
    environment(tmp_path / "a/.venv", "pytest")
    one_ready = taken(tmp_path)
    environment(tmp_path / ".venv")

    assert (none_ready, kept_elsewhere, one_ready) == ([], ["a", "b"], ["a", "b"])
    assert taken(tmp_path) == []


def test_members_that_are_not_all_listed_do_not_stand_for_the_root(tmp_path: Path) -> None:
    for number in range(MAX_MEMBERS + 1):
        environment(tmp_path / f"m{number:02}" / ".venv", "pytest")

    assert taken(tmp_path) == []


OWN_TESTS = {
    "a file in the root": {"test_x.py": ""},
    "one far below": {"tests/a/b/c/d/x_test.py": ""},
    "Django's": {"shop/tests.py": ""},
    "a name of the settings": {"checks/check_x.py": "", "pytest.ini": "[pytest]\npython_files = check_*.py\n"},
    "one in a folder with settings only": {"old/pyproject.toml": "[tool.black]\n", "old/tests/test_x.py": ""},
    "one of an example": {"examples/shop/pyproject.toml": PACKAGE, "examples/shop/test_x.py": ""},
    "one in a folder that is linked": {".elsewhere/third/test_x.py": "", "third": "-> .elsewhere/third"},
}
NOT_OWN = {
    "none": {"conftest.py": "", "tests/helpers.py": ""},
    "that of a member": {"a/tests/test_a.py": "", "b/test_b.py": ""},
    "one in a hidden folder": {".trees/test_x.py": ""},
    "what a tool wrote": {"node_modules/x/x_test.py": "", "build/lib/test_x.py": ""},
    "that of a member, by a link": {"a/tests/test_a.py": "", "again": "-> a/tests", "all": "-> ."},
}


@pytest.mark.parametrize("what", [*OWN_TESTS, *NOT_OWN])
def test_a_root_with_tests_of_its_own_and_no_environment_is_listed_and_a_part_of_its_own(
    tmp_path: Path, what: str
) -> None:
    lay(tmp_path, {f"{name}/setup.py": "" for name in "ab"} | (OWN_TESTS | NOT_OWN)[what])
    environment(tmp_path / "a/.venv", "pytest")
    environment(tmp_path / "b/.venv", "pytest")
    root = ["."] if what in OWN_TESTS else []

    assert found(tmp_path) == [*root, "a", "b"]
    assert taken(tmp_path) == [*root, "a", "b"]
    environment(tmp_path / ".venv", "pytest")
    assert found(tmp_path) == ["a", "b"]


# Which targets are run together

MEMBERS = {f"packages/{name}/tests/test_x.py": "" for name in "abc"}


def split(config: Config, *names: str) -> list[list[str]]:
    found = [targets.parse_node_id(name, config.root) for name in names]
    return [[target.node_id for target in part] for part in members.by_environment(found, config)]


def test_targets_with_one_environment_stay_together_in_their_order(tmp_path: Path) -> None:
    lay(tmp_path, MEMBERS)
    environment(tmp_path / ".venv", "pytest")
    environment(tmp_path / "packages/b/.venv", "pytest")

    parts = split(
        configured(tmp_path), "packages/b", "packages/c", "packages/b/tests/test_x.py::test_a", "packages/a/tests"
    )

    assert parts == [["packages/b", "packages/b/tests/test_x.py::test_a"], ["packages/c", "packages/a/tests"]]


def test_without_any_environment_each_manager_is_asked_for_its_own_folder(tmp_path: Path) -> None:
    lay(tmp_path, {**MEMBERS, **{f"packages/{name}/poetry.lock": "" for name in "ab"}})

    assert split(configured(tmp_path), "packages/a", "packages/b", "packages/c") == [
        ["packages/a"],
        ["packages/b"],
        ["packages/c"],
    ]


def test_members_of_a_uv_workspace_without_an_environment_share_the_one_to_come(tmp_path: Path) -> None:
    workspace = {"pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\n", "uv.lock": ""}
    lay(tmp_path, {**MEMBERS, **workspace, **{f"packages/{name}/pyproject.toml": "[tool.uv]\n" for name in "ab"}})

    assert len(split(configured(tmp_path), "packages/a", "packages/b")) == 1
