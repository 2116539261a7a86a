"""The line that installs pytest with pixi. It follows the documentation of pixi."""

from pathlib import Path

import pytest

from tests.support.projects.disk import fix_line, lay

PIXI = "[workspace]\nchannels = []\n"


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        pytest.param("", "pixi add pytest", id="nowhere"),
        pytest.param("[dependencies]\npytest = '*'", "pixi install", id="main"),
        pytest.param("[pypi-dependencies]\npytest = '*'", "pixi install", id="of the index"),
        pytest.param("[target.linux-64.dependencies]\npytest = '*'", "pixi add pytest", id="of a platform"),
        pytest.param("[feature.t.dependencies]\npytest = '*'", "pixi add pytest", id="feature of no environment"),
        pytest.param(
            "[feature.t.dependencies]\npytest = '*'\n[environments]\nci = ['t']",
            "pixi install --environment ci",
            id="feature",
        ),
        pytest.param(
            "[feature.t.pypi-dependencies]\npytest = '*'\n[environments]\ndefault = {features = ['t']}",
            "pixi install",
            id="feature of the default",
        ),
    ],
)
def test_pixi_installs_the_environment_that_declares_pytest(tmp_path: Path, declared: str, line: str) -> None:
    lay(tmp_path, {"pixi.toml": PIXI + declared})

    assert fix_line(tmp_path, []) == line


def test_groups_and_extras_of_a_pyproject_are_features_of_pixi(tmp_path: Path) -> None:
    environments = "[tool.pixi.environments]\nci = {features = ['g']}\n"
    lay(tmp_path, {"pyproject.toml": environments + "[dependency-groups]\ng = ['pytest']"})

    assert fix_line(tmp_path, []) == "pixi install --environment ci"
