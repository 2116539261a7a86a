"""The fast start in a real process: what it imports, and how it ends."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.protocol import servers
from tests.support.protocol.dialogues import (
    DISCOVERED,
    ENVELOPED_LIST,
    INITIALIZED,
    LISTS,
    NO_TOOL,
    Message,
    initialize,
    line,
    request,
)
from tests.support.waiting import PATIENCE
from tests.support.workbench import Workbench

# Says at the end which modules there were when the front was done, or when nothing was served at all.
TELLING = """
import sys
from pytest_mcp.cli.main import main
from pytest_mcp.server import fast_start as front

def greet(*given, **named):
    real(*given, **named)
    sys.exit()

real, front.greet = front.greet, greet
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def modules_after(program: str, *arguments: str, said: bytes = b"") -> set[str]:
    done = subprocess.run([sys.executable, "-c", program, *arguments], input=said, capture_output=True, check=True)
    return set(done.stderr.decode().split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--help"], b""),
        (["--version"], b""),
        *[([], b"".join(map(line, messages))) for messages in (LISTS[0], LISTS[-1])],
    ],
)
def test_nothing_but_the_standard_library_is_loaded_for_the_first_answers(arguments: list[str], said: bytes) -> None:
    at_start = modules_after("import sys; print(*sys.modules, file=sys.stderr)")

    loaded = modules_after(TELLING, *arguments, said=said) - at_start

    packages = {name.partition(".")[0] for name in loaded}
    assert "pytest_mcp.server.fast_start" in loaded
    assert packages - sys.stdlib_module_names == {"pytest_mcp"}
    # Each of these costs more than all that the front does.
    assert not loaded & {"dataclasses", "inspect", "asyncio", "logging", "shutil", "traceback"}


@pytest.fixture
def server(bench: Workbench) -> Iterator["subprocess.Popen[bytes]"]:
    pipe = subprocess.PIPE
    with subprocess.Popen(servers.command(bench.root), stdin=pipe, stdout=pipe, stderr=pipe) as process:
        yield process
        process.kill()


def send(server: "subprocess.Popen[bytes]", *messages: Message) -> None:
    assert server.stdin is not None
    server.stdin.write(b"".join(map(line, messages)))
    server.stdin.flush()


def test_a_signal_ends_the_front_at_once(server: "subprocess.Popen[bytes]") -> None:
    assert server.stdout is not None
    assert server.stderr is not None
    send(server, initialize())
    server.stdout.readline()

    server.send_signal(signal.SIGINT)

    assert (server.wait(PATIENCE), server.stderr.read()) == (-signal.SIGINT, b"")


@pytest.mark.parametrize("first", [[], [initialize(), INITIALIZED, request(1, "tools/call", **NO_TOOL)]])
def test_a_client_that_listens_no_more_is_no_mistake(server: "subprocess.Popen[bytes]", first: list[Message]) -> None:
    """Neither to the front nor, after a first call, to the SDK."""
    assert server.stdout is not None
    assert server.stderr is not None
    if first:
        send(server, *first)
        server.stdout.readline()
        server.stdout.readline()

    server.stdout.close()
    send(server, initialize(2))

    assert (server.wait(PATIENCE), server.stderr.read()) == (0, b"")


def test_pipes_that_never_block_are_waited_for() -> None:
    (source, client), (server, target) = os.pipe(), os.pipe()
    for descriptor in (source, target):
        os.set_blocking(descriptor, False)
    # Less than one answer, so that the second part of it has to wait.
    fcntl.fcntl(target, fcntl.F_SETPIPE_SZ, 4096)
    program = f"import sys; from pytest_mcp.server.fast_start import greet; sys.exit(greet({source}, {target}) is None)"

    with subprocess.Popen([sys.executable, "-c", program], pass_fds=(source, target)) as process:
        os.close(target)
        os.write(client, DISCOVERED[0])
        with os.fdopen(server, "rb") as answers:
            told = [answers.readline()]
            os.write(client, ENVELOPED_LIST[0])
            told += answers
    os.close(source)
    os.close(client)

    assert [json.loads(answer)["id"] for answer in told] == ["discover", "list"]
    assert process.returncode == 0
