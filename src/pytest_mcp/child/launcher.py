"""Runs in the project's own interpreter and becomes `python -m pytest`: `python launcher.py RUN_DIR [GO]`.

It reads `RUN_DIR/job.json` and writes records to `RUN_DIR/report`. The first record has the versions of Python and
pytest, or says that pytest is missing, so the launcher also checks the interpreter. With GO, the file descriptor of a
pipe, it is started ahead of its job: it imports pytest, waits until the pipe is closed, and then reads the job.

All modules of this folder run on Python 3.8 and pytest 7.0, with the standard library and pytest's public names. They
import each other by bare name and nothing of the server, whose type of the job only the type checker reads.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from contextlib import suppress
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_mcp.process.job import Job

OURS = os.path.dirname(os.path.abspath(__file__))
# With this flag Python does not put the script's folder into the path.
SAFE_PATH = getattr(sys.flags, "safe_path", False)

# Our own modules by name. Only `ours` fills it, and they are kept nowhere else.
loaded: dict[str, Any] = {}


def main(run_dir: str, go: int | None) -> int:
    root = os.getcwd()
    if not SAFE_PATH:
        del sys.path[0]
    ahead = None if go is None else wait_for_job(run_dir, root, go)
    if not SAFE_PATH:
        sys.path.insert(0, root)
    with open(os.path.join(run_dir, "job.json"), encoding="utf-8") as handle:
        job: Job = json.load(handle)
    channel = ours("channel").Channel(os.path.join(run_dir, "report"))
    facts = {"python": "%d.%d.%d" % sys.version_info[:3], "executable": sys.executable}
    try:
        pytest = ahead or ours("preload").import_pytest()
    except ImportError as error:
        channel.emit("hello", pytest=None, error=str(error), **facts)
        return 1
    channel.emit("hello", pytest=pytest.__version__, error=None, **facts)
    return run(pytest, channel, job, run_dir)


def wait_for_job(run_dir: str, root: str, go: int) -> Any:
    """Prepare and wait. Returns pytest; exits if there is no job, or restarts if what was prepared is out of date."""
    try:
        ahead = ours("preload").Ahead(root)
        ours("reporter")
        ours("admission")
        ours("bytecode")
    except Exception:  # noqa: BLE001 - the restart below reports it, as it has a job
        ahead = None
    # Keep nothing of the project open while waiting, not even its folder.
    os.chdir(os.sep)
    os.read(go, 1)
    os.close(go)
    if not os.path.exists(os.path.join(run_dir, "job.json")):
        # Skips exit handlers: those of an environment's own start-up code could write files.
        os._exit(0)
    os.chdir(root)
    if ahead is None or ahead.is_void():
        os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), run_dir])
    ahead.begin()
    return ahead.pytest


def ours(name: str) -> Any:
    """A module of ours, loaded once. None stays in sys.modules: test code may have modules of the same names."""
    if name not in loaded:
        names = [os.path.splitext(entry)[0] for entry in os.listdir(OURS)]
        theirs = {each: sys.modules.pop(each) for each in names if each in sys.modules}
        sys.modules.update(loaded)
        sys.path.insert(0, OURS)
        try:
            importlib.import_module(name)
        finally:
            sys.path.remove(OURS)
            sys.path_importer_cache.pop(OURS, None)
            loaded.update({each: sys.modules.pop(each) for each in names if each in sys.modules})
            sys.modules.update(theirs)
    return loaded[name]


def plugins_of(channel: Any, job: Job) -> list[Any]:
    """The reporter comes first."""
    caches = ours("bytecode").FreshBytecode(job["root"])
    reporter = ours("reporter").Reporter(channel, job)
    plugins = [reporter, ours("admission").Admission(channel, job), caches]
    plugins.append(ours("xdist_controller").Workers(channel, job))
    if not job["collect_only"]:
        plugins.append(ours("tests_to_run").LiftedThreshold(reporter, job))
    if job["ids"] is not None:
        plugins.append(ours("tests_to_run").ExactOrder(reporter, job))
    if job["trace"] is not None:
        plugins.append(ours("line_tracing").Tracing(reporter, job))
    if job["calls"] is not None:
        plugins.append(ours("call_tracing").CallTracing(reporter, job))
    if job["timing"]:
        plugins.append(ours("timing").Timer(reporter))
    if job["proof"] is not None:
        plugins.append(ours("proving").Proving(reporter, job, os.path.dirname(channel.path)))
    if job["moved"] is not None:
        plugins.append(ours("import_origins").MovedSource(channel.emit, *job["moved"]))
    if job["portrait"]:
        plugins.append(ours("environment_report").EnvironmentReport(channel, job))
    return plugins


def confined(channel: Any, job: Job) -> list[str]:
    """Options that keep settings and conftests above the root out."""
    confinement = ours("ini_files").confinement(job["targets"], job["root"])
    if confinement.settings or confinement.conftests:
        channel.emit("above_root", settings=confinement.settings, conftests=confinement.conftests)
    return list(confinement.options)


def run(pytest: Any, channel: Any, job: Job, run_dir: str) -> int:
    args = confined(channel, job) + job["args"]
    reporter, *others = plugins_of(channel, job)
    if job["collect_only"] or job["ids"] is not None or job["trace"] is not None or job["proof"]:
        # It would replace what failed last time. Without the cache's plugin, its options in addopts would be errors.
        args.insert(0, "--override-ini=cache_dir=" + os.path.join(run_dir, "cache"))
    become_pytest(args)
    measurement = ours("measurement").begin(channel, job, run_dir) if job["coverage"] is not None else None
    if measurement is not None:
        others.append(measurement)
    elif job["coverage"] is not None:
        return int(pytest.ExitCode.USAGE_ERROR)
    try:
        status = int(pytest.main(args, plugins=[reporter, *others]))
    except BaseException as error:
        report_escape(channel, error)
        raise
    if measurement is not None:
        channel.emit("measuring", exit_status=status)
        measurement.finish()
    if status and not job["portrait"]:
        report_environment(channel, job, reporter.config)
    # All hooks have run, also `pytest_unconfigure`: the process only has to exit now.
    channel.emit("returned", exit_status=status)
    return status


def report_environment(channel: Any, job: Job, config: Any) -> None:
    """For advice on what kept tests from being collected."""
    with suppress(Exception):
        if config is not None:
            ours("environment_report").EnvironmentReport(channel, job).report(config)


def report_escape(channel: Any, error: BaseException) -> None:
    text = traceback.format_exc()
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the project's own exception class can raise here
        message = text.rstrip().rpartition("\n")[2]
    channel.emit("escaped", error_type=type(error).__name__, message=message, traceback=text)
    # The exit status that Python would use.
    code = error.code if isinstance(error, SystemExit) else 1
    channel.emit("returned", exit_status=code if isinstance(code, int) else int(code is not None))


def become_pytest(args: list[str]) -> None:
    """Make `__main__` (which new processes import) and argv those of `python -m pytest`."""
    spec = find_spec("pytest.__main__")
    assert spec is not None
    assert spec.loader is not None
    program = module_from_spec(spec)
    spec.loader.exec_module(program)
    # Only now: executed under this name, it would run pytest. Replaced, not refilled: our functions need the old one.
    program.__name__ = "__main__"
    sys.modules["__main__"] = program
    # Python made this entry when it checked whether the script is an archive.
    sys.path_importer_cache.pop(__file__, None)
    sys.argv = [str(spec.origin), *args]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None))
