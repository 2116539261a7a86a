"""Calls, answers and errors on the server itself, with the SDK's client in memory."""

import tempfile
from collections.abc import Callable
from functools import partial

import mcp_types as types
import pytest
from mcp import Client, MCPError

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.python import interpreter
from pytest_mcp.server import app
from pytest_mcp.server.app import create
from pytest_mcp.tools import Tool
from tests.support.workbench import Workbench, call

FINE = "def test_fine(): pass\n"


@pytest.mark.anyio
async def test_discovery_refuses_the_parameters_that_only_running_has(bench: Workbench) -> None:
    failure = await bench.refused("discover_tests", verbosity=1, node_ids=["x"])

    assert {fault["field"] for fault in failure.data["validation_errors"]} == {"verbosity", "node_ids"}


@pytest.mark.anyio
async def test_null_means_unset_for_every_parameter(bench: Workbench) -> None:
    bench.write({"test_fine.py": FINE})

    answer = await bench.execute(**dict.fromkeys(ExecuteTests.model_fields))

    assert answer["verdict"] == "passed"


@pytest.mark.anyio
@pytest.mark.parametrize("error", [RuntimeError("our own bug"), SystemExit(3), RecursionError("deep")])
async def test_a_bug_of_ours_is_an_internal_error_and_costs_one_answer(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    bench.write({"test_fine.py": FINE})
    async with Client(create(bench.config)) as client:
        with monkeypatch.context() as broken:
            broken.setattr(interpreter, "candidates", lambda *_: (_ for _ in ()).throw(error))
            with pytest.raises(MCPError) as failure:
                await client.call_tool("execute_tests", {})
        answer = await client.call_tool("execute_tests", {})

    assert failure.value.code == -32603
    assert failure.value.message.startswith("Internal server error: " + type(error).__name__)
    assert "Traceback" in failure.value.data["traceback"]
    assert answer.structured_content["verdict"] == "passed"


@pytest.mark.anyio
async def test_a_machine_that_cannot_start_processes_is_a_spawn_failure(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write({"test_fine.py": FINE})
    monkeypatch.setattr(tempfile, "tempdir", str(bench.root / "not" / "there"))

    failure = await bench.refused("execute_tests")

    assert (failure.code, failure.data["error_type"]) == (-32000, "spawn_failure")


@pytest.mark.anyio
async def test_an_environment_without_pytest_is_rejected_and_the_next_one_is_used(bench: Workbench) -> None:
    bench.write({"test_fine.py": FINE})
    (bench.root / ".venv").symlink_to(bench.using("no-pytest").python.parent.parent)
    active = bench.python.parent.parent
    config = bench.config._replace(python=None, environment={"VIRTUAL_ENV": str(active)})

    answer = await call("execute_tests", {}, config)
    refused = await call("execute_tests", {}, config._replace(environment={}))

    assert isinstance(answer, dict)
    assert answer["verdict"] == "passed"
    assert not isinstance(refused, dict)
    assert refused.data["error_type"] == "environment"
    assert "pytest cannot be imported: No module named 'pytest'" in refused.message
    assert refused.message.splitlines()[-1] == "fix: .venv/bin/python -m pip install pytest"
    (candidate,) = refused.data["environment"]["candidates"]
    assert candidate["source"] == ".venv in the project root"


@pytest.mark.anyio
async def test_output_of_tests_is_escaped_wherever_it_stands(bench: Workbench) -> None:
    bench.write(
        {
            "test_odd.py": """
            import pytest
            ODD = "bell \\x07 escape \\x1b[31m bidi \\u202e zero \\u200b separator \\u2028 tag \\U000e0041"
            @pytest.mark.skip(reason=ODD)
            def test_skipped(): pass
            def test_odd():
                print(ODD, "lone \\udc80".encode("utf-8", "surrogateescape"))
                raise ValueError(ODD + "lone \\ud800")
            """
        }
    )

    answer = await bench.execute(detail="full", color=True)

    rest = str({key: value for key, value in answer.items() if key != "text_output"})
    for character in "\x07\x1b\u202e\u200b\u2028\U000e0041\ud800":
        assert character not in rest
        assert character == "\x1b" or character not in answer["text_output"]
    message = next(test["message"] for test in answer["tests"] if test["outcome"] == "failed")
    assert message == (
        "ValueError: bell \\x07 escape \\x1b[31m bidi \\u202e zero \\u200b"
        " separator \\u2028 tag \\U000e0041lone \\ud800"
    )


async def test_the_schemas_are_made_once_for_all_clients(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Making them takes as long as ten other requests."""
    made: list[str] = []
    monkeypatch.setattr(app, "_advertised", partial(_counted, made, app._advertised))
    server = create(bench.config._replace(spare=False))

    listed = []
    for _ in range(3):
        async with Client(server) as client:
            listed.append([tool.name for tool in (await client.list_tools()).tools])

    assert listed == [made] * 3


def _counted(made: list[str], advertised: Callable[..., types.Tool], tool: Tool, *, has_page: bool) -> types.Tool:
    made.append(tool.name)
    return advertised(tool, has_page=has_page)
