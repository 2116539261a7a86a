"""`python -m bench [ROW ...]`: measure, save the results and print them; see `--help`.

Every row is saved as soon as it is measured, so an interrupted run loses only its last row.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench import report, results
from bench.measures import BARE
from bench.results import Entry
from bench.rows import ROWS, TRIAL, Row, Scale

VERSIONS = "import platform, pytest; print(f'Python {platform.python_version()}, pytest {pytest.__version__}')"


def main(given: Sequence[str] | None = None) -> int:
    options = parsed(given)
    kept = results.load()
    if options.render:
        report.write(kept)
        return 0
    rows = [ROWS[name] for name in options.rows or ROWS]
    if options.trial:
        print(report.tables(dict(measure(row, TRIAL) for row in rows)))
        return 0
    for row in rows:
        name, entry = measure(row, Scale(rounds=options.rounds))
        kept[name] = entry
        results.save(kept)
        report.write(kept)
    print(report.tables(kept))
    return 0


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Measure the time of calls as a ratio to pytest in a shell."
    )
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"measure only these rows: {', '.join(ROWS)}")
    parser.add_argument(
        "--rounds", type=float, default=1.0, help="multiply the rounds of every row by this (default: 1)"
    )
    parser.add_argument(
        "--render", action="store_true", help="measure nothing; write the documents from the saved results"
    )
    parser.add_argument("--trial", action="store_true", help="one round with tiny suites; print, and save nothing")
    options = parser.parse_args(given)
    unknown = [name for name in options.rows if name not in ROWS]
    if unknown:
        parser.error(f"no such row: {', '.join(unknown)}; the rows are {', '.join(ROWS)}")
    return options


def measure(row: Row, scale: Scale) -> tuple[str, Entry]:
    print(f"{row.name}: {row.what} ...", end=" ", file=sys.stderr, flush=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-bench-") as folder:
        measurement = row.measured(Path(folder).resolve() / "project", scale)
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return row.name, Entry(datetime.now(UTC).date().isoformat(), machine(), measurement)


def machine() -> str:
    """What the figures depend on, and nothing that identifies the machine."""
    versions = subprocess.run([BARE.python, "-c", VERSIONS], capture_output=True, text=True, check=True).stdout.strip()
    return f"{versions}, {len(os.sched_getaffinity(0))} cores"


if __name__ == "__main__":
    sys.exit(main())
