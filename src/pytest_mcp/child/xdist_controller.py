"""The controller of an xdist run: its workers get our plugin, and what they report is passed on once.

The records are those that a run without xdist would have written. All workers collect the same tests, so what is known
of the collection comes from the first that reports it. From workers on other machines, without our plugin, only the
outcomes of tests come.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Generator, Sequence

import pytest
from describe import MACHINERY, safe_text

if TYPE_CHECKING:
    from channel import Channel
    from reporter import Reporter

    from pytest_mcp.process.job import Job

# The plugin's name in the workers, and the name of what passes between them and the controller.
PLUGIN = "pytest_mcp_worker"
KEY = "pytest_mcp"
CLIPPED = "pytest_mcp_clipped"
STACKS = "pytest_mcp_stacks"
# The attribute of pytest's options that tells where data of coverage.py goes, if lines are measured.
COVERAGE = "pytest_mcp_coverage"
PLUGIN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugin")
# How long workers may take to tell what they are doing.
STACK_SECONDS = 1.0
# How long xdist waits for workers to exit if the run is interrupted; by default ten seconds.
EXIT_SECONDS = 0.2

# What each worker reports of its own.
OF_TESTS = ("phase", "timed", "unreported")
# What every worker reports of the same collection.
OF_COLLECTION = (
    *("collection_error", "collection_skipped", "collector", "deselected", "selected", "usage_error", "marks"),
    *("nothing_selected", "left_out", "compared", "from_cache", "unreachable", "doctests_left_out"),
    *("divided", "unreached"),
)
DIFFERENT_TESTS = (
    "pytest-xdist ran no test, because its workers collected different tests (%s is not in all of them). Parameters"
    " that come from a set, from random values or from the time are a common cause. Give them a fixed order, or pass"
    " workers: 1"
)
# Frames of xdist's workers that do not show where a test is stuck.
NOT_THE_TEST = (*MACHINERY, "xdist", "execnet", "__channelexec__", "threading", "importlib", "_frozen_importlib")


def distributes(config: Any) -> bool:
    """Whether xdist distributes the tests of this run, as it decides that itself."""
    option = config.option
    return not option.collectonly and getattr(option, "dist", "no") != "no" and bool(getattr(option, "tx", None))


def is_grouped(config: Any) -> bool:
    """Whether xdist appends @ and the test's group to ids. In its workers it has replaced the option."""
    return getattr(config.option, "dist", "no") == "loadgroup" or bool(getattr(config.option, "loadgroup", False))


def with_argument(config: Any, argument: str) -> Any:
    """The arguments that xdist hands to its workers, which parse them and the project's addopts anew, and one more."""
    given = config.invocation_params
    return type(given)(args=(*given.args, argument), plugins=given.plugins, dir=given.dir)


def ungrouped(nodeid: str) -> str:
    path, separator, names = nodeid.rpartition("::")
    end = names.rfind("@")
    return path + separator + names[:end] if end > names.rfind("]") else nodeid


class Workers:
    """Tells xdist how many workers a call asks for, behind the project's addopts, or how many their `auto` may be."""

    def __init__(self, channel: Channel, job: Job) -> None:
        self.emit = channel.emit
        self.count = job["workers"]
        self.most = job["max_workers"]

    # A wrapper, so that plugins that look for xdist's options in this hook, as pytest-cov does, find these.
    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: Any, args: list[str]) -> Generator[None, None, None]:
        # By its entry point, or as a module: `-p xdist.plugin`, where plugins are not loaded by themselves.
        if any(map(early_config.pluginmanager.hasplugin, ("xdist", "xdist.plugin"))):
            self.limit(early_config.known_args_namespace, args)
        elif (self.count or 1) > 1:
            self.emit("no_xdist", installed=find_spec("xdist") is not None)
            raise pytest.UsageError("pytest-xdist is not available")
        yield

    def limit(self, options: Any, args: list[str]) -> None:
        if self.count is not None:
            options.numprocesses = self.count if self.count > 1 else 0
            options.maxprocesses = None
            args += ["--numprocesses=%d" % options.numprocesses, "--maxprocesses=%d" % self.count]
        elif options.numprocesses in ("auto", "logical"):
            options.maxprocesses = min(options.maxprocesses or self.most, self.most)
            args.append("--maxprocesses=%d" % options.maxprocesses)


class Controller:
    def __init__(self, reporter: Reporter, job: Job) -> None:
        self.reporter = reporter
        self.emit = reporter.emit
        self.job = json.dumps(job)
        # As in one process: a run that is stopped by failures is not an interrupted one.
        self.like_one_process = job["workers"] is not None
        # The worker whose collection is reported.
        self.source: str | None = None
        self.stacks: list[Any] = []
        self.places: dict[str, int] = {}
        # The places of the tests that each worker ran.
        self.ran: dict[str, set[int]] = {}
        self.origins: dict[str, str] = {}
        self.not_run = {"deselected": 0, "collection_skipped": 0}
        self.is_running = False
        self.failures = 0

    # --- starting workers ----------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: Any, specs: Sequence[Any]) -> None:
        self.emit("distributed", workers=len(specs))
        # xdist gives this path to the workers that it starts itself. Others are on other machines, without our files.
        path = getattr(sys.modules.get("xdist.plugin"), "_sys_path", None)
        if type(path) is list and all(spec.popen for spec in specs):
            path.append(PLUGIN_FOLDER)
            config.invocation_params = with_argument(config, "-p" + PLUGIN)
            data_file = getattr(config.option, COVERAGE, None)
            if data_file is not None:
                config.invocation_params = with_argument(config, "--pytest-mcp-coverage=" + data_file)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[KEY] = self.job
        self.stacks.append(node.gateway.newchannel())
        node.workerinput[STACKS] = self.stacks[-1]

    # --- what workers report -------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        if not self.places:
            self.places = {nodeid: index for index, nodeid in enumerate(ids)}
        self.emit("selected", count=len(set(ids)))

    def take(self, report: Any) -> bool:
        """Pass on what the worker told with this report. False if it told nothing."""
        if report.outcome == "failed":
            self.failures += 1
        if hasattr(report, "node") and report.nodeid in self.places:
            self.ran.setdefault(report.node.gateway.id, set()).add(self.places[report.nodeid])
        records = report.__dict__.pop(KEY, None)
        if type(records) is not str:
            return False
        self.forward(records, report.node.gateway.id)
        return True

    def forward(self, records: str, worker: str) -> None:
        if self.source is None:
            self.source = worker
        for record in filter(None, records.split("\n")):
            kind, _, fields = record.partition(" ")
            if kind in OF_TESTS or (worker == self.source and kind in OF_COLLECTION):
                self.reporter.channel.forward(kind, fields)
            if kind in ("deselected", "collection_skipped") and worker == self.source:
                self.not_run[kind] += json.loads(fields).get("count", 1)
                self.reporter.deselected = self.not_run["deselected"]
            elif kind == "unreached" and worker == self.source:
                self.reporter.selection.left_out = json.loads(fields)["count"]
            elif kind == "warning":
                # Those of the configuration are recorded in this process too.
                when = json.loads(fields)["when"]
                if when == "runtest" or (when == "collect" and worker == self.source):
                    self.reporter.channel.forward("warning", fields)
            elif kind == "imported_elsewhere":
                self.origins.setdefault(json.loads(fields)["name"], fields)

    def collection_failed(self, report: Any) -> None:
        """What workers could not collect they report themselves; that they differ only xdist knows."""
        if type(report.longrepr) is str and report.longrepr.startswith("Different tests were collected"):
            changes = [line for line in report.longrepr.split("\n") if line.startswith(("+", "-"))]
            ids = [line[1:] for line in changes if not line.startswith(("+++", "---"))]
            self.reporter.emit_usage_error([DIFFERENT_TESTS % (ids[0] if ids else "a test")])

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self) -> Generator[None, None, None]:
        """While it runs, every recorded warning is one of a worker's."""
        self.is_running = True
        yield
        self.is_running = False
        for worker, indexes in self.ran.items():
            self.emit("ran_on", worker=worker, indexes=sorted(indexes))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        output = getattr(node, "workeroutput", {})
        if type(output.get(KEY)) is str:
            self.forward(output[KEY], node.gateway.id)
            self.reporter.clip.left_out.update(json.loads(output[CLIPPED]))
        if error:
            text = safe_text("the error", str, error)
            self.emit("worker_down", worker=node.gateway.id, error=self.reporter.clip(text))

    # --- running and stopping ------------------------------------------------------------------

    def started(self, nodeid: str) -> None:
        index = self.places.get(nodeid, len(self.places))
        self.reporter.channel.started_at(self.reporter.relocate(nodeid), index)

    def emit_stacks(self) -> None:
        """What each worker is doing, of those that answer in time. After that xdist does not wait for them."""
        asked = []
        for channel in self.stacks:
            with suppress(Exception):
                channel.send(None)
                asked.append(channel)
        until = self.reporter.clock() + STACK_SECONDS
        for channel in asked:
            with suppress(Exception):
                nodeid, frames = channel.receive(max(0.01, until - self.reporter.clock()))
                node_id = self.reporter.relocate(nodeid) if nodeid in self.places else None
                stack = [
                    "%s:%d: in %s" % (self.reporter.relative(path), line, function)
                    for module, path, line, function in reversed(frames)
                    if module.partition(".")[0] not in NOT_THE_TEST
                ]
                self.emit("worker_stack", id=node_id, stack=stack)
        with suppress(Exception):
            self.reporter.config.pluginmanager.get_plugin("dsession").nodemanager.EXIT_TIMEOUT = EXIT_SECONDS

    def why_stopped(self) -> object:
        """xdist's reason, if it stopped before all tests had run."""
        session = self.reporter.config.pluginmanager.get_plugin("dsession")
        return getattr(session, "shouldstop", None) or getattr(session, "_summary_report", None)

    def settle(self, session: pytest.Session) -> None:
        """Before the session ends: report what no worker has reported, and what is known only now."""
        with suppress(Exception):
            self.correct_counts(self.reporter.config.pluginmanager.get_plugin("terminalreporter").stats)
        for fields in self.origins.values():
            self.reporter.channel.forward("imported_elsewhere", fields)
        if self.like_one_process and session.testsfailed:
            is_stopped = 0 < (session.config.option.maxfail or 0) <= self.failures
            if is_stopped and session.exitstatus == pytest.ExitCode.INTERRUPTED:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
            elif not self.places and session.exitstatus == pytest.ExitCode.TESTS_FAILED:
                session.exitstatus = pytest.ExitCode.INTERRUPTED

    def correct_counts(self, stats: dict[str, list[Any]]) -> None:
        """For pytest's last line. xdist does not pass on what is deselected, passes equal skips on only once, and
        the errors and warnings of a collection once for each worker."""
        stats.setdefault("deselected", []).extend([None] * self.not_run["deselected"])
        modules = [report for report in stats.get("skipped", ()) if isinstance(report, pytest.CollectReport)]
        stats.setdefault("skipped", []).extend(modules[-1:] * (self.not_run["collection_skipped"] - len(modules)))
        for name in ("error", "warnings"):
            stats[name] = list({identity_of(entry): entry for entry in stats.get(name, ())}.values())


def identity_of(entry: Any) -> object:
    """Equal for what several workers say of the same collection."""
    if isinstance(entry, pytest.CollectReport):
        return entry.nodeid
    return id(entry) if isinstance(entry, pytest.TestReport) or entry.nodeid else entry.message
