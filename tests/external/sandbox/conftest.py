import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.external.sandbox.engines import ENGINES, Caged, caged


@pytest.fixture(params=ENGINES)
def cage(request: pytest.FixtureRequest) -> Iterator[Caged]:
    """Not in pytest's folder: srt has sockets in the home, and their paths may have a hundred characters."""
    folder = Path(tempfile.mkdtemp(prefix="cage-"))
    yield caged(request.param, folder)
    shutil.rmtree(folder)
