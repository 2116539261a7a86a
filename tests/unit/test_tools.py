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


def test_the_tools_and_their_parameters_are_those_that_were_promised() -> None:
    shared = {"path", "pattern", "markers", "keywords", "detail", "max_tokens", "changed"}
    running = {"node_ids", "verbosity", "failfast", "maxfail", "show_capture", "locals", "color", "timeout", "workers"}

    assert {tool.name: set(properties(tool)) for tool in TOOLS} == {
        "discover_tests": shared,
        "execute_tests": shared | running | {"coverage"},
        "explain_environment": {"path"},
        "investigate_failure": {"node_id", "base", "runs", "timeout"},
    }


@every_tool
def test_an_unknown_parameter_is_refused_by_the_schema_and_only_the_test_to_investigate_is_required(tool: Tool) -> None:
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema["additionalProperties"] is False
    assert tool.input_schema.get("required", []) == (["node_id"] if tool.name == "investigate_failure" else [])


@pytest.mark.parametrize(("name", "meant"), [("keyword", "did you mean keywords? It takes"), ("plugin", "it takes")])
def test_an_unknown_parameter_is_answered_with_the_nearest_and_all_others(
    tmp_path: Path, name: str, meant: str
) -> None:
    with pytest.raises(InvalidParams) as refused:
        BY_NAME["discover_tests"].accept({name: "x"}, Bounds(tmp_path, max_timeout=1, max_tokens=500))

    assert refused.value.message == (
        f"Invalid params: {name}: is not a parameter of discover_tests;"
        f' {meant} path, pattern, markers, keywords, detail, max_tokens, changed (received "x")'
    )


BY_NAME_ALONE = "does not exist; to select tests by a name alone, use keywords of discover_tests or execute_tests"
FILE_NAME = "must be a file name with letters, digits and _*?.-[] only; a folder goes into path"
NO_AND = "at column 7: unexpected character '&'; join names with and, or, not"


@pytest.mark.parametrize(
    ("tool", "field", "received", "said"),
    [
        ("execute_tests", "failfast", "true", "must be true or false"),
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


def test_a_parameter_that_is_missing_is_said_to_be_required(tmp_path: Path) -> None:
    with pytest.raises(InvalidParams, match=r"^Invalid params: node_id: is required"):
        BY_NAME["investigate_failure"].accept({}, Bounds(tmp_path, max_timeout=1, max_tokens=500))


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
def test_a_schema_stands_alone_because_some_clients_follow_no_references(tool: Tool) -> None:
    assert not any("$ref" in node for node in nodes([tool.input_schema, tool.output_schema]))


@every_tool
def test_every_key_of_an_answer_is_promised_to_be_there_unless_it_says_when(tool: Tool) -> None:
    for schema in nodes(tool.answer_schema):
        optional = [name for name in schema.get("properties", {}) if name not in schema["required"]]
        assert all(schema["properties"][name]["description"].startswith("There only ") for name in optional)
    shown = {"execute_tests": ["coverage"], "explain_environment": ["members"]}
    keys = tool.output_schema["properties"]
    assert list(keys) == list(tool.answer_schema["properties"])
    assert [name for name in keys if name not in tool.output_schema["required"]] == shown.get(tool.name, [])


def test_what_a_client_is_sent_of_all_tools_is_small() -> None:
    """Hints, titles and the envelope of the list have 1,000 bytes more."""
    sent = [[tool.description, tool.input_schema, tool.output_schema] for tool in TOOLS]

    assert len(json.dumps(sent, separators=(",", ":")).encode()) < 11_000


# Names that say it all.
PLAIN_KEYS = {
    "node_id", "node_ids", "file", "line", "function", "message", "traceback", "outcome", "duration", "count", "hint",
    "summary", "name", "folder", "source", "root", "total", "passed", "failed", "skipped", "text_characters", "tests",
    "files", "lines", "omitted", "version", "python", "pytest", "executable", "path", "writable", "free_bytes",
    "problem", "testpaths", "addopts", "interpreter", "config", "git", "runs", "before", "now", "slow", "failing",
    "test", "slowest", "candidates", "plugins", "markers", "python_files", "uncollected", "imported_elsewhere",
}  # fmt: skip


@pytest.mark.parametrize("tool", [*TOOLS, test_history()], ids=lambda tool: tool.name)
def test_every_key_of_an_answer_explains_itself_or_is_described(tool: Tool) -> None:
    shapes = [tool.answer_schema, *tool.answer_schema["$defs"].values()]
    bare = {name for shape in shapes for name, key in shape["properties"].items() if is_bare(key, tool.answer_schema)}

    assert bare <= PLAIN_KEYS


def is_bare(key: dict[str, Any], schema: dict[str, Any]) -> bool:
    """Whether neither the key nor the shape of its value is described."""
    references = [node["$ref"].rpartition("/")[2] for node in nodes(key) if "$ref" in node]
    return "description" not in key and not any("description" in schema["$defs"][name] for name in references)


@pytest.mark.parametrize("tool", [*TOOLS, test_history()], ids=lambda tool: tool.name)
def test_every_tool_has_short_examples_of_arguments_that_it_takes(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_user.py").touch()
    examples = tool.input_schema["examples"]

    for example in examples:
        Draft202012Validator(tool.input_schema).validate(example)
        tool.accept(example, Bounds(tmp_path, max_timeout=1, max_tokens=500))
    assert 0 < len(json.dumps(examples)) < 100


def test_discovery_promises_of_detail_full_only_what_it_has() -> None:
    said = [properties(BY_NAME[name])["detail"]["description"] for name in ("discover_tests", "execute_tests")]

    assert [word in said[0] for word in ("json_report", "printed", "passing", "cause")] == [False] * 4
    assert "json_report" in said[1]


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


def test_no_tool_claims_to_read_only_because_collecting_imports_the_projects_modules() -> None:
    assert not any("read_only" in vars(tool) for tool in TOOLS)
    assert [tool.name for tool in TOOLS if tool.runs_tests] == ["execute_tests", "investigate_failure"]


def test_an_answer_is_dumped_with_the_names_and_the_order_of_its_schema() -> None:
    answer = dump(discovered(discovery([item("test_a.py::test_one", classes=["T"])])))

    assert list(answer) == ["count", "notices", "collection_errors", "tests", "files", "omitted"]
    assert list(answer["tests"][0]) == ["node_id", "module", "class", "function", "file", "line"]
    assert list(answer) == list(BY_NAME["discover_tests"].output_schema["properties"])
