"""Runs in the project's own interpreter: `python launcher.py RUN_DIR`, then becomes `python -m pytest`.

Comes in: `RUN_DIR/job.json`. Goes out: records in `RUN_DIR/report`. It is also the probe of the
interpreter: its first record names Python and pytest, or says that pytest is missing.
Standard library and pytest's public names only; Python 3.8 and newer.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from channel import Emit

Job = Any

OURS = ("channel", "reporter", "sources", "stages", "wording")
INI_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
INI_SECTIONS = (
    ("pyproject.toml", ("[tool.pytest]", "[tool.pytest.")),
    ("tox.ini", ("[pytest]",)),
    ("setup.cfg", ("[tool:pytest]",)),
)


def main(run_dir: str) -> int:
    with open(os.path.join(run_dir, "job.json"), encoding="utf-8") as handle:
        job = json.load(handle)
    ours = os.path.dirname(os.path.abspath(__file__))
    safe_path = getattr(sys.flags, "safe_path", False)
    if safe_path:
        sys.path.insert(0, ours)
    from channel import open_channel

    emit = open_channel(os.path.join(run_dir, "report"))
    pytest = import_pytest(job, emit, safe_path)
    if pytest is None:
        return 1
    job["configuration"] = find_configuration(common_directory(job["targets"], job["root"]), job["root"])
    reporter = load_reporter(ours, emit, job)
    args = confinement(job, run_dir) + traceless(job, run_dir) + job["args"]
    sys.argv = [os.path.join(os.path.dirname(pytest.__file__), "__main__.py"), *args]
    try:
        return int(pytest.main(args, plugins=[reporter]))
    except BaseException as error:
        emit(
            "escaped",
            error_type=type(error).__name__,
            message=str(error),
            traceback=traceback.format_exc(),
        )
        raise


def import_pytest(job: Job, emit: Emit, safe_path: bool) -> Any:
    """Import pytest as `python -m pytest` would: with the root, not our folder, first on the path."""
    if safe_path:
        del sys.path[0]
    else:
        sys.path[0] = job["root"]
    facts = {"python": "%d.%d.%d" % sys.version_info[:3], "executable": sys.executable}
    try:
        import pytest
    except ImportError as error:
        emit("hello", pytest=None, error=str(error), **facts)
        return None
    emit("hello", pytest=pytest.__version__, error=None, **facts)
    return pytest


def load_reporter(ours: str, emit: Emit, job: Job) -> object:
    sys.path.insert(0, ours)
    try:
        from reporter import Reporter
    finally:
        sys.path.remove(ours)
        for name in OURS:
            # Test code must be able to have modules of these names.
            sys.modules.pop(name, None)
    return Reporter(emit, job)


def confinement(job: Job, run_dir: str) -> list[str]:
    """Options that keep ini files and conftests above the root out of the run.

    With a configuration inside the root pytest stops there by itself. Without one it would go on
    looking upward, so it is told where the project ends.
    """
    root = job["root"]
    if job["configuration"] is not None:
        return []
    options = ["--rootdir=" + root, "--confcutdir=" + root]
    if find_configuration(os.path.dirname(root), None) is not None:
        empty = os.path.join(run_dir, "pytest.ini")
        with open(empty, "w", encoding="utf-8") as handle:
            handle.write("[pytest]\n")
        options += ["-c", empty]
    return options


def traceless(job: Job, run_dir: str) -> list[str]:
    """Discovery leaves no trace in the project: no bytecode, and pytest's cache elsewhere.

    Elsewhere, not switched off: without the cache plugin its options in addopts would be errors.
    """
    if not job["collect_only"]:
        return []
    sys.dont_write_bytecode = True
    return ["--override-ini=cache_dir=" + os.path.join(run_dir, "cache")]


def common_directory(targets: list[str], root: str) -> str:
    if not targets:
        return root
    common = os.path.commonpath(targets)
    return common if os.path.isdir(common) else os.path.dirname(common)


def find_configuration(folder: str, last: str | None) -> str | None:
    """The nearest file that configures pytest, from this folder up to the last one."""
    while True:
        for name in INI_FILES:
            if os.path.isfile(os.path.join(folder, name)):
                return os.path.join(folder, name)
        for name, sections in INI_SECTIONS:
            if contains(os.path.join(folder, name), sections):
                return os.path.join(folder, name)
        parent = os.path.dirname(folder)
        if folder == last or parent == folder:
            return None
        folder = parent


def contains(path: str, sections: tuple[str, ...]) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as handle:
            return any(line.lstrip().startswith(sections) for line in handle)
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
