from collections.abc import Iterator

import pytest

from tests.support.protocol.hostile_server import HostileServer, NewServer
from tests.support.protocol.hostile_web import LEGACY, HostileWeb


@pytest.fixture
def new_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewServer]:
    """Servers of a test's own, for what a server does not survive or must be started for."""
    started: list[HostileServer] = []

    def start(*flags: str, **settings: object) -> HostileServer:
        started.append(HostileServer(tmp_path_factory.mktemp("own"), *flags, **settings))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture(scope="session")
def shelf() -> Iterator[list[HostileServer]]:
    """A test that breaks the next call makes the next test fail; after the last one there is a plain call."""
    servers: list[HostileServer] = []
    yield servers
    for server in servers:
        try:
            server.assert_unharmed()
        finally:
            server.close()


@pytest.fixture
def server(shelf: list[HostileServer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileServer]:
    """One for all tests, with nothing left after each of them; a new one where a test has harmed it."""
    if not shelf:
        shelf.append(HostileServer(tmp_path_factory.mktemp("shared")).ready())
    server = shelf[0]
    yield server
    try:
        server.assert_nothing_left()
    except BaseException:
        shelf.remove(server)
        server.close()
        raise


@pytest.fixture(scope="module")
def web_shelf() -> Iterator[list[HostileWeb]]:
    """Most of what is sent on HTTP gets nowhere near a run: what it leaves is looked for once, at the end."""
    servers: list[HostileWeb] = []
    yield servers
    for server in servers:
        server.assert_unharmed()
        server.close()


@pytest.fixture
def web(web_shelf: list[HostileWeb], tmp_path_factory: pytest.TempPathFactory) -> HostileWeb:
    """The same on HTTP."""
    if not web_shelf:
        web_shelf.append(HostileWeb(tmp_path_factory.mktemp("shared")))
        web_shelf[0].ready()
    web_shelf[0].era = LEGACY
    return web_shelf[0]
