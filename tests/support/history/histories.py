"""Runs to record, and processes that record them. Without pytest, which these processes would have to import."""

import subprocess
import sys
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pytest_mcp.history.rows import RunRow, TestRow
from pytest_mcp.history.store import Store
from tests.support.paths import ROOT

DAY = 86_400
# A Thursday in 2026.
NOW = 1_790_000_000.0


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
from tests.support.history.histories import passing, run_row

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
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
