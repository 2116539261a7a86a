"""The Python that pdm has chosen, with the real pdm, and the line that installs pytest.

Lines of each kind have been run in real projects, where pytest could then be imported.
"""

from pathlib import Path

import pytest

from pytest_mcp.python.manager import Answer
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
