"""Measures which lines the tests run, by the coverage.py of the project's environment and the project's own settings.

If the project's addopts start pytest-cov, pytest-cov measures, and only its data and reports are kept out of the
project. Otherwise coverage.py (5 and newer) is started here, before any code of the project is imported, as
`coverage run -m pytest` does. Workers of xdist do the same with the same folder. What is reported is, line for line,
what `coverage json` says. Loaded only for a job that asks for it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Callable, Generator, Iterator, NamedTuple

import pytest
from source_lines import ranges_of
from xdist_controller import COVERAGE

if TYPE_CHECKING:
    from channel import Channel

    from pytest_mcp.process.job import Job

OURS = os.path.dirname(os.path.abspath(__file__))
# coverage.py before 6.0 measures installed packages too if the settings name no source.
INSTALLED = ["*/site-packages/*", "*/dist-packages/*"]
# Where coverage.py's data goes, whatever the settings say.
VARIABLE = "COVERAGE_FILE"
# How many files are reported, those with the most missed lines first, and how much of each.
MAX_FILES = 2_000
MAX_RANGES = 1_000
# Instead of ranges: a file that the base lacks.
ALL_LINES = "all"


def begin(channel: Channel, job: Job, run_dir: str) -> Measurement | None:
    """Start to measure this process. None if there is no coverage.py, which is reported."""
    folder = os.path.join(run_dir, "coverage")
    os.mkdir(folder)
    try:
        library = import_coverage(job["root"])
    except Exception as error:  # noqa: BLE001 - a broken installation can raise anything
        channel.emit("no_coverage", error="%s: %s" % (type(error).__name__, error))
        return None
    measurement = Measurement(library, os.path.join(folder, "data"), channel, job)
    measurement.start()
    return measurement


def begin_in_worker(early_config: Any, data_file: str) -> None:
    worker = WorkerMeasurement(importlib.import_module("coverage"), data_file, os.getcwd())
    if not worker.is_left_to_pytest_cov(early_config):
        worker.start()
    early_config.pluginmanager.register(worker)


def import_coverage(root: str) -> Any:
    """Not from the root: a project may have a module of that name."""
    before = sys.path[:]
    sys.path[:] = [folder for folder in before if folder != root]
    try:
        return importlib.import_module("coverage")
    finally:
        sys.path[:] = before


class ProcessCoverage:
    def __init__(self, library: Any, data_file: str, root: str) -> None:
        self.library = library
        self.data_file = data_file
        self.root = root
        self.own: Any = None
        self.problem: Exception | None = None
        self.inherited = os.environ.get(VARIABLE)

    def start(self) -> None:
        try:
            self.own = self.library.Coverage(data_file=self.data_file, data_suffix=True)
            self.leave_out(self.own)
            # Each process measures only a part.
            self.own._warn_no_data = self.own._warn_unimported_source = self.own._warn_preimported_source = False
            self.own.start()
            self.direct_processes(self.own)
        except Exception as error:  # noqa: BLE001 - told when it is known that pytest-cov does not measure
            self.own, self.problem = None, error

    def leave_out(self, cov: Any) -> None:
        omitted = [] if OURS.startswith(self.root + os.sep) else [os.path.join(OURS, "*")]
        named = any(cov.get_option(name) for name in ("run:source", "run:include"))
        if not named and self.library.version_info < (6, 0):
            omitted += INSTALLED
        cov.set_option("run:omit", [*(cov.get_option("run:omit") or ()), *omitted])

    def direct_processes(self, cov: Any) -> None:
        """Processes of `multiprocessing` read the settings again, if those ask for their measurement."""
        if "multiprocessing" in (cov.get_option("run:concurrency") or ()):
            os.environ[VARIABLE] = self.data_file

    def stop(self) -> None:
        if self.own is not None:
            with quiet():
                self.own.stop()
                self.own.save()

    def is_left_to_pytest_cov(self, early_config: Any) -> bool:
        """Whether pytest-cov measures; if so, it writes no report, and its data elsewhere."""
        options = early_config.known_args_namespace
        if not getattr(options, "cov_source", None) or getattr(options, "no_cov", False):
            return False
        # What `--cov-report=` gives. More than one entry would be a list of reports.
        options.cov_report = {"": None}
        os.environ[VARIABLE] = self.data_file
        return True

    def restore_variable(self, plugins: Any) -> None:
        """Tests may use coverage.py themselves."""
        if self.inherited is None:
            os.environ.pop(VARIABLE, None)
        else:
            os.environ[VARIABLE] = self.inherited
        with suppress(Exception):
            self.direct_processes(plugins.get_plugin("_cov").cov_controller.cov)


class Measurement(ProcessCoverage):
    """The process that runs the tests, or xdist's controller: it also tells what all processes have measured."""

    def __init__(self, library: Any, data_file: str, channel: Channel, job: Job) -> None:
        super().__init__(library, data_file, job["root"])
        assert job["coverage"] is not None
        self.emit = channel.emit
        self.changed = job["coverage"]["changed"]
        self.process = os.getpid()
        self.plugins: Any = None

    # A wrapper, so that it comes before pytest-cov.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any) -> Generator[None, None, None]:
        self.plugins = early_config.pluginmanager
        if not self.is_left_to_pytest_cov(early_config):
            if self.own is None:
                raise pytest.UsageError("coverage.py cannot be started: %s" % self.problem)
            yield
            return
        if self.own is not None:
            self.own.stop()
            self.own = None
        yield
        self.restore_variable(self.plugins)

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        setattr(config.option, COVERAGE, self.data_file)

    def finish(self) -> None:
        """After pytest: put together what was measured, and tell it. Forked processes of tests may come here too."""
        if os.getpid() != self.process or self.plugins is None:
            return
        try:
            # A test may have left another working directory, or removed it.
            os.chdir(self.root)
            with quiet():
                report_coverage(self.emit, self.whole(), self.data_file + ".json", self.root, self.changed)
        except Exception as error:  # noqa: BLE001 - the results of the tests are told without it
            reason = "%s: %s" % (type(error).__name__, error)
            self.emit("covered", percent=None, lines=0, missed=0, branches=None, untaken=None, files=0, error=reason)

    def whole(self) -> Any:
        if self.own is None:
            controller = self.plugins.get_plugin("_cov").cov_controller
            # Newer versions do not finish if the run is stopped early.
            if controller.cov is not controller.combining_cov:
                controller.finish()
            return controller.cov
        self.stop()
        whole = self.library.Coverage(data_file=self.data_file)
        whole.combine()
        return whole


class WorkerMeasurement(ProcessCoverage):
    # Behind it: pytest-cov starts in this hook.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionstart(self, session: pytest.Session) -> Generator[None, None, None]:
        yield
        if self.own is None:
            self.restore_variable(session.config.pluginmanager)

    # The innermost wrapper: the fixtures are gone, and xdist has not yet told the controller that this is the end.
    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_sessionfinish(self) -> Generator[None, None, None]:
        yield
        with suppress(Exception):
            self.stop()


@contextmanager
def quiet() -> Iterator[None]:
    """The project may turn warnings into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# --- what is reported --------------------------------------------------------------------------


def report_coverage(emit: Callable[..., bool], cov: Any, path: str, root: str, changed: dict[str, str] | None) -> None:
    report = report_of(cov, path)
    files = {inside(name, root): entry for name, entry in report.get("files", {}).items()}
    wanted = dict.fromkeys(files, ALL_LINES) if changed is None else changed
    rows = [coverage_of(cov, name, entry, wanted[name]) for name, entry in files.items() if name in wanted]
    has_branches = report.get("meta", {}).get("branch_coverage", False)
    # Also a file without gaps: another run of the same suite may have missed some of its lines.
    for row in sorted(rows, key=lambda row: (-len(row.missed), row.name))[:MAX_FILES]:
        emit_file(emit, row, has_branches)
    totals = report.get("totals", {}) if changed is None else {}
    emit(
        "covered",
        percent=totals.get("percent_covered") if rows else None,
        lines=totals.get("num_statements", sum(len(row.ran) + len(row.missed) for row in rows)),
        missed=totals.get("missing_lines", sum(len(row.missed) for row in rows)),
        branches=totals.get("num_branches"),
        untaken=totals.get("missing_branches"),
        files=len(rows),
        error=None,
    )


def emit_file(emit: Callable[..., bool], row: FileCoverage, has_branches: bool) -> None:
    emit(
        "covered_file",
        file=row.name,
        lines=len(row.ran) + len(row.missed),
        missed=len(row.missed),
        ranges=ranges_of(row.missed, MAX_RANGES),
        untaken=row.untaken[:MAX_RANGES] if has_branches else None,
    )


def report_of(cov: Any, path: str) -> dict[str, Any]:
    try:
        # Files that are gone or cannot be parsed are left out, as pytest-cov leaves them out.
        cov.json_report(outfile=path, ignore_errors=True, pretty_print=False, show_contexts=False)
    except Exception as error:
        if "No data to report" in str(error):
            return {}
        raise
    with open(path, encoding="utf-8") as opened:
        report: dict[str, Any] = json.load(opened)
    return report


class FileCoverage(NamedTuple):
    name: str
    ran: set[int]
    missed: set[int]
    # Pairs of lines; a negative one leaves the function. Reports of coverage.py before 6.5 do not name them.
    untaken: list[list[int]]


def coverage_of(cov: Any, name: str, entry: dict[str, Any], changed: str) -> FileCoverage:
    """Only of the changed lines. One inside a statement stands for the statement, which counts at its first line."""
    ran, missed = set(entry["executed_lines"]), set(entry["missing_lines"])
    untaken = [list(pair) for pair in entry.get("missing_branches", ())]
    if changed == ALL_LINES:
        return FileCoverage(name, ran, missed, untaken)
    lines = numbers(changed)
    with suppress(Exception):
        lines = set(cov._get_file_reporter(os.path.abspath(name)).translate_lines(lines))
    return FileCoverage(name, ran & lines, missed & lines, [pair for pair in untaken if pair[0] in lines])


def inside(name: str, root: str) -> str:
    """coverage.py's names are relative to its working directory, which is the root, or absolute."""
    path = os.path.join(root, name)
    return os.path.relpath(path, root).replace(os.sep, "/") if path.startswith(root + os.sep) else path


def numbers(text: str) -> set[int]:
    lines: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        lines.update(range(int(first), int(last or first) + 1))
    return lines
