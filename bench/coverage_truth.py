"""Whether `coverage: all` says what `coverage json` says on real libraries: `python -m bench.coverage_truth [NAME...]`.

Each suite runs once under `coverage run`, then by pytest-mcp in one process, with workers, and with pytest-cov in
addopts. Every file, line and branch is compared. coverage.py, pytest-cov and pytest-xdist are on PYTHONPATH, so the
environments of the libraries stay as they are. It ends with an error if anything differs.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.shell import ENVIRONMENT
from bench.tokens.cache import FOLDER
from bench.tokens.real.checkouts import Checkout, pip
from bench.tokens.real.libraries import LIBRARIES

# Their source is imported from the working directory, so a copy of them can be measured.
CHOSEN = ("boltons", "sqlparse", "pyjwt")
PACKAGES = ("coverage==7.17.2", "pytest-cov==7.1.0", "pytest-xdist==3.8.0")
TOOLS = FOLDER / "coverage"
SETTINGS = "[run]\nbranch = True\nsource = {}\n"
WAYS: Mapping[str, tuple[str, list[str]]] = {
    "in one process": ("", []),
    "with 2 workers": ("", ["--workers=2"]),
    "by pytest-cov": ("--cov --cov-report=html", []),
}

Gaps = dict[str, tuple[list[int], list[str]]]


def prepare() -> None:
    """Without pytest itself: that of the library's environment is used."""
    if not TOOLS.exists():
        pip(sys.executable, "install", "--no-deps", f"--target={TOOLS}", *PACKAGES, "execnet", "pluggy")


def compared(checkout: Checkout, folder: Path) -> Iterator[tuple[str, bool, str]]:
    """The way, whether it agrees, and figures."""
    project = folder / "project"
    shutil.copytree(checkout.project, project)
    (project / ".coveragerc").write_text(SETTINGS.format(checkout.library.source), encoding="utf-8")
    variables = {**ENVIRONMENT, "PYTHONPATH": str(TOOLS)}
    ini = project / "pytest.ini"
    kept = ini.read_text("utf-8") if ini.exists() else None
    started = time.monotonic()
    truth = told(checkout, project, variables)
    expected, seconds = gaps_of(truth), time.monotonic() - started
    for way, (addopts, flags) in WAYS.items():
        if addopts and kept is None:
            continue
        if kept is not None:
            ini.write_text(f"{kept}\naddopts = {addopts}\n", encoding="utf-8")
        started = time.monotonic()
        answer = asked(checkout, project, variables, flags)
        took = time.monotonic() - started
        found = shown(answer)
        missed = sum(len(lines) for lines, _ in found.values())
        figures = f"{len(found)} files, {missed} lines, {sum(len(b) for _, b in found.values())} branches"
        agrees = found == expected and answer["percent"] == round(truth["totals"]["percent_covered"], 2)
        yield way, agrees, f"{figures}, {answer['percent']} %; {took:.1f} s, coverage run and json {seconds:.1f} s"


def told(checkout: Checkout, project: Path, variables: Mapping[str, str]) -> dict[str, Any]:
    for command in (["run", "-m", "pytest", "-q", checkout.library.tests], ["json", "-o", "told.json"]):
        argv = [str(checkout.python), "-m", "coverage", *command]
        subprocess.run(argv, cwd=project, env=dict(variables), capture_output=True, check=False)
    report: dict[str, Any] = json.loads((project / "told.json").read_text("utf-8"))
    for left in ("told.json", ".coverage"):
        (project / left).unlink()
    return report


def gaps_of(report: dict[str, Any]) -> Gaps:
    rows = {name: (entry["missing_lines"], branches(entry)) for name, entry in report["files"].items()}
    return {name: row for name, row in rows.items() if any(row)}


def branches(entry: dict[str, Any]) -> list[str]:
    return sorted(f"{line}->{target if target > 0 else 'exit'}" for line, target in entry["missing_branches"])


def asked(checkout: Checkout, project: Path, variables: Mapping[str, str], flags: list[str]) -> dict[str, Any]:
    before = {path for path in project.rglob("*") if "cache" not in str(path)}
    ours = [sys.executable, "-m", "pytest_mcp", f"--root={project}", f"--python={checkout.python}", "run", "--json"]
    argv = [*ours, "--coverage=all", "--detail=full", *flags, checkout.library.tests]
    done = subprocess.run(argv, env=dict(variables), capture_output=True, check=False)
    answer: dict[str, Any] = json.loads(done.stdout)
    left = {path for path in project.rglob("*") if "cache" not in str(path)} - before
    if left or "coverage" not in answer:
        raise SystemExit(f"{checkout.library.name}: left {left}, answered {done.stdout[-500:]!r}")
    coverage: dict[str, Any] = answer["coverage"]
    return coverage


def shown(coverage: dict[str, Any]) -> Gaps:
    return {file["file"]: (list(numbers(file["missed"])), sorted(file["branches"])) for file in coverage["files"]}


def numbers(ranges: Iterable[str]) -> Iterator[int]:
    for part in ranges:
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def main(names: Iterable[str]) -> int:
    prepare()
    differing = 0
    for name in names:
        checkout = Checkout(LIBRARIES[name])
        checkout.prepare()
        with tempfile.TemporaryDirectory(prefix="pytest-mcp-coverage-") as folder:
            for way, agrees, figures in compared(checkout, Path(folder)):
                print(f"{name:12} {way:16} {'equal' if agrees else 'DIFFERS':8} {figures}", flush=True)
                differing += not agrees
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or CHOSEN))
