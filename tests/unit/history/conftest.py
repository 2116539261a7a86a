import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_mcp.history.store import Store, open_store
from tests.support.history.histories import Past
from tests.support.history.postgres import postgres_server


@pytest.fixture(scope="package")
def postgres() -> Iterator[str]:
    with postgres_server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new history of each kind."""
    return str(tmp_path / "history.db") if request.param == "sqlite" else new_database(request)


@pytest.fixture
def store(address: str) -> Iterator[Store]:
    opened = open_store(address)
    yield opened
    opened.close()


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    made = Past(str(tmp_path / "history.db"))
    yield made
    made.store.close()


@pytest.fixture
def postgres_address(request: pytest.FixtureRequest) -> str:
    return new_database(request)


def new_database(request: pytest.FixtureRequest) -> str:
    import psycopg  # noqa: PLC0415 - not everybody has it

    url: str = request.getfixturevalue("postgres")
    name = f"d{uuid.uuid4().hex}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} STRATEGY file_copy".encode())
    return url.replace("/postgres?", f"/{name}?")
