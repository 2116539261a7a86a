"""Where hatch keeps environments: the real hatch is the oracle, but only the tests ask it."""

import json
import subprocess
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

import pytest

from pytest_mcp.python.files import read_manifest
from pytest_mcp.python.managers import KeptEnvironment, kept_by_hatch, kept_environments
from scripts.environments import ENVIRONMENTS
from tests.support.projects.managed import Home, tree

PROJECT = '[project]\nname = "The_Thing"\nversion = "1"\n'
MATRIX = '[[tool.hatch.envs.{name}.matrix]]\nfeature = ["one", "two"]\n'


@dataclass(frozen=True)
class Layout:
    """What a project, its hatch.toml, a user's settings and variables say, and the environments to be found then."""

    pyproject: str
    hatch_toml: str = ""
    settings: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ("default",)


LAYOUTS = {
    "usual": Layout(PROJECT + "[tool.hatch.envs.default]\n"),
    "without a project table": Layout("[tool.hatch.envs.default]\nskip-install = true\n"),
    "a file of its own": Layout(PROJECT, '[envs.default]\npath = "here"\n'),
    "for tests": Layout(PROJECT + "[tool.hatch.envs.test]\n", names=("default", "test")),
    "a matrix": Layout(PROJECT + MATRIX.format(name="hatch-test"), names=("hatch-test.one", "hatch-test.two")),
    "a path": Layout(PROJECT + '[tool.hatch.envs.default]\npath = "../beside/it"\n'),
    "a template's path": Layout(
        PROJECT + '[tool.hatch.envs.base]\npath = "base"\n[tool.hatch.envs.test]\ntemplate = "base"\n',
        names=("default", "test"),
    ),
    "a path that one shares with the others": Layout(PROJECT + '[tool.hatch.envs.default]\npath = "shared"\n'),
    "detached": Layout(
        PROJECT + '[tool.hatch.envs.default]\npath = "mine"\n[tool.hatch.envs.test]\ndetached = true\n',
        names=("default", "test"),
    ),
    "a folder in the project": Layout(
        PROJECT + "[tool.hatch.envs.test]\n", settings='[dirs.env]\nvirtual = ".hatch"\n', names=("default", "test")
    ),
    "a folder in the home": Layout(
        PROJECT + "[tool.hatch.envs.test]\n",
        settings='[dirs.env]\nvirtual = "~/.virtualenvs"\n',
        names=("default", "test"),
    ),
    "a folder elsewhere": Layout(PROJECT + "[tool.hatch.envs.test]\n", settings='[dirs.env]\nvirtual = "$HOME/x"\n'),
    "data elsewhere": Layout(PROJECT + "[tool.hatch.envs.test]\n", settings='[dirs]\ndata = "~/y"\n'),
    "data by a variable": Layout(PROJECT + "[tool.hatch.envs.test]\n", variables={"HATCH_DATA_DIR": "{home}/z"}),
    "data by the system's variable": Layout(
        PROJECT + "[tool.hatch.envs.test]\n", variables={"XDG_DATA_HOME": "{home}/xdg"}
    ),
    "a path by a variable": Layout(
        PROJECT + "[tool.hatch.envs.test]\n", variables={"HATCH_ENV_TYPE_VIRTUAL_PATH": "{home}/v"}
    ),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Pro_ject").mkdir()
    return tmp_path / "Pro_ject"


def written(project: Path, layout: Layout) -> dict[str, str]:
    """Write it all down; the variables that go with it."""
    project.mkdir(parents=True, exist_ok=True)
    (project / "pyproject.toml").write_text(layout.pyproject, encoding="utf-8")
    if layout.hatch_toml:
        (project / "hatch.toml").write_text(layout.hatch_toml, encoding="utf-8")
    (project.parent / "settings.toml").write_text(layout.settings, encoding="utf-8")
    return variables(project, layout)


def variables(project: Path, layout: Layout) -> dict[str, str]:
    home = str(project.parent / "home-of-this-test")
    return {
        "HATCH_CONFIG": str(project.parent / "settings.toml"),
        "HOME": home,
        **{name: value.format(home=home) for name, value in layout.variables.items()},
    }


# The same as the command, but it is imported once: every question is answered by a fork.
QUESTIONS = """
import json, os, sys
from pathlib import Path
import hatch.cli

for question in json.load(sys.stdin):
    if not os.fork():
        os.chdir(question["folder"])
        os.environ.clear()
        os.environ.update(question["variables"])
        sys.argv = ["hatch", "env", "find", question["name"]]
        os.dup2(os.open("answer", os.O_WRONLY | os.O_CREAT | os.O_APPEND), 1)
        hatch.cli.main()
        os._exit(0)
    os.wait()
"""


def hatch_finds(home: Home, layouts: dict[Path, Layout]) -> dict[Path, list[tuple[str, Path]]]:
    """Where the real hatch keeps the environments of these projects, by their names."""
    questions = [
        {"folder": str(project), "name": name, "variables": {**home.environment, **variables(project, layout)}}
        for project, layout in layouts.items()
        for name in layout.names
    ]
    python = ENVIRONMENTS["managers"].python
    subprocess.run([python, "-c", QUESTIONS], input=json.dumps(questions), text=True, check=True)
    told = {project: (project / "answer").read_text(encoding="utf-8").splitlines() for project in layouts}
    return {
        project: list(zip(layout.names, map(Path, told[project]), strict=True)) for project, layout in layouts.items()
    }


def test_an_environment_is_looked_for_where_hatch_would_make_it(managed_home: Home, tmp_path: Path) -> None:
    layouts = {tmp_path / name / "Pro_ject": layout for name, layout in LAYOUTS.items()}
    for project, layout in layouts.items():
        written(project, layout)
    expected = hatch_finds(managed_home, layouts)
    for _, prefix in chain.from_iterable(expected.values()):
        managed_home.make(prefix)

    found = {
        project: kept_by_hatch(read_manifest(project), {**managed_home.environment, **variables(project, layout)})
        for project, layout in layouts.items()
    }

    assert found == expected


@pytest.mark.parametrize(
    "options",
    [
        "[tool.hatch]\nenvs = 3\n",
        "[tool.hatch.envs]\ndefault = 3\n",
        "[tool.hatch.envs.test]\ntemplate = 3\npath = []\n",
        '[tool.hatch.envs.test]\ntemplate = "other"\n[tool.hatch.envs.other]\ntemplate = "test"\n',
        "[project]\nname = 3\n[tool.hatch.envs.test]\n",
    ],
    ids=["no table", "no environment", "other types", "a circle", "no name"],
)
def test_options_that_hatch_would_refuse_name_no_environment(home: Home, project: Path, options: str) -> None:
    (project / "pyproject.toml").write_text(options, encoding="utf-8")

    assert kept_by_hatch(read_manifest(project), home.environment) == []


async def test_what_hatch_has_made_is_found_and_hatch_is_not_started_for_it(
    managed_home: Home, project: Path, home: Home
) -> None:
    """Hatch itself would install the requirement, run the collector and write its settings anew."""
    content = PROJECT + "[tool.hatch.envs.default]\nskip-install = true\n"
    (project / "pyproject.toml").write_text(content, encoding="utf-8")
    managed_home.run("hatch", "env", "create", cwd=project, HOME=str(home.folder))
    dangerous = '[tool.hatch.env]\nrequires = ["no-such-thing"]\n[tool.hatch.env.collectors.custom]\n'
    (project / "pyproject.toml").write_text(content + dangerous, encoding="utf-8")
    (project / "hatch_plugins.py").write_text("raise SystemExit\n", encoding="utf-8")
    (home.folder / ".config" / "hatch" / "config.toml").unlink()
    before = tree(home.folder, project)

    found = await kept_environments(read_manifest(project), {**home.environment, "PATH": ""}, project)

    (python,) = home.folder.glob(".local/share/hatch/env/virtual/the-thing/*/the-thing/bin/python")
    assert found == [KeptEnvironment("hatch", "hatch's environment default", python)]
    assert tree(home.folder, project) == before


@pytest.mark.parametrize(
    "options",
    [r'path = "\u0000"', f'path = "{"x" * 5000}"'],
    ids=["no path", "a long path"],
)
async def test_what_no_file_system_could_hold_is_told(home: Home, project: Path, options: str) -> None:
    (project / "pyproject.toml").write_text(f"[tool.hatch.envs.default]\n{options}\n", encoding="utf-8")

    (answer,) = await kept_environments(read_manifest(project), home.environment, project)

    assert answer.python is None


async def test_a_project_without_an_environment_is_told(home: Home, project: Path) -> None:
    written(project, LAYOUTS["usual"])
    (project / "hatch.toml").touch()

    found = await kept_environments(read_manifest(project), home.environment, project)

    assert [(answer.python, answer.problem is None) for answer in found] == [(None, False)]
