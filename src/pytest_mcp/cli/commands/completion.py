"""`pytest-mcp completion SHELL`: print the script with which a shell completes our commands, flags and values.

In comes the name of a shell; out comes a script that is read once and starts nothing of ours afterwards. shtab writes
it from the parser itself, so every flag is in it.
"""

import argparse
import re
from collections.abc import Iterator

import shtab

from pytest_mcp.cli import main as command_line
from pytest_mcp.cli.output import show
from pytest_mcp.cli.setup import goose
from pytest_mcp.cli.setup.client import TOOL_NAMES
from pytest_mcp.cli.setup.known_clients import CLIENTS
from pytest_mcp.config.options import LoadConfig

SHELLS = ("bash", "zsh", "fish")
# What the shell completes itself, by the metavar of an argument.
_PATHS = {
    **dict.fromkeys(("ANSWER", "FILE", "FILE|URL", "NODE_ID", "PATH"), shtab.FILE),
    "FOLDER": shtab.DIRECTORY,
}
# Words that a command checks itself: by the name of an argument, or as the metavar lists them.
_WORDS = {"clients": [*(client.name for client in CLIENTS), goose.NAME], "tool": [*TOOL_NAMES]}
_LISTED = re.compile(r"\{([a-z,_]+)\}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Add this to the start-up file of your shell, here for bash: source <(pytest-mcp completion bash)"
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads the script")


def main(options: argparse.Namespace, _load_config: LoadConfig) -> int:
    parser = command_line.parser_of_every_command()
    for action in _arguments(parser):
        if (path := _PATHS.get(str(action.metavar))) is not None:
            action.complete = path  # type: ignore[attr-defined]
        elif listed := _LISTED.fullmatch(str(action.metavar)):
            action.choices = listed[1].split(",")
        elif action.dest in _WORDS:
            action.choices = _WORDS[action.dest]
    show(shtab.complete(parser, options.shell))
    return 0


def _arguments(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _arguments(command)
        else:
            yield action
