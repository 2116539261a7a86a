from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.projects.checkouts import Checkout, new_checkout, without_supervisor


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    """On the branch main, with a.py and b.py committed."""
    with without_supervisor():
        yield new_checkout(tmp_path / "project")
