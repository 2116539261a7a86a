"""One suite, run by the others: pytest in a shell, pytest-receptor and rtk. What each prints, and what pytest shows
for each failure.
"""

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.shell import ENVIRONMENT
from bench.tokens.real.checkouts import TOOLS, Checkout

QUIET = "pytest -q"
SHORT = "pytest -q --tb=short"
RECEPTOR = "receptor"
RTK = "rtk"
WAYS = (QUIET, SHORT, RECEPTOR, RTK)

PROBE = Path(__file__).with_name("probe.py")
# A mutant can make an endless loop; every suite takes seconds.
MAX_RUN = 180


class Place(Protocol):
    """A project and the Python that runs its tests."""

    @property
    def project(self) -> Path: ...

    @property
    def python(self) -> Path: ...


@dataclass(frozen=True)
class Shown:
    """What pytest prints, and its text for each failure by node id (a file's path, where it cannot be imported)."""

    printed: str
    failures: dict[str, str]


@dataclass(frozen=True)
class Runs:
    """`full` is the text for each failure with whole diffs."""

    printed: dict[str, str]
    short: dict[str, str]
    full: dict[str, str]


def run_all(checkout: Checkout) -> Runs:
    tests = checkout.library.tests
    short = probed(checkout, "-q", "--tb=short", tests)
    printed = {
        QUIET: pytest(checkout, {}, "-q", tests),
        SHORT: short.printed,
        RECEPTOR: pytest(checkout, {"PYTHONPATH": str(TOOLS)}, "--receptor=llm", tests),
        RTK: rtk(checkout, tests),
    }
    return Runs(printed, short.failures, probed(checkout, "-vv", "--tb=short", tests).failures)


def probed(checkout: Place, *arguments: str, seconds: float = MAX_RUN) -> Shown:
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-probe-") as folder:
        (Path(folder) / "tokens_probe.py").write_bytes(PROBE.read_bytes())
        file = Path(folder) / "shown.json"
        argv: list[str | Path] = [checkout.python, "-m", "pytest", "-ptokens_probe", *arguments]
        printed = output(checkout, argv, {"PYTHONPATH": folder, "PROBE_FILE": str(file)}, seconds=seconds)
        return Shown(printed, json.loads(file.read_bytes()) if file.exists() else {})


def pytest(checkout: Checkout, variables: Mapping[str, str], *arguments: str) -> str:
    return output(checkout, [checkout.python, "-m", "pytest", *arguments], variables)


def rtk(checkout: Checkout, tests: str) -> str:
    """It finds pytest on PATH, and keeps a database in the home folder."""
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-rtk-") as home:
        path = os.pathsep.join([str(checkout.python.parent), ENVIRONMENT["PATH"]])
        variables = {"PATH": path, "HOME": home, "RTK_TELEMETRY_DISABLED": "1"}
        return output(checkout, [TOOLS / "bin" / "rtk", "pytest", tests], variables)


def output(checkout: Place, argv: list[str | Path], variables: Mapping[str, str], *, seconds: float = MAX_RUN) -> str:
    """Both streams."""
    done = subprocess.run(
        argv,
        cwd=checkout.project,
        env={**ENVIRONMENT, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=seconds,
        check=False,
    )
    return done.stdout.decode(errors="replace")
