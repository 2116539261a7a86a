"""`make page`: the official inspector shows the page in its Apps view, in a real Chromium, of a server on HTTP."""

import os
import secrets
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from scripts.npm import NODE, PACKAGES, node
from tests.support.protocol import servers
from tests.support.workbench import Workbench

pytestmark = pytest.mark.external(target="page")

INSPECTOR = PACKAGES["inspector"]
FAILING = "def test_fine(): pass\ndef test_bad(): assert [1, 2] == [1, 3]\n"
# The inspector starts, connects and loads the page; a busy machine takes several seconds for each.
MILLISECONDS = 60_000


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


@contextmanager
def inspector(home: Path, token: str) -> Iterator[str]:
    """The address of an inspector that keeps everything in this folder."""
    port = free_port()
    ours = {
        "HOME": str(home),
        "CLIENT_PORT": str(port),
        "MCP_SANDBOX_PORT": "0",
        "MCP_APP_ORIGIN_PORT": "0",
        "MCP_AUTO_OPEN_ENABLED": "false",
        "MCP_STORAGE_DIR": str(home),
        "MCP_INSPECTOR_API_TOKEN": token,
        "MCP_INSPECTOR_SECRET_STORE": "memory",
    }
    command = [str(node()), str(INSPECTOR.file(".bin/mcp-inspector")), "--web"]
    with subprocess.Popen(
        command, cwd=home, env=os.environ | ours, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            # Ends without it if the inspector ends.
            assert any(address in line for line in process.stdout or ()), "the inspector is not served"
            yield address
        finally:
            process.terminate()


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, str]]:
    if not INSPECTOR.is_complete or not NODE.is_complete:
        pytest.skip("make page fetches the inspector")
    token = secrets.token_hex(16)
    with inspector(tmp_path, token) as address:
        yield address, token


def link(address: str, token: str, url: str) -> str:
    """What a person would click: connect, choose the tool and call it without arguments."""
    asked = {"serverUrl": url, "transport": "http", "openApp": "execute_tests", "appArgs": "e30"}
    return f"{address}/?{urlencode(asked | {'autoConnect': token, 'autoOpen': token})}"


def test_the_inspector_shows_the_page_and_runs_the_failures_again_from_it(
    browser: Any, bench: Workbench, web: tuple[str, str]
) -> None:
    bench.write({"test_a.py": FAILING})
    address, token = web
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(MILLISECONDS)

    # The inspector connects by `initialize`, after which HTTP has no sessions.
    with servers.serving(bench.root, bench.python, "--app=always") as url:
        page.goto(link(address, token, url))
        page.locator('[data-testid="apps-form"][data-app-status="ready"]').wait_for()
        shown = page.frame_locator("iframe").frame_locator("iframe")
        shown.locator(".banner.failed").wait_for()
        assert shown.locator(".row .outcome").all_text_contents() == ["failed"]
        bench.write({"test_a.py": FAILING.replace("3", "2")})
        shown.get_by_role("button", name="Run the failures again").click()
        shown.locator(".banner.passed").wait_for()

    assert shown.locator(".row .outcome").all_text_contents() == ["passed"]
    context.close()
