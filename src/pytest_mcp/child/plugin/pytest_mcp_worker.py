"""What xdist's workers import by the name of our plugin: `-p pytest_mcp_worker`. The plugin itself is `xdist_worker`.

Alone in its folder, which is in sys.path only until this is imported, and that is before any code of the project is.
"""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, Generator

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.remove(HERE)
sys.path_importer_cache.pop(HERE, None)

spec = spec_from_file_location("launcher", os.path.join(os.path.dirname(HERE), "launcher.py"))
assert spec is not None
assert spec.loader is not None
launcher = module_from_spec(spec)
spec.loader.exec_module(launcher)

# With all it needs, before any code of the project is loaded.
worker = launcher.ours("xdist_worker")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: Any) -> None:
    worker.configure(config, launcher.ours)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Known before conftest files are loaded, which the job is not."""
    parser.addoption("--pytest-mcp-coverage", help=SUPPRESS)


# A wrapper, so that it comes before pytest-cov.
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> Generator[None, None, None]:
    data_file = early_config.known_args_namespace.pytest_mcp_coverage
    if data_file is not None:
        # Without it this worker is not measured; its tests run.
        with suppress(Exception):
            launcher.ours("measurement").begin_in_worker(early_config, data_file)
    yield
