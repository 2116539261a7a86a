"""A plugin for pytest: writes what pytest shows for each failed test and file, by node id.

Runs in a library's environment: standard library only. `PROBE_FILE` names the file.
"""

import json
import os
from pathlib import Path
from typing import Any

_shown: dict[str, list[str]] = {}


def _keep(report: Any) -> None:
    if report.failed:
        _shown.setdefault(report.nodeid, []).append(report.longreprtext)


pytest_runtest_logreport = pytest_collectreport = _keep


def pytest_sessionfinish() -> None:
    texts = {node_id: "\n".join(parts) for node_id, parts in _shown.items()}
    Path(os.environ["PROBE_FILE"]).write_text(json.dumps(texts), encoding="utf-8")
