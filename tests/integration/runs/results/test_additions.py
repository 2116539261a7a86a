"""History, page, coverage, progress and notices: each may raise or hang, and the answer comes, with one notice."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.extension import advertise
from mcp.server import apps

from pytest_mcp.config.model import History
from pytest_mcp.history import recorder, remarks
from pytest_mcp.page import document
from pytest_mcp.process import additions
from pytest_mcp.report import coverage, notices
from pytest_mcp.server import app, apps_page, progress
from tests.support.git import commit_all
from tests.support.workbench import Workbench

PROJECT = {
    "shop.py": "def price(): return 2\n",
    "test_shop.py": "import shop\ndef test_price(): assert shop.price() == 3\n",
}
SURROGATES = """
import pytest

@pytest.mark.parametrize("name", [1], ids=["half \\udc80"])
def test_name(name): assert not "half \\udc80"

def test_message(): raise ValueError("half \\ud800")
"""
UNRECORDED = "This run is not recorded in the history: "


class Addition(NamedTuple):
    """Where its work is done, what a notice calls it, and the arguments of a call that asks for it."""

    module: Any
    function: str
    named: str
    arguments: dict[str, Any]


ADDITIONS = {
    "whether the history can be used": Addition(recorder, "_problem_of_opening", "recorded", {}),
    "what recorded runs say": Addition(remarks, "_read", "recorded runs", {}),
    "page": Addition(document, "run_document", "page", {}),
    "coverage": Addition(coverage, "measured_coverage", "coverage", {"coverage": "all"}),
    "notices": Addition(notices, "execution_notices", "notices", {}),
}


@pytest.fixture
def project(bench: Workbench) -> Workbench:
    bench.write(PROJECT)
    commit_all(bench.root)
    bench.write({"shop.py": "def price(): return 1\n"})
    return bench.using("coverage-7")


@pytest.fixture
def hang() -> Iterator[Callable[..., object]]:
    released = threading.Event()
    yield lambda *_, **__: released.wait()
    released.set()


def fail(*_: object, **__: object) -> NoReturn:
    raise ValueError


async def answered(project: Workbench, history: Path, **arguments: Any) -> types.CallToolResult:
    """By a server with everything that can be added, to a client that takes all of it."""
    config = project.config._replace(history=History(str(history)), spare=False)
    announced = advertise(apps.EXTENSION_ID, {"mimeTypes": [apps.APP_MIME_TYPE]})
    params = types.CallToolRequestParams(name="execute_tests", arguments=arguments)

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        """Who passes it has asked for progress."""

    async with Client(app.create(config), mode="legacy", extensions=[announced]) as client:
        request = types.CallToolRequest(params=params)
        return await client.session.send_request(request, types.CallToolResult, progress_callback=on_progress)


def told_of(answer: types.CallToolResult, addition: str) -> list[str]:
    assert answer.structured_content is not None
    assert answer.structured_content["summary"]["failed"] == 1
    return [each for each in answer.structured_content["notices"] if addition in each]


async def test_with_all_of_them_nothing_is_told(project: Workbench, tmp_path: Path) -> None:
    answer = await answered(project, tmp_path / "history.db", changed="HEAD", coverage="all")

    assert told_of(answer, "Could not be added") == told_of(answer, UNRECORDED) == []
    assert apps_page.META_KEY in (answer.meta or {})


@pytest.mark.parametrize("name", ADDITIONS)
async def test_one_that_raises_costs_itself_alone(
    project: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    addition = ADDITIONS[name]
    monkeypatch.setattr(addition.module, addition.function, fail)

    answer = await answered(project, tmp_path / "history.db", **addition.arguments)

    (notice,) = told_of(answer, addition.named)
    assert "ValueError" in notice


@pytest.mark.parametrize("name", ADDITIONS)
async def test_one_that_hangs_costs_itself_alone(
    project: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hang: Callable[..., object], name: str
) -> None:
    addition = ADDITIONS[name]
    monkeypatch.setattr(addition.module, addition.function, hang)
    for module in (additions, remarks):
        monkeypatch.setattr(module, "MAX_SECONDS", 2)

    answer = await answered(project, tmp_path / "history.db", **addition.arguments)

    (notice,) = told_of(answer, addition.named)
    assert "took longer" in notice or "did not answer within" in notice


@pytest.mark.parametrize(("owner", "function"), [(progress, "words"), (progress.Progress, "update")])
async def test_progress_that_raises_is_told_once(
    project: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, function: str
) -> None:
    project.write(
        {"test_more.py": "import pytest, time\n@pytest.mark.parametrize('n', range(3))\ndef test(n): time.sleep(0.4)\n"}
    )
    monkeypatch.setattr(owner, function, fail)

    answer = await answered(project, tmp_path / "history.db")

    (notice,) = told_of(answer, "progress")
    assert "ValueError" in notice


async def test_progress_that_is_never_taken_costs_itself_alone(
    project: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as by a client that does not read, until the answer is due."""
    project.write({"test_more.py": "import time\ndef test_one(): pass\ndef test_two(): time.sleep(1)\n"})
    monkeypatch.setattr(progress.Progress, "_send", lambda *_: anyio.sleep_forever())
    monkeypatch.setattr(additions, "MAX_SECONDS", 0.5)

    answer = await answered(project, tmp_path / "history.db")

    assert len(told_of(answer, "progress (took longer")) == 1


async def test_half_a_surrogate_pair_in_names_and_messages_is_shown_on_the_page_too(
    project: Workbench, tmp_path: Path
) -> None:
    project.write({"test_shop.py": SURROGATES})

    answer = await answered(project, tmp_path / "history.db")

    assert answer.structured_content is not None
    assert answer.structured_content["summary"]["failed"] == 2
    assert answer.structured_content["notices"] == []
    assert "\\ud800" in str((answer.meta or {})[apps_page.META_KEY])
