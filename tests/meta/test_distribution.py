"""What is handed out fits together: one version, one name, the rules of others, and files that are there."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from jsonschema import Draft7Validator

from pytest_mcp import __version__
from pytest_mcp.api.results import ExecuteResult, ExplainResult, FailureGroup, Omitted, Verdict
from pytest_mcp.config.options import SETTINGS
from pytest_mcp.tools import TOOLS
from scripts import bundle
from scripts.manifests import manifests
from tests.support.paths import ROOT

SOURCES = ROOT / "src" / "pytest_mcp"
RULES = ROOT / "tests" / "data"
SKILL = ROOT / "skills" / "running-tests" / "SKILL.md"
PLUGINS = [
    ROOT / name / "plugin.json" for name in (".claude-plugin", ".codex-plugin", ".cursor-plugin", ".github/plugin")
]
GEMINI = ROOT / "gemini-extension.json"
CONTAINER = ROOT / "packaging" / "Containerfile"
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
# hatchling builds in half a second; this only ends one that hangs.
MAX_BUILD = 60


def loaded(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SERVER = loaded(ROOT / "server.json")
MANIFEST = loaded(bundle.MANIFEST)
MARKETPLACE = loaded(ROOT / ".claude-plugin" / "marketplace.json")
FLAGS = {setting.flag for setting in SETTINGS}


def faults(value: Any, rules: str) -> list[str]:
    return [error.message for error in Draft7Validator(loaded(RULES / rules)).iter_errors(value)]


def build(kind: str, *, source: Path, into: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", into],
        cwd=source,
        check=True,
        capture_output=True,
        timeout=MAX_BUILD,
    )
    (built,) = into.iterdir()
    return built


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def workflow(name: str) -> Any:
    return yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("wheel", source=ROOT, into=tmp_path_factory.mktemp("wheel"))


def test_every_manifest_is_what_the_one_source_of_them_says() -> None:
    """`make lint` compares those that are written; here, that none is left out."""
    named = {path for name in ("*plugin/*.json", "*.json", "packaging/**/*.json") for path in ROOT.glob(name)}

    assert {*manifests()} == {*named, ROOT / ".github" / "plugin" / "plugin.json"}
    assert all(loaded(path)["version"] == __version__ for path in (*PLUGINS, GEMINI))


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    files = {path for path in SOURCES.rglob("*") if path.is_file() and path.suffix != ".pyc"}

    packed = {name for name in names_in(wheel) if ".dist-info/" not in name}

    assert packed == {path.relative_to(SOURCES.parent).as_posix() for path in files}
    assert {"pytest_mcp/py.typed", "pytest_mcp/server/snapshot.json", "pytest_mcp/child/launcher.py"} <= packed


def source_distribution(folder: Path) -> Path:
    with tarfile.open(build("sdist", source=ROOT, into=folder / "sdist")) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"pytest_mcp_server-{__version__}"


def bundle_folder(folder: Path) -> Path:
    bundle.put_together(folder)
    assert (folder / MANIFEST["server"]["entry_point"]).is_file()
    return folder


def container_source(folder: Path) -> Path:
    """What the Containerfile copies, which must be what .dockerignore lets in."""
    let_in = set(re.findall(r"(?m)^!(.+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8")))
    copied = re.findall(r"(?m)^COPY (?!--from)(.+) /source", CONTAINER.read_text(encoding="utf-8"))
    assert {name for line in copied for name in line.split()} == let_in
    for name in let_in:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    return folder


@pytest.mark.parametrize("prepare", [source_distribution, bundle_folder, container_source])
def test_everything_that_is_handed_out_is_enough_to_build_the_same_wheel(
    prepare: Callable[[Path], Path], wheel: Path, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()

    again = build("wheel", source=prepare(source), into=tmp_path / "wheel")

    assert names_in(again) == names_in(wheel)


def test_the_listing_for_the_registry_obeys_its_rules_and_names_our_package_and_flags_that_exist() -> None:
    (package,) = SERVER["packages"]

    assert faults(SERVER, "server.schema.json") == []
    assert f"<!-- mcp-name: {SERVER['name']} -->\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert package["identifier"] == PROJECT["name"]
    # Launchers look for a command with the name of the distribution.
    assert PROJECT["name"] in PROJECT["scripts"]
    assert {argument["name"] for argument in package["packageArguments"]} <= FLAGS


def test_the_manifest_of_the_bundle_obeys_its_rules_and_names_our_tools() -> None:
    assert faults(MANIFEST, "mcpb-manifest.schema.json") == []
    assert MANIFEST["tools"] == [{"name": tool.name, "description": tool.description} for tool in TOOLS]


def test_every_setting_of_the_bundle_is_asked_for_and_used() -> None:
    arguments = MANIFEST["server"]["mcp_config"]["args"]

    used = re.findall(r"(--[a-z-]+)=\$\{user_config\.(\w+)\}", " ".join(arguments))

    assert {setting for _, setting in used} == set(MANIFEST["user_config"])
    assert {flag for flag, _ in used} <= FLAGS
    # Without a default, clients hand over the name of the variable instead of a value.
    assert all(entry["required"] or entry["default"] == "" for entry in MANIFEST["user_config"].values())


def test_every_plugin_starts_our_command_and_names_files_that_are_there() -> None:
    (listed,) = MARKETPLACE["plugins"]
    servers = loaded(GEMINI)["mcpServers"]

    assert ROOT / listed["source"] / ".claude-plugin" / "plugin.json" in PLUGINS
    for manifest in map(loaded, PLUGINS):
        assert (manifest["name"], manifest["description"]) == (listed["name"], listed["description"])
        assert loaded(ROOT / manifest["mcpServers"])["mcpServers"] == servers
        assert "./skills/" in manifest.get("skills", "./skills/")
        assert (ROOT / manifest.get("logo", "LICENSE")).is_file()
    assert [server["command"] for server in servers.values()] == ["pytest-mcp"]
    assert "pytest-mcp" in PROJECT["scripts"]
    assert loaded(ROOT / "examples" / "shop" / ".mcp.json")["mcpServers"] == servers


def test_the_skill_speaks_of_tools_parameters_and_keys_that_exist() -> None:
    parameters = {name for tool in TOOLS for name in tool.request.model_fields}
    keys = {name for shape in (ExecuteResult, ExplainResult, FailureGroup, Omitted) for name in shape.model_fields}
    known = {tool.name for tool in TOOLS} | parameters | keys | set(get_args(Verdict)) | {"pytest"}

    spoken_of = set(re.findall(r"`(\w+)", SKILL.read_text(encoding="utf-8")))

    assert spoken_of - known == set()
    assert {tool.name for tool in TOOLS[:2]} <= spoken_of


def test_the_container_runs_our_command_and_not_as_root() -> None:
    text = CONTAINER.read_text(encoding="utf-8")

    (started,) = re.findall(r'(?m)^ENTRYPOINT \["(.+)"\]$', text)

    assert Path(started).name in PROJECT["scripts"]
    assert re.findall(r"(?m)^USER (.+)$", text) == ["1000"]


@pytest.mark.parametrize("name", sorted(WORKFLOWS))
def test_a_workflow_has_few_rights_and_limits_and_runs_what_exists(name: str) -> None:
    jobs = workflow(name)["jobs"].values()
    steps = [step for job in jobs for step in job["steps"]]
    targets = re.findall(r"(?m)^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"))
    commands = " ".join(step["run"] for step in steps if "run" in step)

    assert workflow(name)["permissions"] in ({}, {"contents": "read"})
    assert all("timeout-minutes" in job for job in jobs)
    assert all(re.fullmatch(r"[\w./-]+@(v\d+|release/v1)", step["uses"]) for step in steps if "uses" in step)
    assert set(re.findall(r"\bmake (?:\w+=\w+ )?(\w+)", commands)) <= set(targets)
    assert all((ROOT / script).is_file() for script in re.findall(r"scripts/\w+\.py", commands))


def test_nothing_is_published_before_the_tag_was_checked_and_the_suite_was_green() -> None:
    jobs = workflow("publish")["jobs"]
    order = [step["run"].split()[:2] for step in jobs["build"]["steps"] if "run" in step]

    assert order == [["python", "scripts/release.py"], ["make", "PYTHON=python"], ["make", "PYTHON=python"]]
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "build": None,
        "index": "build",
        "release": "index",
        "registry": "index",
    }
