"""The server as its clients meet it: a real process, real stdio, both generations of the protocol."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.types import CallToolResult, Tool

from pytest_mcp.tools import INSTRUCTIONS, TOOLS
from tests.support.projects.sources import SLOW_STEPS
from tests.support.protocol import servers
from tests.support.protocol.raw_client import INITIALIZE, RawClient
from tests.support.waiting import PATIENCE, processes_in, until
from tests.support.workbench import Workbench

FINE = "def test_fine(): pass\n"
BAD = "def test_bad(): assert 0\n"


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("discover_tests", {}),
    ("execute_tests", {}),
    ("execute_tests", {"path": "test_fine.py", "detail": "full"}),
    ("execute_tests", {"path": "test_bad.py"}),
    ("execute_tests", {"path": "test_bad.py", "keywords": "nowhere"}),
    ("explain_environment", {}),
]


@asynccontextmanager
async def connected(bench: Workbench, *flags: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with Client(servers.parameters(bench.root, bench.python, *flags), mode=mode) as client:
        yield client


class Session(NamedTuple):
    """What a client of the SDK got from one server, call after call."""

    tools: list[Tool]
    answers: list[tuple[str, CallToolResult]]
    unknown_tool: MCPError
    bad_input: MCPError
    after_errors: str
    with_progress: list[tuple[float, float | None, str | None]]
    after_cancelling: str


async def asked(bench: Workbench, mode: str) -> Session:
    bench.write({"test_fine.py": FINE, "test_bad.py": BAD, "test_broken.py": "import not_there\n"})
    async with connected(bench, mode=mode) as client:
        return Session(
            tools=(await client.list_tools()).tools,
            answers=[(name, await client.call_tool(name, arguments)) for name, arguments in CALLS],
            unknown_tool=await refused(client, "run_shell", command="id"),
            bad_input=await refused(client, "execute_tests", path="/etc", environment={"A": "b"}, verbosity=True),
            after_errors=await verdict(client),
            with_progress=await ask_with_progress(client, bench),
            after_cancelling=await cancel(client, bench),
        )


async def verdict(client: Client) -> str:
    answer = await client.call_tool("execute_tests", {"path": "test_fine.py"})
    return str(answer.structured_content["verdict"])


async def refused(client: Client, tool: str, **arguments: Any) -> MCPError:
    with pytest.raises(MCPError) as error:
        await client.call_tool(tool, arguments)
    return error.value


async def ask_with_progress(client: Client, bench: Workbench) -> list[tuple[float, float | None, str | None]]:
    bench.write({"tests/test_steps.py": SLOW_STEPS, "tests/go0": ""})
    notes: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        notes.append((progress, total, message))
        (bench.root / "tests" / f"go{int(progress)}").touch()

    with anyio.fail_after(PATIENCE):
        await client.call_tool("execute_tests", {"path": "tests"}, progress_callback=on_progress)
    return notes


async def cancel(client: Client, bench: Workbench) -> str:
    bench.write({"cancelled/test_steps.py": SLOW_STEPS})
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "execute_tests", {"path": "cancelled"})
        await until((bench.root / "cancelled" / "at0").exists)
        tasks.cancel_scope.cancel()
    await until(lambda: not processes_in(bench.root))
    return await verdict(client)


@pytest.fixture(scope="module", params=["legacy", "2026-07-28"])
def session(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Session:
    return anyio.run(asked, Workbench(tmp_path_factory.mktemp("project")), request.param)


def test_both_eras_serve_every_tool_with_equal_channels_that_keep_to_the_schema(session: Session) -> None:
    schemas = {tool.name: tool.output_schema for tool in session.tools}

    assert [tool.name for tool in session.tools] == [tool.name for tool in TOOLS]
    assert len(session.answers) == len(CALLS)
    for name, answer in session.answers:
        (block,) = answer.content
        assert block.type == "text"
        assert block.text == json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))
        schema = schemas[name]
        assert schema is not None
        jsonschema.validate(answer.structured_content, schema)


def test_what_is_advertised_is_what_the_catalogue_says(session: Session) -> None:
    for tool, row in zip(session.tools, TOOLS, strict=True):
        assert (tool.name, tool.title, tool.description) == (row.name, row.title, row.description)
        assert tool.input_schema == row.input_schema
        assert tool.output_schema == row.output_schema
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is False


def test_errors_carry_their_code_and_the_server_answers_the_next_call(session: Session) -> None:
    faults = session.bad_input.data["validation_errors"]

    assert (session.unknown_tool.code, session.bad_input.code) == (-32602, -32602)
    assert "discover_tests or execute_tests" in session.unknown_tool.message
    assert {fault["field"] for fault in faults} == {"path", "environment", "verbosity"}
    assert (session.after_errors, session.after_cancelling) == ("passed", "passed")


def test_progress_is_live_strictly_increasing_and_in_words(session: Session) -> None:
    done = [progress for progress, _, _ in session.with_progress]

    assert done == sorted(set(done))
    assert done[:3] == [1, 2, 3]
    assert session.with_progress[0] == (1, 4, "1/4 · 0 failed · tests/test_steps.py")
    assert session.with_progress[2][2] == "3/4 · 1 failed · tests/test_steps.py"


async def test_errors_as_results_have_the_same_object_as_text_and_no_structured_content(bench: Workbench) -> None:
    bench.write({"test_fine.py": FINE})

    async with connected(bench, "--errors=result") as client:
        answer = await client.call_tool("execute_tests", {"maxfail": 0})

    assert answer.is_error
    assert answer.structured_content is None
    (block,) = answer.content
    assert block.type == "text"
    error = json.loads(block.text)
    assert (error["code"], error["data"]["field"]) == (-32602, "maxfail")
    assert error["message"].startswith("Invalid params: maxfail: ")


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawClient]:
    bench = Workbench(tmp_path_factory.mktemp("raw"))
    bench.write({"test_fine.py": FINE})
    with RawClient(servers.command(bench.root, bench.python), cwd=bench.root) as client:
        yield client.greeted()


def test_no_progress_is_sent_without_a_token_and_nulls_stay_on_the_wire(raw: RawClient) -> None:
    reply = raw.reply(raw.begin("execute_tests", path="test_fine.py"))

    structured = reply["result"]["structuredContent"]
    assert structured["rerun"] is None
    assert structured["json_report"] is None
    assert structured["tests"][0]["message"] is None
    assert reply["result"]["isError"] is False
    assert raw.notifications == []


def test_initialize_advertises_tools_alone_and_the_instructions(bench: Workbench) -> None:
    with RawClient(servers.command(bench.root), cwd=bench.root) as client:
        reply = client.reply(client.request("initialize", INITIALIZE))

    assert list(reply["result"]["capabilities"]) == ["tools"]
    assert reply["result"]["serverInfo"]["name"] == "pytest-mcp"
    assert reply["result"]["instructions"] == INSTRUCTIONS
