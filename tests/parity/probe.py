"""Everything that code under test can see of the process it runs in, as far as it could depend on its start.

Copied into a project and imported there, by a conftest and by a test; so it must run on every Python. What
is different in every process by nature (numbers of processes, times, seeds) is left out.
"""

from __future__ import annotations

import builtins
import decimal
import faulthandler
import gc
import locale
import logging
import multiprocessing
import os
import resource
import signal
import site
import sys
import tempfile
import threading
import warnings
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import _pytest.assertion.rewrite
import _pytest.config

HERE = Path(__file__).resolve().parent


def facts() -> dict[str, Any]:
    return {**of_the_interpreter(), **of_imports(), **of_the_process(), **of_the_library()}


def of_the_interpreter() -> dict[str, Any]:
    program = sys.modules["__main__"]
    return {
        "argv": sys.argv,
        "original argv": getattr(sys, "orig_argv", None),
        "executable": [sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix],
        "flags": repr(sys.flags),
        "options": [sys.warnoptions, sorted(sys._xoptions), sys.dont_write_bytecode, sys.pycache_prefix],
        "limits": [sys.getrecursionlimit(), sys.getswitchinterval()],
        "tracing": [repr(sys.gettrace()), repr(sys.getprofile())],
        "hooks": [
            getattr(getattr(sys, name), "__qualname__", "?")
            for name in ("displayhook", "excepthook", "unraisablehook", "breakpointhook")
        ],
        "__main__": {
            name: str(getattr(program, name, "missing"))
            for name in ("__name__", "__file__", "__package__", "__cached__", "__doc__")
        },
        "__main__ has": sorted(name for name in vars(program) if name != "__builtins__"),
        "__main__ is found as": program.__spec__ and program.__spec__.name,
        "builtins": sorted(vars(builtins)),
        "streams": [
            [stream.encoding, stream.errors, stream.isatty(), stream.line_buffering]
            for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__)
            if stream is not None
        ],
        "encodings": [sys.getfilesystemencoding(), sys.getdefaultencoding(), locale.getpreferredencoding()],
        "garbage": [gc.isenabled(), gc.get_threshold(), gc.callbacks],
        "frozen objects": gc.get_freeze_count(),
        "stack": stack(),
    }


def stack() -> list[str]:
    """From the program down to pytest's own main."""
    frame = sys._getframe()
    files = []
    while frame is not None:
        files.append(Path(frame.f_code.co_filename).name + ":" + frame.f_code.co_name)
        frame = frame.f_back  # type: ignore[assignment]
    return list(reversed(files))[:2]


def of_imports() -> dict[str, Any]:
    return {
        "path": sys.path,
        "modules": sorted(sys.modules),
        "finders": [getattr(finder, "__name__", type(finder).__name__) for finder in sys.meta_path],
        "path hooks": [getattr(hook, "__qualname__", "?") for hook in sys.path_hooks],
        "folders looked into": sorted(sys.path_importer_cache),
        "site": [site.ENABLE_USER_SITE, site.getsitepackages()],
        "rewritten": sorted(
            name
            for name, module in sys.modules.items()
            if type(getattr(module, "__loader__", None)).__name__ == "AssertionRewritingHook"
        ),
        "bytecode": [
            Path(function.__code__.co_filename).name
            for function in (SourceFileLoader.get_data, _pytest.assertion.rewrite._read_pyc)
        ],
        "plugins": [name.partition(".")[0] for name in _pytest.config.default_plugins],
    }


def of_the_process() -> dict[str, Any]:
    umask = os.umask(0o22)
    os.umask(umask)
    return {
        "environment": dict(sorted(os.environ.items())),
        "working directory": [str(Path.cwd()), str(Path())],
        "signals": {name.name: str(signal.getsignal(name)) for name in signal.Signals},
        "blocked signals": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "threads": [thread.name for thread in threading.enumerate()],
        "user": [os.getuid(), os.getgid(), umask, os.nice(0)],
        "resource limits": {
            name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")
        },
        "leads its session": os.getsid(0) == os.getpid(),
        "leads its group": os.getpgid(0) == os.getpid(),
        "open files": open_files(),
    }


def open_files() -> list[str]:
    """What the descriptors lead to, without their numbers."""
    found = []
    for entry in os.listdir("/proc/self/fd"):  # noqa: PTH208 - pathlib would open one more
        try:
            target = os.readlink(f"/proc/self/fd/{entry}")  # noqa: PTH115 - as above
        except OSError:
            continue
        nameless = ":[" in target or target.endswith(" (deleted)")
        found.append("nameless" if nameless else Path(target).name)
    return sorted(found)


def of_the_library() -> dict[str, Any]:
    return {
        "warnings": [str(entry) for entry in warnings.filters],
        "warnings shown": warnings.showwarning.__qualname__,
        "logging": [logging.root.level, [type(handler).__name__ for handler in logging.root.handlers]],
        "logging began with the call": logging_began() >= (HERE / "called").stat().st_mtime,
        "faulthandler": faulthandler.is_enabled(),
        "multiprocessing": multiprocessing.get_start_method(allow_none=True),
        "temporary folder": tempfile.gettempdir(),
        "decimals": repr(decimal.getcontext()),
        "locale": locale.setlocale(locale.LC_ALL),
    }


def logging_began() -> float:
    """The zero of `relativeCreated`. It counts in nanoseconds from Python 3.13 on."""
    start: float = logging._startTime  # type: ignore[attr-defined]
    return start / 1e9 if isinstance(start, int) else start


def double(number: int) -> int:
    return 2 * number


def from_a_new_process() -> int:
    """A process that is started anew imports this module, and whatever it takes for the program."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        return pool.apply(double, (21,))
