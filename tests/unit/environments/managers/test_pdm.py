"""The Python that pdm has chosen, with the real pdm, and the line that installs pytest.

Lines of each kind have been run in real projects, where pytest could then be imported.
"""

from pathlib import Path

import pytest

from pytest_mcp.environments.managers.protocol import Answer
from tests.support.projects.disk import fix_line, lay
from tests.support.projects.managed import BASE_PYTHON, Home, ask, ask_in_vain, tree

PDM = "[tool.pdm]\ndistribution = false\n"


PROJECT = '[project]\nname = "thing"\nversion = "1"\nrequires-python = ">=3.8"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    return folder


@pytest.mark.anyio
async def test_the_python_that_pdm_has_chosen_is_found_without_pdm(
    managed_home: Home, project: Path, home: Home
) -> None:
    managed_home.run("pdm", "use", "--first", BASE_PYTHON, cwd=project, PDM_VENV_IN_PROJECT="0")
    python = Path((project / ".pdm-python").read_text(encoding="utf-8"))
    before = tree(managed_home.folder, project)

    found = await ask(project, home)

    assert found == [Answer("pdm", python, "pdm's environment")]
    assert python.is_relative_to(managed_home.folder)
    assert tree(managed_home.folder, project) == before


@pytest.mark.anyio
async def test_a_python_that_does_not_see_pdms_packages_is_told(managed_home: Home, project: Path) -> None:
    (project / "__pypackages__").mkdir()
    managed_home.run("pdm", "use", "--first", BASE_PYTHON, cwd=project, PDM_USE_VENV="0")

    (answer,) = await ask(project, managed_home)

    assert answer.python is not None
    assert answer.python.samefile(BASE_PYTHON)
    assert answer.problem is not None
    assert "__pypackages__" in answer.problem


@pytest.mark.anyio
async def test_an_environment_beside_old_packages_of_pdms_is_taken(home: Home, project: Path) -> None:
    python = home.make(home.folder / "env")
    (project / "__pypackages__").mkdir()
    (project / ".pdm-python").write_text(f"{python}\n", encoding="utf-8")

    assert await ask(project, home) == [Answer("pdm", python, "pdm's environment")]


@pytest.mark.anyio
@pytest.mark.parametrize("content", ["", " \n", "\x00", "/no/such/python", "/" + "x" * 5000, "\ud800"])
async def test_a_choice_of_pdms_that_leads_nowhere_is_told(home: Home, project: Path, content: str) -> None:
    (project / ".pdm-python").write_text(content, encoding="utf-8", errors="surrogatepass")

    assert await ask_in_vain(project, home)


@pytest.mark.anyio
async def test_a_project_for_which_pdm_has_chosen_nothing_is_told_and_left_alone(
    managed_home: Home, project: Path
) -> None:
    """`pdm info` would make an environment."""
    (project / "pdm.lock").touch()
    before = tree(managed_home.folder, project)

    problem = await ask_in_vain(project, managed_home)

    assert problem == "pdm has chosen no Python for this project yet"
    assert tree(managed_home.folder, project) == before


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        pytest.param("", "pdm add -dG test pytest", id="nowhere"),
        pytest.param("[project]\ndependencies = ['pytest']", "pdm install", id="main"),
        pytest.param("[dependency-groups]\nt = ['pytest']", "pdm install", id="group"),
        pytest.param("[tool.pdm.dev-dependencies]\nt = ['pytest']", "pdm install", id="own group"),
        pytest.param("[project.optional-dependencies]\nt = ['pytest']", "pdm install -G t", id="extra"),
    ],
)
def test_pdm_installs_what_is_declared_or_adds_it(tmp_path: Path, declared: str, line: str) -> None:
    lay(tmp_path, {"pyproject.toml": declared, ".pdm-python": ""})

    assert fix_line(tmp_path, []) == line


def test_pdm_locks_again_what_it_did_not_lock(tmp_path: Path) -> None:
    declared = PDM + "[project.optional-dependencies]\nt = ['pytest']"
    lay(tmp_path, {"pyproject.toml": declared, "pdm.lock": "[metadata]\ngroups = ['default', 's']\n"})
    unlocked = fix_line(tmp_path, [])
    lay(tmp_path, {"pdm.lock": "[metadata]\ngroups = ['default', 't']\n"})

    locked = fix_line(tmp_path, [])

    assert (unlocked, locked) == ("pdm lock -G :all && pdm install -G t", "pdm install -G t")
