"""Eight processes that record two hundred runs each, into one history of each kind: `make histories`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.history.histories import kill_writers, write_together
from tests.support.history.postgres import postgres_server

pytestmark = pytest.mark.external(target="histories")


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "history.db")
        return
    with postgres_server() as url:
        yield url


def test_nothing_is_lost_and_nothing_is_doubled(address: str) -> None:
    write_together(address, processes=8, runs=200, tests=50)


def test_writers_that_are_killed_at_any_moment_leave_whole_runs(tmp_path: Path) -> None:
    kill_writers(str(tmp_path / "history.db"), range(1, 21))
