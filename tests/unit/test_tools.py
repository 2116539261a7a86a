from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.api.errors import InvalidParams
from pytest_mcp.api.near_matches import MOST_ASKED
from pytest_mcp.config.model import Bounds
from pytest_mcp.report.result import discovered
from pytest_mcp.tools import BY_NAME, INSTRUCTIONS, TOOLS, Tool, dump
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


def test_discover_tests_stands_first_because_an_agent_reads_from_the_top() -> None:
    assert [tool.name for tool in TOOLS] == [
        "discover_tests",
        "execute_tests",
        "explain_environment",
        "investigate_failure",
    ]
    assert list(BY_NAME) == [tool.name for tool in TOOLS]


def test_the_parameters_are_those_that_were_promised() -> None:
    shared = {"path", "pattern", "markers", "keywords", "detail", "max_tokens", "changed"}
    running = {"node_ids", "verbosity", "failfast", "maxfail", "show_capture", "locals", "color", "timeout", "workers"}

    assert set(properties(BY_NAME["discover_tests"])) == shared
    assert set(properties(BY_NAME["execute_tests"])) == shared | running | {"coverage"}
    assert set(properties(BY_NAME["explain_environment"])) == {"path"}
    assert set(properties(BY_NAME["investigate_failure"])) == {"node_id", "base", "runs", "timeout"}


@every_tool
def test_an_unknown_parameter_is_refused_by_the_schema_and_only_the_test_to_investigate_is_required(tool: Tool) -> None:
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    assert tool.input_schema.get("required", []) == (["node_id"] if tool.name == "investigate_failure" else [])


@pytest.mark.parametrize(("name", "meant"), [("keyword", "did you mean keywords? There are"), ("plugin", "there are")])
def test_an_unknown_parameter_is_answered_with_the_nearest_and_all_others(
    tmp_path: Path, name: str, meant: str
) -> None:
    with pytest.raises(InvalidParams) as refused:
        BY_NAME["discover_tests"].accept({name: "x"}, Bounds(tmp_path, max_timeout=1, max_tokens=500))

    assert refused.value.message == (
        f"Invalid params: {name}: is not a parameter of discover_tests;"
        f' {meant} path, pattern, markers, keywords, detail, max_tokens, changed (received "x")'
    )


def test_near_paths_are_looked_for_only_for_the_first_of_many_that_do_not_exist(tmp_path: Path) -> None:
    """Each search lists folders of the project."""
    (tmp_path / "test_cart.py").touch()
    asked = [f"test_carts.py::test_{number}" for number in range(MOST_ASKED + 5)]

    with pytest.raises(InvalidParams) as refused:
        BY_NAME["execute_tests"].accept({"node_ids": asked}, Bounds(tmp_path, max_timeout=1, max_tokens=500))

    said = ["did you mean test_cart.py?" in fault.message for fault in refused.value.faults]
    assert said == [True] * MOST_ASKED + [False] * 5


@every_tool
def test_every_parameter_is_described_and_each_of_its_types_has_its_limits(tool: Tool) -> None:
    for name, schema in properties(tool).items():
        assert schema["description"].endswith("."), name
        for choice in schema.get("anyOf", [schema]):
            assert any(limits <= set(choice) for limits in LIMITS[choice["type"]]), name


@every_tool
def test_every_element_of_a_list_has_its_limits_too(tool: Tool) -> None:
    lists = [schema for schema in properties(tool).values() if schema.get("type") == "array"]

    assert all({"minLength", "maxLength"} <= set(schema["items"]) for schema in lists)


@every_tool
def test_no_parameter_offers_null_because_leaving_it_out_is_the_way_to_unset_it(tool: Tool) -> None:
    for schema in nodes(tool.input_schema):
        assert schema.get("type") != "null"
        assert "default" not in schema or schema["default"] is not None


@every_tool
def test_the_schemas_hold_no_titles_that_nobody_reads(tool: Tool) -> None:
    for schema in nodes([tool.input_schema, tool.output_schema]):
        assert not isinstance(schema.get("title"), str)


@every_tool
def test_every_reference_in_a_schema_leads_somewhere(tool: Tool) -> None:
    for schema in (tool.input_schema, tool.output_schema):
        references = {node["$ref"] for node in nodes(schema) if "$ref" in node}
        assert references <= {f"#/$defs/{name}" for name in schema.get("$defs", {})}


@every_tool
def test_every_key_of_an_answer_is_promised_to_be_there(tool: Tool) -> None:
    for schema in nodes(tool.output_schema):
        if "properties" in schema:
            assert schema["required"] == list(schema["properties"])


@every_tool
def test_words_fit_into_what_clients_keep_of_them(tool: Tool) -> None:
    assert 0 < len(tool.description.encode("utf-8")) < MAX_WORDS
    assert 0 < len(INSTRUCTIONS.encode("utf-8")) < MAX_WORDS


@every_tool
def test_the_limits_in_a_schema_are_the_absolute_ones(tool: Tool) -> None:
    limits = {
        "path": {"minLength": 1, "maxLength": 4096},
        "markers": {"minLength": 1, "maxLength": 4096},
        "keywords": {"minLength": 1, "maxLength": 4096},
        "max_tokens": {"minimum": 500, "maximum": 1_000_000},
        "node_ids": {"minItems": 1, "maxItems": 2000},
        "verbosity": {"minimum": -2, "maximum": 2},
        "maxfail": {"minimum": 1, "maximum": 100_000},
        "timeout": {"minimum": 1, "maximum": 86_400},
    }

    for name, schema in properties(tool).items():
        expected = limits.get(name, {})
        assert {key: schema[key] for key in expected} == expected, name


def test_no_tool_claims_to_read_only_because_collecting_imports_the_projects_modules() -> None:
    assert not any("read_only" in vars(tool) for tool in TOOLS)
    assert BY_NAME["execute_tests"].destructive
    assert not BY_NAME["discover_tests"].destructive
    assert not BY_NAME["explain_environment"].destructive


def test_an_answer_is_dumped_with_the_names_and_the_order_of_its_schema() -> None:
    answer = dump(discovered(discovery([item("test_a.py::test_one", classes=["T"])])))

    assert list(answer) == ["count", "notices", "collection_errors", "tests", "files", "omitted"]
    assert list(answer["tests"][0]) == ["node_id", "module", "class", "function", "file", "line"]
    assert list(answer) == list(BY_NAME["discover_tests"].output_schema["properties"])
