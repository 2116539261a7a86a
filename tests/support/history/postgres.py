"""A PostgreSQL server for the tests, and one that accepts connections and never answers."""

import os
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
_NO_TLS = b"N"
_WELCOME = b"R" + struct.pack("!ii", 8, 0) + b"Z" + struct.pack("!i", 5) + b"I"


@contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL that only listens on a socket in a temporary folder. Skips where there can be none."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        as_user = _as_ordinary_user(Path(folder))
        data = f"{folder}/data"
        settings = f"-D {data} -U history -A trust --no-sync --no-locale -E UTF8"
        _check([*as_user, f"{programs}/initdb", *settings.split()])
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off -c shared_buffers=4MB"
        control = [*as_user, f"{programs}/pg_ctl", "-D", data, "-w", "-s"]
        _check([*control, "-o", options, "-l", f"{folder}/log", "start"])
        try:
            yield f"postgresql://history:a-secret@/postgres?host={folder}"
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], check=False, capture_output=True)


def _programs() -> Path:
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    folders = [str(folder) for pattern in _PLACES for folder in sorted(Path("/").glob(pattern[1:]))]
    found = shutil.which("initdb", path=os.pathsep.join([*reversed(folders), os.environ.get("PATH", "")]))
    if found is None:
        pytest.skip("PostgreSQL is not installed")
    return Path(found).resolve().parent


def _as_ordinary_user(folder: Path) -> list[str]:
    """PostgreSQL refuses to run as the superuser."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL does not run as root, and setpriv is not here to become another user")
    os.chown(folder, 65534, 65534)
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def _check(command: Sequence[str]) -> None:
    # pg_ctl's server inherits the streams: with a pipe this would wait for its end.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as log:
        done = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=False)
        log.seek(0)
        if done.returncode != 0:
            pytest.skip(f"PostgreSQL cannot be started here: {log.read()[-300:]}")


@contextmanager
def silent_postgres(*, greets: bool) -> Iterator[str]:
    """Its URL. It is silent from the beginning, or after it has let the user in."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        open_connections: list[socket.socket] = []
        if greets:
            threading.Thread(target=_greet, args=(listener, open_connections), daemon=True).start()
        try:
            yield f"postgresql://team@127.0.0.1:{listener.getsockname()[1]}/tests"
        finally:
            for connection in open_connections:
                connection.close()


def _greet(listener: socket.socket, open_connections: list[socket.socket]) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            open_connections.append(connection)
            while len(asked := connection.recv(1024)) == 8:  # for encryption
                connection.sendall(_NO_TLS)
            if asked:
                connection.sendall(_WELCOME)
