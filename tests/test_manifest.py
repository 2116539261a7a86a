"""A project is read by the files that its tools keep, and by nothing else."""

from pathlib import Path

import pytest

from pytest_mcp import manifest

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

    assert manifest.read(tmp_path).managers == (manager,)


@pytest.mark.parametrize(
    "content",
    ["", "[tool.hatch.version]\npath = 'x'\n", "[tool]\nuv = 3\n", "not = [toml", "\x00", "a = " + "[" * 5000],
    ids=["empty", "built with hatchling", "no table", "unparsable", "no text", "deep"],
)
def test_a_pyproject_that_names_no_manager_is_no_sign(tmp_path: Path, content: str) -> None:
    (tmp_path / "pyproject.toml").write_text(content, encoding="utf-8")

    assert manifest.read(tmp_path).managers == ()


def test_a_file_in_another_encoding_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe[\x00")

    assert manifest.read(tmp_path).pyproject == {}


def test_the_nearest_folder_with_a_manager_rules_and_nothing_above_the_root_does(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "services" / "a" / "tests").mkdir(parents=True)
    (tmp_path / "Pipfile").touch()
    (root / "services" / "a" / "uv.lock").touch()

    inside = manifest.nearest(root / "services" / "a" / "tests", root)
    beside = manifest.nearest(root / "services", root)

    assert (inside.folder, inside.managers) == (root / "services" / "a", ("uv",))
    assert (beside.folder, beside.managers) == (root, ())
