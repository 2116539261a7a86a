"""The server on HTTP as its clients meet it: real processes, real sockets, both generations of the protocol."""

import json
import os
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.extension import advertise

from pytest_mcp.server import mcp_app
from pytest_mcp.server.fast_start import APPS
from pytest_mcp.tools import TOOLS
from scripts.environments import ENVIRONMENTS
from tests.support.commands.preloaded import typed
from tests.support.projects.hanging import hanging
from tests.support.projects.sources import SLOW_STEPS
from tests.support.protocol.hostile_server import GONE_SECONDS, HostileServer, within
from tests.support.protocol.hostile_web import ERAS, LEGACY, MODERN, TOKEN, HostileWeb
from tests.support.waiting import PATIENCE, until

MODES = {"legacy": LEGACY, MODERN: MODERN}
MIXED = {
    "test_mixed.py": """
        import pytest
        def test_fine(): print("gr\u00fc\u00df")
        def test_bad(): assert "\u00fc\\x1b" == None
        @pytest.mark.skip(reason="not today")
        def test_skipped(): pass
    """,
    "test_broken.py": "import not_there\n",
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("execute_tests", {"path": "test_mixed.py", "detail": "full", "color": True}),
    ("discover_tests", {}),
    ("execute_tests", {"path": "nowhere", "verbosity": 9}),
    ("execute_tests", {"node_ids": ["test_mixed.py::test_gone"]}),
    ("run_shell", {"command": "id"}),
    ("execute_tests", {"keywords": "gr\u00fc\u00df \x1b"}),
]


TIMES = re.compile(r"\d+\.\d+(e-\d+)?s?|pytest-mcp-[0-9a-f]{16}")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileWeb]:
    server = HostileWeb(tmp_path_factory.mktemp("web"))
    yield server
    server.close()


@pytest.fixture
def web(shelf: HostileWeb) -> HostileWeb:
    shelf.era = LEGACY
    return shelf


def url(web: HostileWeb) -> str:
    return f"http://127.0.0.1:{web.port}/mcp"


def timeless(reply: dict[str, Any]) -> list[str]:
    """What is in a reply, as it is written, without its times and the names of temporary folders."""
    result = reply.get("result", {})
    parts = [json.dumps(reply.get("error")), json.dumps(result.get("structuredContent")), result.get("content")]
    return [TIMES.sub("", str(part)) for part in parts]


def test_the_same_call_gets_the_same_answer_on_every_wire(
    web: HostileWeb, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stdio = HostileServer(tmp_path_factory.mktemp("stdio"), f"--root={web.root}").greeted()
    web.project(MIXED)

    answers = {"stdio": [timeless(stdio.reply(stdio.begin(name, **given))) for name, given in CALLS]}
    stdio.close()
    for era in ERAS:
        web.era = era
        answers[era] = [timeless(web.reply(web.begin(name, **given))) for name, given in CALLS]

    assert answers[LEGACY] == answers["stdio"]
    assert answers[MODERN] == answers["stdio"]


# What no JSON writer would send in the place of a path; read as it is read on stdio.
ODD = {"half of a character": rb"\ud800", "bad UTF-8": b"\xff"}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("what", ODD)
def test_text_that_is_none_is_a_fault_of_its_parameter(web: HostileWeb, what: str, era: str) -> None:
    web.era = era
    body = web.body("tools/call", {"name": "execute_tests", "arguments": {"path": "ODD"}})

    reply = web.open(body.replace(b"ODD", ODD[what]), web.headers()).answer()

    assert reply["error"]["code"] == -32602
    assert reply["error"]["data"]["field"] == "path"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_page_is_offered_to_clients_that_announce_it_with_every_request(web: HostileWeb, mode: str) -> None:
    """Without sessions, what a handshake announces is not known any more when the tools are listed."""
    announced = [advertise(APPS, {"mimeTypes": [mcp_app.MIME_TYPE]})]
    async with Client(url(web), mode=mode, extensions=announced) as client:
        has_resources = client.server_capabilities.resources is not None
        tools = (await client.list_tools()).tools

    assert has_resources == any("ui" in (tool.meta or {}) for tool in tools) == (mode != "legacy")


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
async def test_progress_is_live_for_the_official_client(web: HostileWeb, mode: str) -> None:
    web.project({"tests/test_steps.py": SLOW_STEPS, "tests/go0": ""})
    notes: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        notes.append((progress, total, message))
        (web.root / "tests" / f"go{int(progress)}").touch()

    async with Client(url(web), mode=mode) as client:
        with anyio.fail_after(PATIENCE):
            answer = await client.call_tool("execute_tests", {}, progress_callback=on_progress)

    assert answer.structured_content["summary"]["total"] == 4
    assert [progress for progress, _, _ in notes][:3] == [1, 2, 3]
    assert notes[0] == (1, 4, "1/4 · 0 failed · tests/test_steps.py")


@pytest.mark.anyio
@pytest.mark.parametrize("mode", MODES)
async def test_a_run_ends_when_the_official_client_cancels_or_at_the_latest_when_it_leaves(
    web: HostileWeb, mode: str
) -> None:
    """A client of the older protocol sends word of it on another connection, which nobody can match with the run."""
    web.project({"tests/test_steps.py": SLOW_STEPS})

    async with Client(url(web), mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "execute_tests", {})
            await until((web.root / "tests" / "at0").exists)
            tasks.cancel_scope.cancel()
        if mode == "legacy":
            assert web.leftovers()
        else:
            await until(lambda: not web.leftovers())

    await until(lambda: not (web.leftovers() or web.folders()))


V1_CLIENT = """
import asyncio, json, sys
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError

async def main():
    async with streamablehttp_client(sys.argv[1]) as (*streams, _), ClientSession(*streams) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        ran = await session.call_tool("execute_tests", {})
        try:
            await session.call_tool("execute_tests", {"path": "nowhere"})
        except McpError as error:
            print(json.dumps([tools, ran.structuredContent["verdict"], error.error.code]))

asyncio.run(main())
"""


def test_the_previous_generation_of_the_official_client_is_served(web: HostileWeb) -> None:
    web.project({"test_fine.py": "def test_fine(): pass\n"})

    told = subprocess.run(
        [ENVIRONMENTS["mcp-1"].python, "-c", V1_CLIENT, url(web)],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )

    assert json.loads(told.stdout) == [[tool.name for tool in TOOLS], "passed", -32602]


# --- the end -------------------------------------------------------------------------------------

# Without the time that is given to runs which are nearly done.
PARTING = """
import sys
from pytest_mcp.cli.main import main
from pytest_mcp.server.http import app
app.PARTING_SECONDS = 0.1
sys.exit(main())
"""


@pytest.mark.parametrize(("era", "name"), [(LEGACY, "SIGTERM"), (MODERN, "SIGTERM"), (LEGACY, "SIGINT")])
def test_a_server_that_is_told_to_stop_answers_its_calls_and_leaves_nothing(
    tmp_path: Path, era: str, name: str
) -> None:
    web = HostileWeb(tmp_path, "--max-runs=1", program=("-c", PARTING))
    web.era = era
    numbers = [hanging(web), web.begin()]

    web.process.send_signal(signal.Signals[name])
    answers = [web.reply(number) for number in numbers]

    assert [answer["error"]["data"]["error_type"] for answer in answers] == ["interrupted", "interrupted"]
    web.assert_gone()
    assert web.process.returncode == 0
    assert len(web.log.read_text().splitlines()) == 1
    web.close()


# The answer of a run is made by a thread that never comes to an end.
FOLDING = """
import pathlib
from pytest_mcp.report import result

def executed(run):
    pathlib.Path("folding").touch()
    while True: pass

result.executed = executed
"""


def test_a_server_that_is_told_to_stop_does_not_wait_for_an_answer_in_the_making(tmp_path: Path) -> None:
    web = HostileWeb(tmp_path, program=("-c", FOLDING + PARTING))
    web.project({"test_a.py": "def test_a(): pass\n"})
    number = web.begin()
    within(PATIENCE, (tmp_path / "folding").exists)

    web.process.send_signal(signal.SIGTERM)
    answer = web.reply(number)

    assert answer["error"]["data"]["error_type"] == "interrupted"
    assert web.process.wait(PATIENCE) == 0
    web.assert_gone()
    web.close()


def test_whoever_tells_it_twice_has_it_at_once(tmp_path: Path) -> None:
    web = HostileWeb(tmp_path)
    hanging(web)

    web.process.send_signal(signal.SIGINT)
    within(GONE_SECONDS, lambda: refuses_connections(web))
    web.process.send_signal(signal.SIGINT)

    web.assert_gone()
    assert web.process.returncode == -signal.SIGINT
    web.close()


def refuses_connections(web: HostileWeb) -> bool:
    try:
        web.connect().close()
    except ConnectionRefusedError:
        return True
    return False


# --- the start -----------------------------------------------------------------------------------


def started(*flags: str, cwd: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """A server that should refuse to start."""
    return typed(*flags, cwd=cwd, env={"PATH": os.environ["PATH"], **environment})


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        done = started(f"--http={port}", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pytest-mcp: Cannot serve on 127.0.0.1:{port}: Address already in use.\n"


@pytest.mark.parametrize(
    ("flags", "environment"),
    [
        (["--http=0.0.0.0:0"], {}),
        (["--http=0.0.0.0:0"], {"PYTEST_MCP_TOKEN": TOKEN}),
        (["--http=0.0.0.0:0", "--allowed-hosts=name"], {}),
        (["--http=[::]:0", "--allowed-hosts=name"], {}),
        (["--http=0", "--token-file=/no/such/file"], {}),
        (["--http=0", "--token-file=/dev/null"], {}),
        (["--http=0"], {"PYTEST_MCP_TOKEN": "too short"}),
        (["--http=0"], {"PYTEST_MCP_TOKEN": ""}),
        (["--http=0"], {"PYTEST_MCP_TOKEN": f"{TOKEN}\x1b"}),
        (["--http=0", "--allowed-hosts=http://name"], {}),
        (["--http=nonsense:nonsense"], {}),
        (["--http=1.2.3.4:0", "--allowed-hosts=name"], {"PYTEST_MCP_TOKEN": TOKEN}),
        ([f"--http={'a' * 100}.example:0", "--allowed-hosts=name"], {"PYTEST_MCP_TOKEN": TOKEN}),
        (["--http=999.999.999.999:0", "--allowed-hosts=name"], {"PYTEST_MCP_TOKEN": TOKEN}),
    ],
)
def test_what_must_not_or_cannot_be_served_is_one_sentence(
    tmp_path: Path, flags: list[str], environment: dict[str, str]
) -> None:
    done = started(*flags, cwd=tmp_path, **environment)

    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"pytest-mcp: [^\n]+\.\n", done.stderr)
    assert TOKEN not in done.stderr


def test_a_server_that_is_open_to_others_answers_to_its_names_and_its_token(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN, encoding="ascii")
    folder = tmp_path / "server"
    folder.mkdir()
    web = HostileWeb(folder, "--http=0.0.0.0:0", "--allowed-hosts=tests.example", f"--token-file={file}")
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    named = {"Host": "tests.example"}

    statuses = [
        web.post(ping).status,
        web.post(ping, named).status,
        web.post(ping, {**named, "Authorization": f"Bearer {TOKEN}"}).status,
    ]
    web.close()

    assert statuses == [421, 401, 200]


def on_ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not on_ipv6(), reason="this machine has no IPv6")
def test_the_newer_loopback_is_served_too(tmp_path: Path) -> None:
    web = HostileWeb(tmp_path, "--http=[::1]:0")

    with socket.create_connection(("::1", web.port), PATIENCE) as connection:
        connection.sendall(b"GET /healthz HTTP/1.0\r\nHost: [::1]\r\n\r\n")
        said = connection.makefile("rb").read()
    web.close()

    assert said.endswith(b"ok\n")


# --- what is told ----------------------------------------------------------------------------------


def test_every_call_is_one_line_of_the_log_without_its_contents(tmp_path: Path) -> None:
    web = HostileWeb(tmp_path, "--log-level=info")
    web.project({"test_a.py": SLOW_STEPS, "test_secret.py": "def test_secret(): assert 0, 'secret'\n"})
    web.call(path="test_secret.py")
    web.call("discover_tests")
    web.call("secret", secret="secret")
    number = web.begin(path="test_a.py")
    within(GONE_SECONDS, (web.root / "at0").exists)
    web.cancel(number)
    within(GONE_SECONDS, lambda: len(lines(web)) == 4)
    web.close()

    told = [{key: line[key] for key in line if key not in ("time", "seconds")} for line in lines(web)]

    call = {"level": "info", "logger": "pytest_mcp.server.telemetry", "message": "call", "client": "unknown"}
    counts = {"total": 1, "passed": 0, "failed": 1, "skipped": 0, "errors": 0}
    assert told == [
        call | {"tool": "execute_tests", "outcome": "answered", "verdict": "failed"} | counts,
        call | {"tool": "discover_tests", "outcome": "answered", "count": 5, "collection_errors": 0},
        call | {"tool": "unknown", "outcome": "failed", "code": -32602},
        call | {"tool": "execute_tests", "outcome": "cancelled"},
    ]
    assert "secret" not in web.log.read_text().replace(str(tmp_path), "")


def lines(web: HostileWeb) -> list[dict[str, Any]]:
    _announcement, *rest = web.log.read_text().splitlines()
    return [line for line in map(json.loads, rest) if line["message"] == "call"]
