"""Children of a supervisor that do not run pytest: any source, in a folder of its own."""

import os
import sys
from pathlib import Path

from pytest_mcp.process.job import Command, Job, Launch

# A child that starts processes which do everything to stay alive, tells that it has, and waits.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sleeper = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]
subprocess.Popen(sleeper)
subprocess.Popen(sleeper, start_new_session=True, env={})
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sleeper[0], sleeper)
    os._exit(0)
open("ready", "w").close()
"""
JOB: Job = {
    "root": "/project",
    "args": [],
    "collect_only": False,
    "part": False,
    "filtered": False,
    "targets": [],
    "explicit_files": [],
    "named": [],
    "covered": [],
    "full": False,
    "by_marks": False,
    "portrait": False,
    "text_limit": 20_000,
    "shard": None,
    "files": None,
    "unreached": [],
    "workers": None,
    "max_workers": 64,
    "ids": None,
    "trace": None,
    "calls": None,
    "proof": None,
    "moved": None,
    "coverage": None,
    "timing": False,
    "limited_memory": False,
}


def command(folder: Path, source: str) -> Command:
    launch = Launch(argv=(sys.executable, "-c", source), cwd=folder, env=dict(os.environ))
    return Command(launch=launch, job=JOB, reproduction=())


def remains(folder: Path) -> list[str]:
    return [entry.name for entry in (folder.parent / "tmp").iterdir()]
