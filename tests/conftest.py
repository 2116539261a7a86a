from pathlib import Path

import pytest
from hypothesis import settings

from tests.workbench import PYTESTS, Workbench

# The machine is shared and slow at times; how long an example takes proves nothing here.
settings.register_profile("project", deadline=None)
settings.load_profile("project")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    """An empty project, with the newest pytest."""
    root = tmp_path / "project"
    root.mkdir()
    return Workbench(root)


@pytest.fixture(params=PYTESTS)
def every_bench(bench: Workbench, request: pytest.FixtureRequest) -> Workbench:
    """The same project, once for each generation of pytest."""
    return bench.using(request.param)
