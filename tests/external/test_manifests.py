"""`make manifests`: the programs that read our manifests take them, and see the server and the skill."""

import os
import subprocess
from pathlib import Path

import pytest

from scripts import bundle
from scripts.npm import PACKAGES, node
from tests.external.programs.programs import CLAUDE_CODE
from tests.support.paths import ROOT
from tests.support.protocol.servers import PROGRAM

pytestmark = pytest.mark.external(target="manifests")

CODEX = PACKAGES["codex"].file(".bin/codex")
GEMINI = PACKAGES["gemini-cli"].file(".bin/gemini")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def said(home: Path, program: Path, *arguments: str) -> str:
    """All that a program printed, in a home of its own and with our command on PATH."""
    path = os.pathsep.join([str(PROGRAM.parent), str(node().parent), "/usr/bin", "/bin"])
    done = subprocess.run(
        [program, *arguments],
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
    said(home, CLAUDE_CODE, "plugin", "validate", ".")
    said(home, CLAUDE_CODE, "plugin", "marketplace", "add", "./")
    said(home, CLAUDE_CODE, "plugin", "install", "pytest-mcp@pytest-mcp")

    assert "running-tests" in said(home, CLAUDE_CODE, "plugin", "details", "pytest-mcp@pytest-mcp")
    assert "Connected" in said(home, CLAUDE_CODE, "mcp", "list")


def test_codex_installs_the_plugin_with_its_server(home: Path) -> None:
    said(home, CODEX, "plugin", "marketplace", "add", "./")
    said(home, CODEX, "plugin", "add", "pytest-mcp@pytest-mcp")

    assert "pytest-mcp  -" in said(home, CODEX, "mcp", "list")


def test_gemini_cli_takes_the_extension(home: Path) -> None:
    assert "successfully validated" in said(home, GEMINI, "extensions", "validate", ".")


def test_the_bundle_is_packed_with_its_icon(tmp_path: Path) -> None:
    assert bundle.pack(tmp_path).stat().st_size > 0
