"""Calls, answers and errors on the server itself, with the SDK's client in memory."""

import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

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

# Bad arguments, and the parameters that must be named for each.
REFUSED: list[tuple[dict[str, Any], set[str]]] = [
    ({"node_ids": []}, {"node_ids"}),
    ({"node_ids": {"0": "test_fine.py"}}, {"node_ids"}),
    ({"node_ids": ["--co", "-pX", "@file", "~/x", "/etc/passwd"]}, {f"node_ids.{n}" for n in range(5)}),
    ({"node_ids": ["test_fine.py::", "test_fine.py::a\nb", "sub::test"]}, {f"node_ids.{n}" for n in range(3)}),
    ({"node_ids": [1]}, {"node_ids.0"}),
    ({"node_ids": ["test_fine.py"] * 2001}, {"node_ids"}),
    ({"path": ".."}, {"path"}),
    ({"path": "sub/../.."}, {"path"}),
    ({"path": ""}, {"path"}),
    ({"path": "a\0b"}, {"path"}),
    ({"path": "x" * 5000}, {"path"}),
    ({"pattern": "*.py"}, {"pattern"}),
    ({"pattern": "[a-ztest]*.py"}, {"pattern"}),
    ({"pattern": "test_*.py other"}, {"pattern"}),
    ({"pattern": "../test_*.py"}, {"pattern"}),
    ({"markers": "a and", "keywords": "(b"}, {"markers", "keywords"}),
    ({"markers": " ", "keywords": ""}, {"markers", "keywords"}),
    ({"keywords": "a(b=1)"}, {"keywords"}),
    ({"verbosity": 3}, {"verbosity"}),
    ({"verbosity": -3}, {"verbosity"}),
    ({"verbosity": True}, {"verbosity"}),
    ({"verbosity": "1.0"}, {"verbosity"}),
    ({"maxfail": 0}, {"maxfail"}),
    ({"maxfail": 10**9}, {"maxfail"}),
    ({"maxfail": 1.5, "workers": 0}, {"maxfail", "workers"}),
    ({"failfast": 1}, {"failfast"}),
    ({"failfast": True, "maxfail": 2}, {"maxfail"}),
    ({"timeout": 0}, {"timeout"}),
    ({"timeout": 3601}, {"timeout"}),
    ({"timeout": 86401}, {"timeout"}),
    ({"color": "yes", "show_capture": "no"}, {"color", "show_capture"}),
    ({"detail": "everything"}, {"detail"}),
    ({"max_tokens": 499}, {"max_tokens"}),
    ({"env": {}, "plugins": ["x"], "args": ["-x"]}, {"env", "plugins", "args"}),
]


@pytest.mark.anyio
@pytest.mark.parametrize(("arguments", "fields"), REFUSED)
async def test_bad_input_names_every_fault_and_runs_nothing(
    bench: Workbench, arguments: dict[str, Any], fields: set[str]
) -> None:
    bench.write({"conftest.py": "open('ran', 'w')\n", "test_fine.py": FINE, "sub/test_sub.py": FINE})

    failure = await bench.refused("execute_tests", **arguments)

    assert failure.code == -32602
    assert {fault["field"] for fault in failure.data["validation_errors"]} == fields
    assert failure.data["field"] in fields
    assert failure.data["detail"] == failure.data["validation_errors"][0]["message"]
    assert failure.message.startswith(f"Invalid params: {failure.data['field']}: ")
    assert len(str(failure.data["received_value"])) < 600
    assert not (bench.root / "ran").exists()


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
    assert failure.message.startswith("Failed to spawn pytest subprocess: ")


@pytest.mark.anyio
async def test_no_environment_at_all_says_what_was_tried_and_one_line_that_fixes_it(bench: Workbench) -> None:
    answer = await call("execute_tests", {}, bench.config._replace(python=None))

    assert not isinstance(answer, dict)
    assert (answer.code, answer.data["error_type"]) == (-32000, "environment")
    assert f"{bench.root} has no .venv or venv" in answer.message
    assert answer.message.splitlines()[-1].startswith("fix: python3 -m venv ")
    assert answer.data["environment"]["root"] == str(bench.root)


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
@pytest.mark.parametrize("broken", ["missing", "folder", "not executable", "no program", "fails"])
async def test_a_broken_interpreter_is_an_environment_error(bench: Workbench, broken: str) -> None:
    python = bench.root / "python"
    match broken:
        case "folder":
            python.mkdir()
        case "not executable":
            python.write_text("#!/bin/sh\n")
        case "no program":
            python.write_text("\0nothing")
            python.chmod(0o755)
        case "fails":
            python.write_text("#!/bin/sh\necho broken interpreter >&2\nexit 9\n")
            python.chmod(0o755)

    answer = await call("execute_tests", {}, bench.config._replace(python=python))

    assert not isinstance(answer, dict)
    assert answer.data["error_type"] == "environment"
    assert str(python) in answer.message


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


@pytest.mark.anyio
async def test_the_child_gets_neither_our_settings_nor_what_would_change_pytest(bench: Workbench) -> None:
    bench.write({"test_env.py": "import os\ndef test_env(): print(sorted(os.environ)); assert 0\n"})
    hidden = {"PYTEST_MCP_TOKEN": "secret", "PYTEST_ADDOPTS": "--co", "PYTHONOPTIMIZE": "2", "FORCE_COLOR": "1"}
    config = bench.config._replace(environment={**bench.config.environment, **hidden, "KEPT": "yes"})

    answer = await call("execute_tests", {}, config)

    assert isinstance(answer, dict)
    printed = answer["tests"][0]["traceback"].partition("Captured stdout call")[2]
    assert "'KEPT'" in printed
    assert not [name for name in hidden if name in printed]


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
