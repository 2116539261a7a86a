"""What xdist's workers import by the name of our plugin: `-p pytest_mcp_worker`. The plugin itself is `xdist_worker`.

Alone in its folder, which is in sys.path only until this is imported, and that is before any code of the project is.
"""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.remove(HERE)
sys.path_importer_cache.pop(HERE, None)

spec = spec_from_file_location("launcher", os.path.join(HERE, os.pardir, os.pardir, "launcher.py"))
assert spec is not None
assert spec.loader is not None
launcher = module_from_spec(spec)
spec.loader.exec_module(launcher)

worker = launcher.ours("xdist_worker")
worker.load = launcher.ours
pytest_configure = worker.pytest_configure
