"""A tool's parameters as command-line flags, derived from the tool's schema.

In come a schema and a parsed command line; out come the arguments of a call, as an agent sends them. They are not
checked here: they are validated like an agent's arguments, with the same messages. Standard library only: commands
parse what is typed before they load anything else.
"""

import argparse
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

Arguments = dict[str, Any]
Schema = Mapping[str, Any]

# pytest's short flags for the same parameters.
SHORT_FLAGS = {"markers": "-m", "keywords": "-k", "failfast": "-x"}
# Separates them from the operator's settings, some of which have the same names.
DEST_PREFIX = "tool_"
# Where an agent's description of a parameter does not fit what is typed.
_HELP = {
    "changed": "Only tests that changes since this git ref can reach, nearest first."
    " Without REF: since the default branch."
}


def add_to(parser: argparse.ArgumentParser, tool: str, parameters: Schema) -> None:
    """A flag for each parameter of this tool, and `--json`."""
    required = parameters.get("required", ())
    for name, schema in parameters["properties"].items():
        dest = DEST_PREFIX + name
        common: dict[str, Any] = {"default": argparse.SUPPRESS, "help": _help(name, schema)}
        if schema.get("type") == "array":
            parser.add_argument(dest, nargs="*", metavar=name.upper().removesuffix("S"), **common)
        elif name in required:
            parser.add_argument(dest, metavar=name.upper(), help=common["help"])
        else:
            flags = [SHORT_FLAGS[name]] if name in SHORT_FLAGS else []
            parser.add_argument(*flags, _flag(name), dest=dest, **common, **_kind(name, schema))
    parser.add_argument("--json", action="store_true", help=f"print the answer of {tool} as one line of JSON")


def add_page_flags(parser: argparse.ArgumentParser) -> None:
    """What they do is in `cli/page_file.py`."""
    parser.add_argument("--html", metavar="FILE", help="write a page about it: one file that needs nothing else")
    parser.add_argument("--open", action="store_true", help="open the page of --html in a browser")


def arguments(options: argparse.Namespace) -> Arguments:
    """Only what was typed: the model has the defaults."""
    typed = {
        name.removeprefix(DEST_PREFIX): value for name, value in vars(options).items() if name.startswith(DEST_PREFIX)
    }
    return {name: value for name, value in typed.items() if value != []}


def add_typed(options: argparse.Namespace, given: Arguments) -> None:
    """Add arguments that come from other flags. What was typed by the parameter's own name is kept, except lists."""
    for name, value in given.items():
        if isinstance(value, list) or not hasattr(options, DEST_PREFIX + name):
            setattr(options, DEST_PREFIX + name, value)


def as_typed(given: Arguments) -> list[str]:
    """Arguments as they would be typed."""
    words = [word for value in given.values() if isinstance(value, list) for word in value]
    return words + [_typed_flag(name, value) for name, value in given.items() if not isinstance(value, list)]


def _typed_flag(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return _flag(name) if value else _flag(f"no_{name}")
    return f"{_flag(name)}={value}"


def command(name: str, given: Arguments, settings: Sequence[str]) -> str:
    """The whole command, with the operator's flags that were typed."""
    return shlex.join(["pytest-mcp", *settings, name, *as_typed(given)])


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def shortest(name: str) -> str:
    """How this parameter is typed."""
    return SHORT_FLAGS.get(name) or _flag(name)


def _help(name: str, schema: Schema) -> str:
    # The description of a switch says what happens without it.
    has_default = "default" in schema and schema.get("type") != "boolean"
    default = f" (default: {schema['default']})" if has_default else ""
    return f"{_HELP.get(name, schema['description'])}{default}".replace("%", "%%")


def _kind(name: str, schema: Schema) -> dict[str, Any]:
    if schema.get("type") == "boolean":
        return {"action": argparse.BooleanOptionalAction}
    choices = schema.get("anyOf", [schema])
    if any(choice["type"] == "boolean" for choice in choices):
        return {"action": Once, "nargs": "?", "const": True, "type": lambda word: word or True, "metavar": "REF"}
    return {"action": Once, "metavar": "|".join(_metavar(name, choice) for choice in choices)}


class Once(argparse.Action):
    """Refuses a flag that was given before: to take the last one would leave out what the first one selects."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if hasattr(namespace, self.dest):
            advice = "; write several paths without it" if self.dest == f"{DEST_PREFIX}path" else ""
            parser.error(f"{option} was given twice{advice}")
        setattr(namespace, self.dest, values)


def _metavar(name: str, schema: Schema) -> str:
    if "enum" in schema:
        return "{" + ",".join(schema["enum"]) + "}" if len(schema["enum"]) > 1 else str(schema["enum"][0])
    return "N" if schema["type"] == "integer" else name.upper()
