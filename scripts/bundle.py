"""Build the bundle for desktop clients, pack it with the official program, and test it.

One `.mcpb` file, of the manifest in `packaging/mcpb` and the sources. It contains no dependencies and nothing
compiled: the client's uv installs the dependencies for its own system.
"""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters

from scripts.demo import copy_example
from scripts.environments import PACKAGE
from scripts.manifests import ABOUT
from scripts.npm import PACKAGES, node

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ROOT / "packaging" / "mcpb" / "manifest.json"
MCPB = PACKAGES["mcpb"]
# What uv installs the server from, in addition to the manifest.
CONTENT = ("LICENSE", "README.md", "pyproject.toml", "src/pytest_mcp")
# Node packs in a second; this only ends a process that hangs.
STEP_SECONDS = 60
# Before the first answer uv may have to download every dependency.
TRIAL_SECONDS = 300
# The official library's way to turn a manifest and the user's settings into a command.
RESOLUTION = """\
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
const [manifest, extensionPath, userConfig] = JSON.parse(process.argv[1]);
const options = { manifest, extensionPath, userConfig, systemDirs: {}, pathSeparator: "/" };
console.log(JSON.stringify(await getMcpConfigForManifest(options)));
"""


class Unfit(Exception):
    """The packed server does not match the manifest; the message says how."""


def pack(into: Path) -> Path:
    """Validate and pack; the file name has the name and the version of the manifest."""
    said = manifest(MANIFEST.parent)
    file = into / f"{said['name']}-{said['version']}.mcpb"
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-bundle-") as folder:
        put_together(Path(folder))
        mcpb("validate", Path(folder) / MANIFEST.name)
        mcpb("pack", folder, file)
    return file


def put_together(folder: Path) -> None:
    shutil.copy(MANIFEST, folder)
    shutil.copy(ROOT / ABOUT["icon"], folder / "icon.png")
    for name in CONTENT:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)


def try_out(file: Path) -> str:
    """Unpack the bundle, start it as a client would, and call it; raises Unfit."""
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-bundle-") as folder:
        unpacked = Path(folder) / "bundle"
        mcpb("unpack", file, unpacked)
        project = copy_example(Path(folder))
        return asyncio.run(ask(unpacked, project))


async def ask(unpacked: Path, project: Path) -> str:
    said = manifest(unpacked)
    command = resolved(said, unpacked, {"project": str(project)})
    server = StdioServerParameters(**command, env=environment(), cwd=unpacked.parent)
    try:
        async with asyncio.timeout(TRIAL_SECONDS), Client(server) as client:
            tools = [{"name": tool.name, "description": tool.description} for tool in (await client.list_tools()).tools]
            answer = (await client.call_tool("discover_tests", {})).structured_content
            version = client.server_info and client.server_info.version
    except (MCPError, TimeoutError) as error:
        raise Unfit(f"the packed server, started with {command}, does not answer: {error!r}") from error
    if (version, tools) != (said["version"], said["tools"]):
        raise Unfit(f"the manifest has {said['version']} with {said['tools']}, the server is {version} with {tools}")
    if not isinstance(answer, dict) or not answer["count"]:
        raise Unfit(f"the packed server finds no tests in the example: {answer}")
    return f"version {version} answers and finds {answer['count']} tests in the example"


def manifest(folder: Path) -> Any:
    return json.loads((folder / MANIFEST.name).read_text(encoding="utf-8"))


def mcpb(*arguments: str | Path) -> None:
    run(MCPB.file(".bin/mcpb"), *arguments)


def resolved(said: Any, folder: Path, settings: dict[str, str]) -> Any:
    return json.loads(run("--input-type=module", "-e", RESOLUTION, json.dumps([said, str(folder), settings])))


def run(*argv: str | Path) -> str:
    """What Node prints; raises Unfit if it fails. Imports are resolved in its working folder, so paths are absolute."""
    command = [node(), *argv]
    done = subprocess.run(
        command, cwd=MCPB.folder, capture_output=True, encoding="utf-8", check=False, timeout=STEP_SECONDS
    )
    if done.returncode != 0:
        raise Unfit(f"node {Path(argv[0]).name} {argv[1]} failed: {done.stdout}{done.stderr}")
    return done.stdout


def environment() -> dict[str, str]:
    """The current environment with uv on PATH: a desktop client has its own uv."""
    return os.environ | {"PATH": f"{PACKAGE.python.parent}{os.pathsep}{os.environ['PATH']}"}
