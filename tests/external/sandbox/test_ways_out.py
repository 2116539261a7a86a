"""`make sandbox`: every way out of the sandboxes that `setup --sandbox` writes is closed, or is known to be open.

Deselected by default: srt and bubblewrap are not on every machine, and not everywhere may a user make namespaces.
"""

import ctypes
import fcntl
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import termios
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.external.sandbox.engines import Caged, own_address
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.external(target="sandbox")

SECRET, MEMORY = "secret of the outside", 0x70797465
CREATE, REMOVE, ADD_KEY, SESSION = 0o1600, 0, 248, -3
# Open, as SECURITY.md says. What runs in the project later is what its tests are for.
OPEN = {"a file of the project", "settings of another client", "a process that stays"}
OPEN |= {"the machine around a virtual one", "a key of the session"}
OF_ROOT = {"name the program for core dumps"} if os.getuid() == 0 else set[str]()
# A namespace does not hide a Unix socket in the project, which srt filters; it leaves shared memory and /proc/sys.
OPEN_BY = {"bwrap": OPEN | {"a socket in the project"}, "srt": OPEN | {"shared memory"} | OF_ROOT}


@pytest.fixture
def outside(cage: Caged) -> Iterator[dict[str, Any]]:
    """Something behind every way that is tried."""
    tmp_path = cage.home.parent
    folder, marker = tmp_path / "other", f"way-out-{os.getpid()}"
    folder.mkdir()
    (folder / "file").write_text(SECRET, encoding="utf-8")
    (cage.home / ".ssh").mkdir()
    (cage.home / ".ssh" / "id_test").write_text(SECRET, encoding="utf-8")
    libc = ctypes.CDLL(None)
    libc.syscall(ADD_KEY, b"user", b"way-out", SECRET.encode(), len(SECRET), SESSION)
    memory = libc.shmget(MEMORY, 4096, CREATE)
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("", 0)))
        for address in ("\0" + marker, str(tmp_path / "socket"), str(cage.project / "socket")):
            unix = stack.enter_context(socket.socket(socket.AF_UNIX))
            unix.bind(address)
            unix.listen()
        process = subprocess.Popen(
            ["/bin/sh", "-c", "sleep 600; exit", marker],
            env={**os.environ, "ONLY_OUTSIDE": "1"},
            start_new_session=True,
        )
        stack.callback(process.wait, PATIENCE)
        stack.callback(os.killpg, process.pid, signal.SIGKILL)
        stack.callback(libc.shmctl, memory, REMOVE, None)
        device = Path("/").stat().st_dev
        yield {
            "folder": str(folder),
            "secret": SECRET,
            "marker": marker,
            "pid": process.pid,
            "memory": MEMORY,
            "disk": [os.major(device), os.minor(device)],
            "port": server.getsockname()[1],
            "address": own_address() or "192.0.2.1",
            "socket": str(tmp_path / "socket"),
            "sleep": f"12345.{os.getpid()}",
        }


def _everything(*folders: Path) -> dict[str, bytes | None]:
    found = [path for folder in folders for path in (folder, *folder.rglob("*"))]
    return {str(path): path.read_bytes() if path.is_file() else None for path in found}


def _terminal(ours: int) -> None:
    os.setsid()
    fcntl.ioctl(ours, termios.TIOCSCTTY, 0)


def test_every_way_out_is_closed_or_known(cage: Caged, outside: dict[str, Any]) -> None:
    shutil.copy(Path(__file__).with_name("ways_out.py"), cage.project / "test_ways.py")
    (cage.project / "pytest.ini").write_text("[pytest]\npython_functions = tried\n", encoding="utf-8")
    (cage.project / "outside.json").write_text(json.dumps(outside), encoding="utf-8")
    places = (Path(outside["folder"]), cage.home / ".ssh", cage.project / ".git", cage.project / ".mcp.json")
    before, (_, theirs) = _everything(*places), pty.openpty()

    done = subprocess.run(
        [*cage.command, "call", "execute_tests", '{"detail": "tests", "max_tokens": 60000, "show_capture": false}'],
        cwd=cage.project,
        env=cage.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: _terminal(theirs),
    )

    assert '"tests"' in done.stdout, done
    answer = json.loads(done.stdout)
    outcomes = {test["node_id"].partition("[")[2][:-1]: test["outcome"] for test in answer["tests"]}
    assert {way for way, outcome in outcomes.items() if outcome == "passed"} == OPEN_BY[cage.engine]
    assert len(outcomes) == answer["summary"]["total"] > 50
    assert _everything(*places) == before
    assert not [each for each in Path("/proc").glob("[0-9]*/cmdline") if outside["sleep"].encode() in _read(each)]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # the process has ended
        return b""
