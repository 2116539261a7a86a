"""A server on HTTP from its first line to its last: refusals to start, names and tokens, the log, and its end."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.support.commands.preloaded import typed
from tests.support.projects.hanging import hanging
from tests.support.protocol.hostile_server import GONE_SECONDS, within
from tests.support.protocol.hostile_web import LEGACY, MODERN, TOKEN, HostileWeb
from tests.support.waiting import PATIENCE

# Without the time that is given to runs which are nearly done.
PARTING = """
import sys
from pytest_mcp.cli.main import main
from pytest_mcp.server import http_server as app
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
from pytest_mcp.report import report

def executed(run, problem):
    pathlib.Path("folding").touch()
    while True: pass

report.execution_report = executed
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
        (["--http=0", "--token-file=/no/such/file"], {}),
        (["--http=0"], {"PYTEST_MCP_TOKEN": f"{TOKEN}\x1b"}),
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
