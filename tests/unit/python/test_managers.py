"""Which managers a project uses, in which order they are asked, and the Python that pdm, the real one, has chosen."""

from pathlib import Path

import pytest

from pytest_mcp.python.files import read_manifest
from pytest_mcp.python.install_lines import Situation, install_line
from pytest_mcp.python.managers import CONDA, MANAGERS, KeptEnvironment, Manager, nearest_managed, used_managers
from tests.support.projects.managed import BASE_PYTHON, Home, ask, ask_in_vain, asked, tree

SIGNS = {
    "uv": [("uv.lock", ""), ("pyproject.toml", "[tool.uv]\nmanaged = true\n")],
    "poetry": [("poetry.lock", ""), ("pyproject.toml", "[tool.poetry]\nname = 'x'\n")],
    "pdm": [("pdm.lock", ""), (".pdm-python", "/x"), ("pyproject.toml", "[tool.pdm]\ndistribution = true\n")],
    "hatch": [("hatch.toml", ""), ("pyproject.toml", "[tool.hatch.envs.default]\ndependencies = ['pytest']\n")],
    "pipenv": [("Pipfile", "")],
    "pixi": [("pixi.toml", ""), ("pyproject.toml", "[tool.pixi.workspace]\nchannels = []\n")],
    "conda": [("environment.yml", ""), ("environment.yaml", "")],
}


@pytest.mark.parametrize(
    ("manager", "file", "content"), [(name, *sign) for name, signs in SIGNS.items() for sign in signs]
)
def test_a_manager_is_known_by_each_of_its_signs(tmp_path: Path, manager: str, file: str, content: str) -> None:
    (tmp_path / file).write_text(content, encoding="utf-8")

    assert [each.name for each in used_managers(read_manifest(tmp_path))] == [manager]


@pytest.mark.parametrize("manager", [each for each in MANAGERS if each != CONDA], ids=lambda manager: manager.name)
def test_every_manager_has_a_line_that_installs(tmp_path: Path, manager: Manager) -> None:
    assert install_line(manager, Situation(tmp_path, tmp_path, read_manifest(tmp_path)))


@pytest.mark.parametrize(
    "content",
    ["", "[tool.hatch.version]\npath = 'x'\n", "[tool]\nuv = 3\n", "not = [toml", "\x00", "a = " + "[" * 5000],
    ids=["empty", "built with hatchling", "no table", "unparsable", "no text", "deep"],
)
def test_a_pyproject_that_names_no_manager_is_no_sign(tmp_path: Path, content: str) -> None:
    (tmp_path / "pyproject.toml").write_text(content, encoding="utf-8")

    assert used_managers(read_manifest(tmp_path)) == []


def test_the_nearest_folder_with_a_manager_rules_and_nothing_above_the_root_does(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "services" / "a" / "tests").mkdir(parents=True)
    (tmp_path / "Pipfile").touch()
    (root / "services" / "a" / "uv.lock").touch()

    inside = nearest_managed(root / "services" / "a" / "tests", root)
    beside = nearest_managed(root / "services", root)

    assert (inside.folder, beside.folder) == (root / "services" / "a", root)


async def test_the_answers_come_in_the_order_of_the_managers(home: Home, project: Path) -> None:
    for name in ("Pipfile", "hatch.toml", "pdm.lock", "poetry.lock", "uv.lock", "pixi.lock", "environment.yml"):
        (project / name).touch()

    found = await ask(project, home)

    assert [answer.manager for answer in found] == ["poetry", "pdm", "hatch", "pipenv"]
    assert [answer.python for answer in found] == [None] * 4


async def test_nothing_is_asked_of_a_manager_that_does_not_keep_the_project(home: Home, project: Path) -> None:
    for name in ("poetry", "pdm", "hatch", "pipenv"):
        home.program(name, f"echo x >> {home.folder}/asked")
    (project / "uv.lock").touch()

    assert await ask(project, home) == []
    assert asked(home) == 0


# pdm


async def test_the_python_that_pdm_has_chosen_is_found_without_pdm(
    managed_home: Home, project: Path, home: Home
) -> None:
    managed_home.run("pdm", "use", "--first", BASE_PYTHON, cwd=project, PDM_VENV_IN_PROJECT="0")
    python = Path((project / ".pdm-python").read_text(encoding="utf-8"))
    before = tree(managed_home.folder, project)

    found = await ask(project, home)

    assert found == [KeptEnvironment("pdm", "pdm's environment", python)]
    assert python.is_relative_to(managed_home.folder)
    assert tree(managed_home.folder, project) == before


async def test_a_python_that_does_not_see_pdms_packages_is_told(managed_home: Home, project: Path) -> None:
    (project / "__pypackages__").mkdir()
    managed_home.run("pdm", "use", "--first", BASE_PYTHON, cwd=project, PDM_USE_VENV="0")

    assert "__pypackages__" in await ask_in_vain(project, managed_home)


@pytest.mark.parametrize("content", ["", " \n", "\x00", "/" + "x" * 5000])
async def test_a_choice_of_pdms_that_leads_nowhere_is_told(home: Home, project: Path, content: str) -> None:
    (project / ".pdm-python").write_text(content, encoding="utf-8", errors="surrogatepass")

    assert await ask_in_vain(project, home)


async def test_a_project_for_which_pdm_has_chosen_nothing_is_told_and_left_alone(
    managed_home: Home, project: Path
) -> None:
    """`pdm info` would make an environment."""
    (project / "pdm.lock").touch()
    before = tree(managed_home.folder, project)

    problem = await ask_in_vain(project, managed_home)

    assert problem == "pdm has chosen no Python for this project yet"
    assert tree(managed_home.folder, project) == before
