"""A tool's parameters as command-line flags, derived from its schema, and arguments as a person types them.

Nothing is checked here: what is typed is validated like an agent's arguments, with the same messages. People type paths
from the working directory, tools take them from the project's root. An id that does not exist in the working directory
is one of the root, as in our reports. Standard library only: commands parse what is typed before they load the rest.
"""

import argparse
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

Arguments = dict[str, Any]
Schema = Mapping[str, Any]

# pytest's short flags for the same parameters.
SHORT_FLAGS = {"markers": "-m", "keywords": "-k", "failfast": "-x"}
# Typed as pytest's own flag.
_OF_PYTEST = ("last_failed",)
# Separates them from the operator's settings, some of which have the same names.
DEST_PREFIX = "tool_"
# Where an agent's description of a parameter does not fit what is typed, for all tools or for one.
_HELP = {
    "changed": "Only tests that changes since this git ref can reach, nearest first."
    " Without REF: since the default branch.",
    "color": "Print in colour, or not. Default: if it is a terminal.",
    "coverage": "Show lines that did not run, with the project's coverage.py: all, or those changed since --changed.",
    "execute_tests detail": "auto: one failure of each cause. tests: every test and failure. full: also pytest's own"
    " tracebacks and output.",
    "execute_tests timeout": "Stop after so many seconds, and print what had finished. Default: that of --timeout"
    " before the command, else that of --max-timeout.",
    "investigate_failure node_ids": "The failing test, or several.",
    "max_tokens": "Size limit of the answer in tokens. Default: none; with --json that of the tool.",
    "show_capture": "Print all output of failing tests, or none. Default: its last lines.",
    "test_history node_id": "One test, for `history test`.",
    "timeout": "Stop after so many seconds, and print what is known by then. Default: that of --timeout before the"
    " command.",
}


def add_to(parser: argparse.ArgumentParser, tool: str, parameters: Schema) -> None:
    """A flag for each parameter of this tool, and `--json`."""
    required = parameters.get("required", ())
    for name, schema in parameters["properties"].items():
        # One of several is typed like several.
        if name in _OF_PYTEST or f"{name}s" in parameters["properties"]:
            continue
        dest, text = DEST_PREFIX + name, _help(tool, name, schema)
        if schema.get("type") == "array":
            one = name.removesuffix("s")
            nargs = "+" if one in parameters["properties"] else "*"
            parser.add_argument(dest, nargs=nargs, metavar=one.upper(), default=argparse.SUPPRESS, help=text)
        elif name in required:
            parser.add_argument(dest, metavar=name.upper(), help=text)
        else:
            flags = [SHORT_FLAGS[name]] if name in SHORT_FLAGS else []
            kind = _kind(name, schema)
            parser.add_argument(*flags, _flag(name), dest=dest, default=argparse.SUPPRESS, help=text, **kind)
    parser.add_argument("--json", action="store_true", help=f"print the answer of {tool} as one line of JSON")


def add_page_flags(parser: argparse.ArgumentParser) -> None:
    """What they do is in `cli/page_file.py`."""
    parser.add_argument("--html", metavar="FILE", help="write a page about it: one file that needs nothing else")
    parser.add_argument("--open", action="store_true", help="open the page of --html in a browser")


def arguments(options: argparse.Namespace) -> Arguments:
    """Only what was typed: the model has the defaults."""
    typed = {name: value for name, value in vars(options).items() if name.startswith(DEST_PREFIX)}
    return {name.removeprefix(DEST_PREFIX): value for name, value in typed.items() if value != []}


def take_one(options: argparse.Namespace, several: str, one: str) -> None:
    """A list of one is given as the parameter for one."""
    given = getattr(options, DEST_PREFIX + several, [])
    if len(given) == 1:
        delattr(options, DEST_PREFIX + several)
        setattr(options, DEST_PREFIX + one, given[0])


def add_typed(options: argparse.Namespace, given: Arguments) -> None:
    """Add arguments that come from other flags. What was typed by the parameter's own name is kept, except lists."""
    for name, value in given.items():
        if isinstance(value, list) or not hasattr(options, DEST_PREFIX + name):
            setattr(options, DEST_PREFIX + name, value)


def as_typed(given: Arguments) -> list[str]:
    """Arguments as they would be typed: node ids without a flag, and first."""
    words = [*given.get("node_ids", ()), *([given["node_id"]] if "node_id" in given else [])]
    for name, value in given.items():
        if isinstance(value, bool):
            words.append(_flag(name if value else f"no_{name}"))
        elif name not in ("node_ids", "node_id"):
            words.append(f"{_flag(name)}={value}")
    return words


def command(name: str, given: Arguments, settings: Sequence[str]) -> str:
    """The whole command, with the operator's flags that were typed."""
    return shlex.join(["pytest-mcp", *settings, name, *as_typed(given)])


def shortest(name: str) -> str:
    """How this parameter is typed."""
    return SHORT_FLAGS.get(name) or _flag(name)


def from_root(given: Arguments, root: Path) -> Arguments:
    """The same with paths that count from the root. Whether they may be used is decided in `api/targets.py`."""
    return _with_paths(given, lambda word: _from_root(word, root))


def rerun_command(rerun: Arguments, settings: Sequence[str], root: Path) -> str:
    """The command that runs these paths of the root, as it has to be typed in the working directory."""
    return command("run", _with_paths(rerun, lambda word: typed_path(word, root)), settings)


def typed_path(node_id: str, root: Path) -> str:
    """The id itself, unless something else in the working directory has that name."""
    if _from_root(node_id, root) == node_id:
        return node_id
    path, separator, selector = node_id.partition("::")
    return f"{os.path.relpath(root / path)}{separator}{selector}"


def _with_paths(given: Arguments, change: Callable[[str], str]) -> Arguments:
    changed = dict(given)
    for name in given.keys() & {"path", "node_id"}:
        changed[name] = change(given[name])
    if "node_ids" in given:
        changed["node_ids"] = [change(word) for word in given["node_ids"]]
    return changed


def _from_root(word: str, root: Path) -> str:
    path, separator, selector = word.partition("::")
    here = Path(os.path.abspath(path))  # noqa: PTH100 - symlinks keep their own names, as in ids
    if not path or not here.is_relative_to(root):
        return word
    counts_from_root = not os.path.lexists(here) and os.path.lexists(root / path)
    return word if counts_from_root else f"{here.relative_to(root).as_posix()}{separator}{selector}"


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def help_of(tool: str, name: str, description: str) -> str:
    return _HELP.get(f"{tool} {name}") or _HELP.get(name, description)


def _help(tool: str, name: str, schema: Schema) -> str:
    # The description of a switch says what happens without it.
    has_default = "default" in schema and schema.get("type") != "boolean"
    default = f" (default: {schema['default']})" if has_default else ""
    return f"{help_of(tool, name, schema['description'])}{default}".replace("%", "%%")


def _kind(name: str, schema: Schema) -> dict[str, Any]:
    if schema.get("type") == "boolean":
        return {"action": argparse.BooleanOptionalAction}
    choices = schema.get("anyOf", [schema])
    if any(choice["type"] == "boolean" for choice in choices):
        return {"action": Once, "nargs": "?", "const": True, "type": lambda word: word or True, "metavar": "REF"}
    return {"action": Once, "metavar": "|".join(_metavar(name, choice) for choice in choices)}


def _metavar(name: str, schema: Schema) -> str:
    if "enum" in schema:
        return "{" + ",".join(schema["enum"]) + "}"
    return "N" if schema["type"] == "integer" else name.upper()


class Once(argparse.Action):
    """Refuses a flag that was given before: to take the last one would leave out what the first one selects."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if hasattr(namespace, self.dest):
            advice = "; write several paths without it" if self.dest == f"{DEST_PREFIX}path" else ""
            parser.error(f"{option} was given twice{advice}")
        setattr(namespace, self.dest, values)
