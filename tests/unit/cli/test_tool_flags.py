"""A tool's parameters as flags, and back."""

import argparse
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.requests import DiscoverTargets, DiscoverTests
from pytest_mcp.cli import tool_flags
from pytest_mcp.cli.commands import call
from pytest_mcp.tools import BY_NAME, TOOLS, Tool
from pytest_mcp.tools import test_history as history_tool

EXECUTE = BY_NAME["execute_tests"]


def parsed(tool: Tool, *typed: str) -> tool_flags.Arguments:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    tool_flags.add_to(parser, tool.name, tool.input_schema)
    return tool_flags.arguments(parser.parse_args(typed))


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_parameter_has_its_flag_with_its_description(tool: Tool) -> None:
    parser = argparse.ArgumentParser(formatter_class=lambda prog: argparse.HelpFormatter(prog, width=1000))
    tool_flags.add_to(parser, tool.name, tool.input_schema)

    said = parser.format_help()

    for name, field in tool.request.model_fields.items():
        if name in tool_flags._OF_PYTEST:
            continue
        if name == "node_id":
            continue  # typed like node_ids
        assert ("NODE_ID" if name.startswith("node_id") else f"--{name.replace('_', '-')}") in said
        assert field.description is not None
        assert tool_flags.help_of(tool.name, name, field.description) in said


def test_the_help_of_call_names_every_tool() -> None:
    parser = argparse.ArgumentParser()
    call.add_arguments(parser)

    said = parser.format_help()

    assert [tool.name for tool in (*TOOLS, history_tool()) if tool.name not in said] == []


def test_the_command_discover_describes_the_detail_of_discovery() -> None:
    described = [request.model_fields["detail"].description for request in (DiscoverTargets, DiscoverTests)]

    assert described[0] == described[1]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_nothing_typed_is_nothing_asked_but_what_is_required(tool: Tool) -> None:
    required = {"node_ids": ["a.py::b"]} if tool.name == "investigate_failure" else {}

    assert parsed(tool, *required.get("node_ids", ())) == required


@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("-m slow -k login", {"markers": "slow", "keywords": "login"}),
        ("-x --no-show-capture --color", {"failfast": True, "show_capture": False, "color": True}),
        ("--no-failfast --show-capture --no-color", {"failfast": False, "show_capture": True, "color": False}),
        ("--verbosity -2 --maxfail=3 --timeout 9", {"verbosity": "-2", "maxfail": "3", "timeout": "9"}),
        ("--verbosity= --maxfail=1.5 --max-tokens x", {"verbosity": "", "maxfail": "1.5", "max_tokens": "x"}),
        ("--detail everything", {"detail": "everything"}),
        ("--changed= a.py", {"changed": True, "node_ids": ["a.py"]}),
        ("--changed=main a.py", {"changed": "main", "node_ids": ["a.py"]}),
        ("--workers 2", {"workers": "2"}),
        ("--workers auto", {"workers": "auto"}),
        ("a.py::b c/d", {"node_ids": ["a.py::b", "c/d"]}),
    ],
)
def test_what_is_typed_is_what_an_agent_would_send(typed: str, arguments: dict[str, Any]) -> None:
    """Invalid arguments too: they are refused where an agent's arguments are refused."""
    assert parsed(EXECUTE, *typed.split(" ")) == arguments


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--path a --path b", "--path was given twice; write several paths without it"),
        ("-k a --keywords b", "--keywords was given twice"),
        ("--changed --changed=main", "--changed was given twice"),
    ],
)
def test_a_flag_that_is_given_twice_is_refused(typed: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The last one alone would be a smaller run than was asked for."""
    with pytest.raises(SystemExit):
        parsed(EXECUTE, *typed.split(" "))

    assert said in capsys.readouterr().err


WORDS = st.text(min_size=1).filter(lambda word: not word.startswith("-"))


OPTIONAL = {"node_ids": st.lists(WORDS, min_size=1), "path": WORDS, "failfast": st.booleans()}


@given(st.fixed_dictionaries({"pattern": st.text()}, optional=OPTIONAL))
def test_arguments_said_and_parsed_are_the_same_again(arguments: dict[str, Any]) -> None:
    assert parsed(EXECUTE, *tool_flags.as_typed(arguments)) == arguments
