"""The server on HTTP as its clients meet it: real processes, real sockets, both generations of the protocol."""

import json
import re
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.extension import advertise

from pytest_mcp.server import apps_page
from pytest_mcp.server.fast_start import APPS
from tests.support.projects.sources import SLOW_STEPS
from tests.support.protocol.hostile_server import HostileServer
from tests.support.protocol.hostile_web import ERAS, LEGACY, MODERN, HostileWeb
from tests.support.waiting import PATIENCE, until

MODES = {"legacy": LEGACY, MODERN: MODERN}
MIXED = {
    "test_mixed.py": """
        import pytest
        def test_fine(): print("gr\u00fc\u00df")
        def test_bad(): assert "\u00fc\\x1b" == None
        @pytest.mark.skip(reason="not today")
        def test_skipped(): pass
    """,
    "test_broken.py": "import not_there\n",
}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("execute_tests", {"path": "test_mixed.py", "detail": "full", "color": True}),
    ("discover_tests", {}),
    ("execute_tests", {"path": "nowhere", "verbosity": 9}),
    ("execute_tests", {"node_ids": ["test_mixed.py::test_gone"]}),
    ("run_shell", {"command": "id"}),
    ("execute_tests", {"keywords": "gr\u00fc\u00df \x1b"}),
]


TIMES = re.compile(r"\d+\.\d+(e-\d+)?s?|pytest-mcp-[0-9a-f]{16}")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileWeb]:
    server = HostileWeb(tmp_path_factory.mktemp("web"))
    yield server
    server.close()


@pytest.fixture
def web(shelf: HostileWeb) -> HostileWeb:
    shelf.era = LEGACY
    return shelf


def url(web: HostileWeb) -> str:
    return f"http://127.0.0.1:{web.port}/mcp"


def timeless(reply: dict[str, Any]) -> list[str]:
    """What is in a reply, as it is written, without its times and the names of temporary folders."""
    result = reply.get("result", {})
    parts = [json.dumps(reply.get("error")), json.dumps(result.get("structuredContent")), result.get("content")]
    return [TIMES.sub("", str(part)) for part in parts]


def test_the_same_call_gets_the_same_answer_on_every_wire(
    web: HostileWeb, tmp_path_factory: pytest.TempPathFactory
) -> None:
    stdio = HostileServer(tmp_path_factory.mktemp("stdio"), f"--root={web.root}").greeted()
    web.project(MIXED)

    answers = {"stdio": [timeless(stdio.reply(stdio.begin(name, **given))) for name, given in CALLS]}
    stdio.close()
    for era in ERAS:
        web.era = era
        answers[era] = [timeless(web.reply(web.begin(name, **given))) for name, given in CALLS]

    assert answers[LEGACY] == answers["stdio"]
    assert answers[MODERN] == answers["stdio"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_page_is_offered_to_clients_that_announce_it_with_every_request(web: HostileWeb, mode: str) -> None:
    """Without sessions, what a handshake announces is not known any more when the tools are listed."""
    announced = [advertise(APPS, {"mimeTypes": [apps_page.MIME_TYPE]})]
    async with Client(url(web), mode=mode, extensions=announced) as client:
        has_resources = client.server_capabilities.resources is not None
        tools = (await client.list_tools()).tools

    assert has_resources == any("ui" in (tool.meta or {}) for tool in tools) == (mode != "legacy")


@pytest.mark.parametrize("mode", MODES)
async def test_progress_is_live_for_the_official_client(web: HostileWeb, mode: str) -> None:
    web.project({"tests/test_steps.py": SLOW_STEPS, "tests/go0": ""})
    notes: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        notes.append((progress, total, message))
        (web.root / "tests" / f"go{int(progress)}").touch()

    async with Client(url(web), mode=mode) as client:
        with anyio.fail_after(PATIENCE):
            answer = await client.call_tool("execute_tests", {}, progress_callback=on_progress)

    assert answer.structured_content["summary"]["total"] == 4
    assert [progress for progress, _, _ in notes][:3] == [1, 2, 3]
    assert notes[0] == (1, 4, "1/4 · 0 failed · tests/test_steps.py")


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_ends_when_the_official_client_cancels_or_at_the_latest_when_it_leaves(
    web: HostileWeb, mode: str
) -> None:
    """A client of the older protocol sends word of it on another connection, which nobody can match with the run."""
    web.project({"tests/test_steps.py": SLOW_STEPS})

    async with Client(url(web), mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "execute_tests", {})
            await until((web.root / "tests" / "at0").exists)
            tasks.cancel_scope.cancel()
        if mode == "legacy":
            assert web.leftovers()
        else:
            await until(lambda: not web.leftovers())

    await until(lambda: not (web.leftovers() or web.folders()))
