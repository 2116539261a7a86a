import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pytest_mcp.api.did_you_mean import MAX_ASKED
from pytest_mcp.api.errors import InvalidParams
from pytest_mcp.config.model import Bounds
from pytest_mcp.report.discovery import whole_discovery as discovered
from pytest_mcp.tools import BY_NAME, INSTRUCTIONS, TOOLS, Tool, dump, test_history
from tests.support.invented.records import discovery, item

# What one client keeps of a description, in bytes.
MAX_WORDS = 2048
LIMITS = {
    "string": [{"minLength", "maxLength"}, {"pattern", "maxLength"}, {"enum"}],
    "integer": [{"minimum", "maximum"}],
    "array": [{"minItems", "maxItems"}],
    "boolean": [set[str]()],
}

every_tool = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a schema, itself among them."""
    if isinstance(schema, dict):
        yield schema
        for entry in schema.values():
            yield from nodes(entry)
    elif isinstance(schema, list):
        for entry in schema:
            yield from nodes(entry)


def properties(tool: Tool) -> dict[str, Any]:
    found: dict[str, Any] = tool.input_schema["properties"]
    return found


@every_tool
def test_an_unknown_parameter_is_refused_by_the_schema_and_none_is_required(tool: Tool) -> None:
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    assert "required" not in tool.input_schema


BY_NAME_ALONE = "does not exist; to select tests by a name alone, use keywords of discover_tests or execute_tests"
FILE_NAME = "must be a file name with letters, digits and _*?.-[] only; a folder goes into path"
NO_AND = "at column 7: unexpected character '&'; join names with and, or, not"


@pytest.mark.parametrize(
    ("tool", "field", "received", "said"),
    [
        ("execute_tests", "failfast", "true", "must be true or false"),
        ("execute_tests", "timeout", 2, "must be a whole number from 1 to 1 (the operator's limit)"),
        ("execute_tests", "workers", 0, "must be a whole number from 1 to 64, or auto"),
        ("execute_tests", "detail", "verbose", "must be 'auto', 'tests' or 'full'"),
        ("execute_tests", "coverage", True, "must be 'changed' or 'all'"),
        ("execute_tests", "keywords", ["a"], "must be a string"),
        ("execute_tests", "path", ["tests"], "must be a string"),
        ("execute_tests", "node_ids", '["test_a.py"]', "is a list written as text; send the list itself"),
        ("execute_tests", "changed", "true", "is a string; send true without quotes, or a git ref"),
        ("execute_tests", "keywords", "login && slow", NO_AND),
        ("execute_tests", "markers", "slow AND fast", "at column 6: expected and, or; got the name AND"),
        ("discover_tests", "pattern", "tests/test_*.py", FILE_NAME),
        ("investigate_failure", "node_id", 3, "must be a string"),
        ("explain_environment", "path", "test_login", BY_NAME_ALONE),
        ("explain_environment", "root", ".", "is not a parameter of explain_environment; it takes path"),
    ],
)
def test_a_message_says_which_parameter_what_was_received_and_what_to_send(
    tmp_path: Path, tool: str, field: str, received: Any, said: str
) -> None:
    with pytest.raises(InvalidParams) as refused:
        BY_NAME[tool].accept({field: received}, Bounds(tmp_path, max_timeout=1, max_tokens=500))

    assert refused.value.message.startswith(f"Invalid params: {field}: {said} (received {json.dumps(received)})")


def test_a_parameter_that_is_missing_or_unknown_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidParams) as refused:
        BY_NAME["investigate_failure"].accept({"bas": "x"}, Bounds(tmp_path, max_timeout=1, max_tokens=500))

    missing, unknown = (fault.message for fault in refused.value.faults)
    assert missing == "one of node_id and node_ids must be given, and not both"
    assert "did you mean base?" in unknown


def test_near_paths_are_looked_for_only_for_the_first_of_many_that_do_not_exist(tmp_path: Path) -> None:
    """Each search lists folders of the project."""
    (tmp_path / "test_cart.py").touch()
    asked = [f"test_carts.py::test_{number}" for number in range(MAX_ASKED + 5)]

    with pytest.raises(InvalidParams) as refused:
        BY_NAME["execute_tests"].accept({"node_ids": asked}, Bounds(tmp_path, max_timeout=1, max_tokens=500))

    said = ["did you mean test_cart.py?" in fault.message for fault in refused.value.faults]
    assert said == [True] * MAX_ASKED + [False] * 5


@every_tool
def test_every_parameter_is_described_and_each_of_its_types_has_its_limits(tool: Tool) -> None:
    for name, schema in properties(tool).items():
        assert schema["description"].endswith("."), name
        for choice in schema.get("anyOf", [schema]):
            assert any(limits <= set(choice) for limits in LIMITS[choice["type"]]), name


@every_tool
def test_a_schema_has_no_null_no_titles_and_no_references(tool: Tool) -> None:
    """Leaving a parameter out is the way to unset it; nobody reads titles; some clients follow no references."""
    for schema in nodes(tool.input_schema):
        assert schema.get("type") != "null"
        assert "default" not in schema or schema["default"] is not None
    for schema in nodes([tool.input_schema, tool.output_schema]):
        assert not isinstance(schema.get("title"), str)
        assert "$ref" not in schema


@every_tool
def test_every_key_of_an_answer_is_promised_to_be_there_unless_it_says_when(tool: Tool) -> None:
    for schema in nodes(tool.answer_schema):
        optional = [name for name in schema.get("properties", {}) if name not in schema["required"]]
        assert all(schema["properties"][name]["description"].startswith("There only ") for name in optional)
    shown = {
        "execute_tests": ["coverage", "base", "timing"],
        "explain_environment": ["members", "sandbox"],
        "investigate_failure": ["tests"],
    }
    keys = tool.output_schema["properties"]
    assert list(keys) == list(tool.answer_schema["properties"])
    assert [name for name in keys if name not in tool.output_schema["required"]] == shown.get(tool.name, [])


def test_what_a_client_is_sent_of_all_tools_is_small() -> None:
    """Hints, titles and the envelope of the list have 1,000 bytes more."""
    sent = [[tool.description, tool.input_schema, tool.output_schema] for tool in TOOLS]

    assert len(json.dumps(sent, separators=(",", ":")).encode()) < 12_500


@pytest.mark.parametrize("tool", [*TOOLS, test_history()], ids=lambda tool: tool.name)
def test_every_tool_has_short_examples_of_arguments_that_it_takes(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_user.py").touch()
    examples = tool.input_schema["examples"]

    for example in examples:
        Draft202012Validator(tool.input_schema).validate(example)
        tool.accept(example, Bounds(tmp_path, max_timeout=1, max_tokens=500))
    assert 0 < len(json.dumps(examples)) < 100


@every_tool
def test_words_fit_into_what_clients_keep_of_them(tool: Tool) -> None:
    assert 0 < len(tool.description.encode("utf-8")) < MAX_WORDS
    assert 0 < len(INSTRUCTIONS.encode("utf-8")) < MAX_WORDS


def test_the_limits_in_a_schema_are_the_absolute_ones() -> None:
    schema = properties(BY_NAME["execute_tests"])
    limits = {name: (schema[name]["minimum"], schema[name]["maximum"]) for name in schema if "maximum" in schema[name]}

    assert limits == {
        "max_tokens": (500, 1_000_000),
        "verbosity": (-2, 2),
        "maxfail": (1, 100_000),
        "timeout": (1, 86_400),
    }
    assert [schema[name]["maxLength"] for name in ("path", "markers", "keywords")] == [4096] * 3
    assert schema["node_ids"]["maxItems"] == 2000


def test_only_the_history_claims_to_read_only_because_collecting_imports_the_projects_modules() -> None:
    assert [tool.name for tool in (*TOOLS, test_history()) if tool.only_reads] == ["test_history"]
    assert [tool.name for tool in TOOLS if tool.runs_tests] == ["execute_tests", "investigate_failure", "check_change"]


def test_an_answer_is_dumped_with_the_names_and_the_order_of_its_schema() -> None:
    answer = dump(discovered(discovery([item("test_a.py::test_one", classes=["T"])])))

    assert list(answer) == ["count", "notices", "collection_errors", "tests", "files", "omitted"]
    assert list(answer["tests"][0]) == ["node_id", "module", "class", "function", "file", "line"]
    assert list(answer) == list(BY_NAME["discover_tests"].output_schema["properties"])
