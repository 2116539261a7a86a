"""What `timing` costs and how exact it is, on the suites of real libraries: `python -m bench.timing PYTHON FOLDER...`.

PYTHON has pytest, the pytest-durations plugin and what the libraries need; each FOLDER is a checkout. The cost is the
CPU time of pytest with `timing`, to that without, in turns. Fixtures are compared with what the plugin measures in the
same run, and phases with pytest's own durations. Prints a table; nothing is written.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.rounds import race
from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import Timing
from pytest_mcp.config.model import Options, configure
from pytest_mcp.process.job import LAUNCHER
from pytest_mcp.report.timing import timing_of
from pytest_mcp.run.command import build
from pytest_mcp.run.decode import parse
from pytest_mcp.run.ledger import Ledger

# Shorter fixtures differ by the time that measuring takes, in seconds.
LEAST = 0.02
HEAD = "| suite | tests | CPU with timing | fixtures | furthest from the plugin | sum of phases to pytest's | saving |"


def sampled(python: Path, root: Path, folder: Path, options: Sequence[str], *, timing: bool) -> tuple[Ledger, float]:
    """One run, as the server starts it, and its CPU seconds."""
    config = configure(Options(root=str(root)), {})._replace(pytest_options=tuple(options))
    request = ExecuteTests.model_validate({"timing": timing}, context=config.bounds)
    command = build(request, config, python, own_prefix=Path("/none"), collect_only=False)
    report = folder / "report"
    report.write_bytes(b"")
    (folder / "job.json").write_text(json.dumps(command.job), encoding="utf-8")
    before = os.times()
    subprocess.run(
        [python, LAUNCHER, folder], cwd=root, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=600
    )
    after = os.times()
    ledger = Ledger()
    for line in report.read_bytes().split(b"\n"):
        if (record := parse(line)) is not None:
            ledger.take(record)
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return ledger, spent


def cpu_seconds(python: Path, root: Path, folder: Path, *, timing: bool) -> float:
    return sampled(python, root, folder, ["--pytest-durations=0"], timing=timing)[1]


def of_plugin(file: Path) -> Mapping[str, float]:
    """The seconds of each fixture by its name."""
    seconds: dict[str, float] = defaultdict(float)
    categories = json.loads(file.read_text(encoding="utf-8"))["categories"]
    (fixtures,) = (rows for name, rows in categories.items() if "fixture" in name)
    for row in fixtures:
        seconds[row["name"].rpartition("::")[2]] += row["total"]
    return seconds


def deviations(timing: Timing, plugin: Mapping[str, float]) -> dict[str, float]:
    """Of each fixture that takes long enough, the ratio to what the plugin has measured."""
    ours: dict[str, float] = defaultdict(float)
    for fixture in timing.fixtures:
        ours[fixture.name] += fixture.seconds
    # For pytest a parameter of a test is a fixture too; the answer has none.
    return {name: ours[name] / seconds for name, seconds in plugin.items() if seconds >= LEAST and name in ours}


def row(python: Path, root: Path, rounds: int) -> str:
    with tempfile.TemporaryDirectory() as made:
        folder, exported = Path(made), Path(made, "plugin.json")
        ledger, _ = sampled(python, root, folder, [f"--pytest-durations-json={exported}"], timing=True)
        timing = timing_of(ledger)
        assert timing is not None
        ratios = deviations(timing, of_plugin(exported))
        seconds = partial(cpu_seconds, python, root, folder)
        variants = {"with": partial(seconds, timing=True), "without": partial(seconds, timing=False)}
        cost = race(variants, rounds=rounds).ratio("with", "without")
    furthest = max(ratios, key=lambda name: abs(ratios[name] - 1), default=None)
    phases = sum(part.seconds for part in timing.parts if part.name in ("setup", "call", "teardown"))
    of_pytest = sum(test.duration for test in ledger.tests.values())
    cells = [
        *(root.name, len(ledger.tests), f"{cost.median:.3f} ({cost.low:.3f} to {cost.high:.3f})", len(ratios)),
        "-" if furthest is None else f"`{furthest}` {ratios[furthest]:.3f}",
        *(f"{phases / of_pytest:.4f}", timing.saving),
    ]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.timing")
    parser.add_argument("python", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print(f"{HEAD}\n|{' --- |' * HEAD.count('|', 1)}", flush=True)
    for folder in options.folders:
        print(row(options.python.absolute(), folder.resolve(), options.rounds), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
