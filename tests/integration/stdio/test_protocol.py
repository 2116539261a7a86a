"""The server as its clients meet it: a real process, real stdio, both generations of the protocol."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import jsonschema
import pytest
from mcp import Client, MCPError

from pytest_mcp.tools import INSTRUCTIONS, TOOLS
from tests.support import servers
from tests.support.projects import SLOW_STEPS
from tests.support.raw_client import INITIALIZE, RawClient
from tests.support.waiting import PATIENCE, processes_in, until
from tests.support.workbench import Workbench

FINE = "def test_fine(): pass\n"
BAD = "def test_bad(): assert 0\n"


@asynccontextmanager
async def connected(bench: Workbench, *flags: str, mode: str = "auto") -> AsyncIterator[Client]:
    async with Client(servers.parameters(bench.root, bench.python, *flags), mode=mode) as client:
        yield client


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_both_eras_serve_every_tool_with_equal_channels_that_keep_to_the_schema(
    bench: Workbench, mode: str
) -> None:
    bench.write({"test_fine.py": FINE, "test_bad.py": BAD, "test_broken.py": "import not_there\n"})
    calls: list[tuple[str, dict[str, Any]]] = [
        ("discover_tests", {}),
        ("execute_tests", {}),
        ("execute_tests", {"path": "test_fine.py", "detail": "full"}),
        ("execute_tests", {"path": "test_bad.py"}),
        ("execute_tests", {"path": "test_bad.py", "keywords": "nowhere"}),
        ("explain_environment", {}),
    ]

    async with connected(bench, mode=mode) as client:
        listed = (await client.list_tools()).tools
        schemas = {tool.name: tool.output_schema for tool in listed}
        answers = [(name, await client.call_tool(name, arguments)) for name, arguments in calls]

    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
    for name, answer in answers:
        (block,) = answer.content
        assert block.type == "text"
        assert block.text == json.dumps(answer.structured_content, ensure_ascii=False, separators=(",", ":"))
        schema = schemas[name]
        assert schema is not None
        jsonschema.validate(answer.structured_content, schema)


@pytest.mark.anyio
async def test_what_is_advertised_is_what_the_catalogue_says(bench: Workbench) -> None:
    async with connected(bench) as client:
        listed = (await client.list_tools()).tools

    for tool, row in zip(listed, TOOLS, strict=True):
        assert (tool.name, tool.title, tool.description) == (row.name, row.title, row.description)
        assert tool.input_schema == row.input_schema
        assert tool.output_schema == row.output_schema
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is False


@pytest.mark.anyio
async def test_errors_carry_their_code_and_the_server_answers_the_next_call(bench: Workbench) -> None:
    bench.write({"test_fine.py": FINE})

    async with connected(bench) as client:
        with pytest.raises(MCPError) as unknown_tool:
            await client.call_tool("run_shell", {"command": "id"})
        with pytest.raises(MCPError) as bad_input:
            await client.call_tool("execute_tests", {"path": "/etc", "environment": {"A": "b"}, "verbosity": True})
        answer = await client.call_tool("execute_tests", {})

    assert unknown_tool.value.code == -32602
    assert "discover_tests or execute_tests" in unknown_tool.value.message
    assert bad_input.value.code == -32602
    assert {fault["field"] for fault in bad_input.value.data["validation_errors"]} == {
        "path", "environment", "verbosity",
    }  # fmt: skip
    assert answer.structured_content["verdict"] == "passed"


@pytest.mark.anyio
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


@pytest.mark.anyio
async def test_progress_is_live_strictly_increasing_and_in_words(bench: Workbench) -> None:
    bench.write({"tests/test_steps.py": SLOW_STEPS})
    notes: list[tuple[float, float | None, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        notes.append((progress, total, message))
        (bench.root / "tests" / f"go{int(progress)}").touch()

    (bench.root / "tests" / "go0").touch()
    async with connected(bench) as client:
        with anyio.fail_after(PATIENCE):
            answer = await client.call_tool("execute_tests", {}, progress_callback=on_progress)

    assert answer.structured_content["summary"]["total"] == 4
    done = [progress for progress, _, _ in notes]
    assert done == sorted(set(done))
    assert done[:3] == [1, 2, 3]
    assert notes[0] == (1, 4, "1/4 · 0 failed · tests/test_steps.py")
    assert notes[2][2] == "3/4 · 1 failed · tests/test_steps.py"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_cancelling_ends_the_run_and_the_server_lives_on(bench: Workbench, mode: str) -> None:
    bench.write({"tests/test_steps.py": SLOW_STEPS, "test_fine.py": FINE})

    async with connected(bench, mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "execute_tests", {"path": "tests"})
            await until((bench.root / "tests" / "at0").exists)
            tasks.cancel_scope.cancel()
        await until(lambda: not processes_in(bench.root))
        answer = await client.call_tool("execute_tests", {"path": "test_fine.py"})

    assert answer.structured_content["verdict"] == "passed"


def test_no_progress_is_sent_without_a_token_and_nulls_stay_on_the_wire(bench: Workbench) -> None:
    bench.write({"test_fine.py": FINE})

    with RawClient(servers.command(bench.root, bench.python), cwd=bench.root) as client:
        reply = client.greeted().reply(client.begin("execute_tests"))

    structured = reply["result"]["structuredContent"]
    assert structured["rerun"] is None
    assert structured["json_report"] is None
    assert structured["tests"][0]["message"] is None
    assert reply["result"]["isError"] is False
    assert client.notifications == []


def test_initialize_advertises_tools_alone_and_the_instructions(bench: Workbench) -> None:
    with RawClient(servers.command(bench.root), cwd=bench.root) as client:
        reply = client.reply(client.request("initialize", INITIALIZE))

    assert list(reply["result"]["capabilities"]) == ["tools"]
    assert reply["result"]["serverInfo"]["name"] == "pytest-mcp"
    assert reply["result"]["instructions"] == INSTRUCTIONS


def test_what_tests_print_on_descriptor_one_never_reaches_the_wire(bench: Workbench) -> None:
    bench.write(
        {
            "test_noisy.py": """
            import os
            def test_noisy(capfd):
                with capfd.disabled():
                    os.write(1, b'{"jsonrpc":"2.0","id":"stray","result":{}}\\n')
            """
        }
    )

    with RawClient(servers.command(bench.root, bench.python), cwd=bench.root) as client:
        reply = client.greeted().reply(client.begin("execute_tests"))

    assert reply["result"]["structuredContent"]["verdict"] == "passed"
    assert len(client.replies) == 2
    assert (client.faults, client.notifications) == ([], [])
