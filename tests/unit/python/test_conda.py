"""What conda lists, and the line that installs pytest with it. It follows the documentation of conda."""

from pathlib import Path

import pytest

from pytest_mcp.python.managers import CONDA
from tests.support.projects.disk import environment, fix_line, lacking, lay


def test_a_list_for_conda_names_packages_of_conda_and_of_pip(tmp_path: Path) -> None:
    content = 'name: pytest\nchannels:\n  - conda-forge\ndependencies:\n- "A.b=1"\n- x/y::c 2\n- pip:\n    - D>=3\n'
    lay(tmp_path, {"environment.yml": content})

    assert CONDA.listed(tmp_path / "environment.yml") == {"conda-forge", "a-b", "c", "pip", "d"}


@pytest.mark.parametrize(
    ("content", "made", "updated"),
    [
        pytest.param(
            "dependencies:\n  - python\n  - conda-forge::pytest>=8\n",
            "conda env create --prefix .venv --file environment.yml",
            "conda env update --prefix {prefix} --file environment.yml",
            id="conda's",
        ),
        pytest.param(
            "dependencies:\n  - pip\n  - pip:\n    - 'pytest>=8'\n",
            "conda env create --prefix .venv --file environment.yml",
            "conda env update --prefix {prefix} --file environment.yml",
            id="pip's",
        ),
        pytest.param(
            "name: pytest\ndependencies:\n  - python\n",
            "conda env create --prefix .venv --file environment.yml && conda install --yes --prefix .venv pytest",
            "conda install --yes --prefix {prefix} pytest",
            id="nowhere",
        ),
    ],
)
def test_conda_makes_an_environment_where_it_is_found_or_brings_the_active_one_up_to_date(
    tmp_path: Path, content: str, made: str, updated: str
) -> None:
    root = lay(tmp_path / "project", {"environment.yml": content})
    prefix = environment(tmp_path / "active")
    (prefix / "conda-meta").mkdir()

    assert fix_line(root, []) == made
    assert fix_line(root, [lacking(prefix, "CONDA_PREFIX")]) == updated.format(prefix=prefix)


def test_a_list_for_conda_does_not_count_where_another_environment_lacks_only_pytest(tmp_path: Path) -> None:
    lay(tmp_path, {"environment.yml": "dependencies:\n  - pytest\n"})
    prefix = environment(tmp_path / ".venv", "pip")

    assert fix_line(tmp_path, [lacking(prefix)]) == ".venv/bin/python -m pip install pytest"
