"""The child alone: its modules, and its records of a tiny session without a server.

Its modules import each other by bare name and are not part of the package, so their types are not known.
"""

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from textwrap import dedent
from typing import Any

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.config.model import Options, configure
from pytest_mcp.process.job import LAUNCHER
from pytest_mcp.run.command import build
from pytest_mcp.run.decode import Record, parse
from pytest_mcp.run.events import Event
from tests.support.waiting import PATIENCE

_spec = spec_from_file_location("launcher", LAUNCHER)
assert _spec is not None
assert _spec.loader is not None
_launcher: Any = module_from_spec(_spec)
_spec.loader.exec_module(_launcher)


def ours(name: str) -> Any:
    return _launcher.ours(name)


def records_of(root: Path, files: dict[str, str], asked: dict[str, Any] | None = None, **job: Any) -> list[Record]:
    """What the child writes of a run of these files, with these keys of its job changed."""
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(dedent(content), encoding="utf-8")
    config = configure(Options(root=str(root)), {})
    request = ExecuteTests.model_validate(asked or {}, context=config.bounds)
    command = build(request, config, Path(sys.executable), own_prefix=Path("/none"), collect_only=False)
    run_dir = root.parent / "run"
    run_dir.mkdir(exist_ok=True)
    report = run_dir / "report"
    report.write_bytes(b"")
    (run_dir / "job.json").write_text(json.dumps({**command.job, **job}), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-B", LAUNCHER, run_dir],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    return [record for line in report.read_bytes().split(b"\n") if (record := parse(line)) is not None]


def events_of(root: Path, files: dict[str, str], asked: dict[str, Any] | None = None, **job: Any) -> list[Event]:
    return [record.event for record in records_of(root, files, asked, **job)]
