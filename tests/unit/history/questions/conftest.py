from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.history.past_runs import Past


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    made = Past(str(tmp_path / "history.db"))
    yield made
    made.store.close()
