"""`make manifests`: the programs that read our manifests take them, and see the server and the skill."""

import os
import subprocess
from pathlib import Path

import pytest

from scripts import bundle
from scripts.npm import PACKAGES, node
from tests.support.paths import ROOT
from tests.support.protocol.servers import PROGRAM

pytestmark = pytest.mark.external(target="manifests")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def said(home: Path, packages: str, *command: str) -> str:
    """All that a program printed, in a home of its own and with our command on PATH."""
    path = os.pathsep.join([str(PROGRAM.parent), str(node().parent), "/usr/bin", "/bin"])
    program = PACKAGES[packages].file(".bin") / command[0]
    done = subprocess.run(
        [program, *command[1:]],
        cwd=ROOT,
        env={"PATH": path, "HOME": str(home), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_claude_code_installs_the_plugin_and_connects_to_its_server(home: Path) -> None:
    said(home, "claude-code", "claude", "plugin", "validate", ".")
    said(home, "claude-code", "claude", "plugin", "marketplace", "add", "./")
    said(home, "claude-code", "claude", "plugin", "install", "pytest-mcp@pytest-mcp")

    assert "running-tests" in said(home, "claude-code", "claude", "plugin", "details", "pytest-mcp@pytest-mcp")
    assert "Connected" in said(home, "claude-code", "claude", "mcp", "list")


def test_codex_installs_the_plugin_with_its_server(home: Path) -> None:
    said(home, "codex", "codex", "plugin", "marketplace", "add", "./")
    said(home, "codex", "codex", "plugin", "add", "pytest-mcp@pytest-mcp")

    assert "pytest-mcp  -" in said(home, "codex", "codex", "mcp", "list")


def test_gemini_cli_takes_the_extension(home: Path) -> None:
    assert "successfully validated" in said(home, "gemini-cli", "gemini", "extensions", "validate", ".")


def test_the_bundle_is_packed_with_its_icon(tmp_path: Path) -> None:
    assert bundle.pack(tmp_path).stat().st_size > 0
