"""The session of docs/http.md, run as it is printed there, and what an operator sees of it."""

import json
import os
import re
import shutil
import socket
import subprocess
from typing import Any, NamedTuple

import pytest

from pytest_mcp.tools import TOOLS
from scripts.environments import ENVIRONMENTS
from tests.support.paths import ROOT
from tests.support.protocol.servers import PROGRAM
from tests.support.waiting import PATIENCE

DOCUMENT = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
PORT = "8000"


def commands(heading: str) -> list[str]:
    """The lines with a prompt in the first block below this heading."""
    block = DOCUMENT.partition(f"\n## {heading}\n")[2].partition("```console\n")[2].partition("```")[0]
    return re.findall(r"^\$ (.+)$", block, re.MULTILINE)


def free_port() -> str:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return str(probe.getsockname()[1])


class Session(NamedTuple):
    printed: list[str]
    log: list[dict[str, Any]]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """Only the port is another one; `wait` at the end makes sure that the server has ended."""
    if shutil.which("curl") is None or shutil.which("openssl") is None:
        pytest.skip("needs curl and openssl")
    project = tmp_path_factory.mktemp("project")
    (project / "test_one.py").write_text("def test_fine(): pass\n", encoding="utf-8")
    *opening, ending = commands("A session with curl")
    lines = [*opening, *commands("Metrics"), ending, "wait"]
    operator = {"PYTHON": str(ENVIRONMENTS["pytest-9"].python), "METRICS": "1", "LOG_LEVEL": "info"}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines).replace(PORT, free_port())],
        cwd=project,
        env=os.environ
        | {f"PYTEST_MCP_{name}": value for name, value in operator.items()}
        | {"PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    log = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return Session(done.stdout.splitlines(), log)


def test_the_session_of_the_document_works_as_it_stands(session: Session) -> None:
    healthy, tools, answer, counted = session.printed

    assert healthy == "ok"
    assert [tool["name"] for tool in json.loads(tools)["result"]["tools"]] == [tool.name for tool in TOOLS]
    assert json.loads(answer)["result"]["structuredContent"]["verdict"] == "passed"
    assert f"\n{counted}\n" in DOCUMENT


def test_the_log_has_the_start_the_call_with_its_client_and_the_stop(session: Session) -> None:
    started, call, stopping, stopped = session.log

    assert (started["message"], started["transport"]) == ("started", "http")
    assert (call["message"], call["tool"], call["client"].partition("/")[0]) == ("call", "execute_tests", "curl")
    assert (stopping["message"], stopping["signal"], stopping["calls"]) == ("stopping", "SIGTERM", 0)
    assert stopped["message"] == "stopped"
