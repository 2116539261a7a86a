"""Runs to record, processes that record them, and a PostgreSQL server for the tests."""

import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.history.rows import RunRow, TestRow
from pytest_mcp.history.store import Store

DAY = 86_400
# A Thursday in 2026.
NOW = 1_790_000_000.0
_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")


def run_row(**given: Any) -> RunRow:
    plain = RunRow(
        key=uuid.uuid4().hex,
        started=NOW,
        project="shop",
        root="/projects/shop",
        commit_id="c" * 40,
        state="5" * 64,
        dirty=0,
        selection="{}",
        verdict="passed",
        passed=1,
        failed=0,
        skipped=0,
        errors=0,
        duration=0.5,
        python="3.11.7",
        pytest="9.2.0",
        host="laptop",
    )
    return replace(plain, **given)


def passing(count: int) -> list[TestRow]:
    return [TestRow(f"tests/test_a.py::test_{number}", "P", 0.001) for number in range(count)]


def counts(store: Store) -> tuple[int, int, int]:
    """How many runs, tests and results there are."""
    runs, tests, results = (store.select(f"SELECT COUNT(*) FROM {name}")[0][0] for name in ("runs", "tests", "results"))
    return runs, tests, results


# Prints a line for each run as soon as it is stored.
_WRITER = """
import sys
from pytest_mcp.history.opening import open_store
from tests.support.histories import passing, run_row

address, runs, tests = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
for _ in range(runs):
    store, run = open_store(address), run_row(passed=tests)
    store.record(run, passing(tests))
    store.close()
    print(run.key, flush=True)
"""


def writer(address: str, *, runs: int, tests: int, before: Sequence[str] = ()) -> "subprocess.Popen[str]":
    """A process that records this many runs, one after the other."""
    command = [*before, sys.executable, "-c", _WRITER, address, str(runs), str(tests)]
    here = Path(__file__).parents[2]
    return subprocess.Popen(command, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL that only listens on a socket in a temporary folder. Skips where there can be none."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        as_user = _as_ordinary_user(Path(folder))
        data = f"{folder}/data"
        _check(
            [
                *as_user,
                f"{programs}/initdb",
                "-D",
                data,
                "-U",
                "history",
                "-A",
                "trust",
                "--no-sync",
                "--no-locale",
                "-E",
                "UTF8",
            ]
        )
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
