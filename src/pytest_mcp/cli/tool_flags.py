"""A tool's parameters as a person types them: one flag for each, derived from the tool's own schema.

In come a tool and a command line; out come the arguments of a call, in the shape in which an agent sends them.
What is wrong with them is found where an agent's are checked, and said in the same words.
"""

import argparse
from collections.abc import Mapping
from typing import Any

from pytest_mcp.tools import Tool

Arguments = dict[str, Any]
Schema = Mapping[str, Any]

# pytest's own letters for the same things.
LETTERS = {"markers": "-m", "keywords": "-k", "failfast": "-x"}
# Keeps them apart from the operator's settings, some of which have the same names.
PREFIX = "asked_"


def add_to(parser: argparse.ArgumentParser, tool: Tool) -> None:
    for name, schema in tool.input_schema["properties"].items():
        words = _words(schema)
        if schema["type"] == "array":
            metavar = name.upper().removesuffix("S")
            parser.add_argument(PREFIX + name, nargs="*", default=argparse.SUPPRESS, metavar=metavar, help=words)
        else:
            letters = [LETTERS[name]] if name in LETTERS else []
            kind = _kind(name, schema)
            parser.add_argument(
                *letters, _flag(name), dest=PREFIX + name, default=argparse.SUPPRESS, help=words, **kind
            )


def arguments(options: argparse.Namespace) -> Arguments:
    """What was typed, and nothing else: the defaults are the model's."""
    typed = {name.removeprefix(PREFIX): value for name, value in vars(options).items() if name.startswith(PREFIX)}
    return {name: value for name, value in typed.items() if value != []}


def said(given: Arguments) -> list[str]:
    """Arguments as they would be typed."""
    words = [word for value in given.values() if isinstance(value, list) for word in value]
    return words + [f"{_flag(name)}={value}" for name, value in given.items() if not isinstance(value, list)]


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _words(schema: Schema) -> str:
    # Of a switch the description tells what holds without it.
    has_default = "default" in schema and schema["type"] != "boolean"
    default = f" (default: {schema['default']})" if has_default else ""
    return f"{schema['description']}{default}".replace("%", "%%")


def _kind(name: str, schema: Schema) -> dict[str, Any]:
    if schema["type"] == "boolean":
        return {"action": argparse.BooleanOptionalAction}
    choices = "{" + ",".join(schema.get("enum", ())) + "}"
    return {
        "metavar": choices if "enum" in schema else "N" if schema["type"] == "integer" else name.upper(),
        "type": _number if schema["type"] == "integer" else str,
    }


def _number(word: str) -> int | str:
    """What is no number is refused later, as if an agent had said it."""
    try:
        return int(word)
    except ValueError:
        return word
