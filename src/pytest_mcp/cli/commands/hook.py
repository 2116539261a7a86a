"""`pytest-mcp hook`: answer an agent that types pytest into its shell with the advice to use the tools.

Claude Code calls it before each command of its shell. In comes that call as JSON on stdin; out comes a refusal with the
advice, or nothing, which lets the command run. In doubt nothing: only a line that runs pytest, and beside it changes
folders or filters output, is refused. Imports little, because an agent waits for it.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from pytest_mcp.cli.output import show
from pytest_mcp.config.options import LoadConfig

ADVICE = (
    "Run tests with the tool execute_tests of the MCP server `pytest` instead: it takes node ids, keywords and markers,"
    " and its answer names every failure with its cause. If the tool is missing or cannot do what you need, put the"
    " word `command` before this command."
)
Kind = Literal["pytest", "harmless", "other"]
HARMLESS = frozenset({"cd", "source", ".", "export", "echo", "true", "cat", "head", "tail", "grep", "sort", "wc"})
# Programs that run another one in a project's environment.
RUNNERS = frozenset({"uv", "poetry", "pdm", "hatch", "pipenv", "pixi", "rye"})
# With these pytest runs no test, or needs a terminal.
NO_RUN = frozenset({"--version", "-V", "--help", "-h", "--fixtures", "--markers", "--pdb", "--trace"})
SEPARATORS = frozenset(";&|\n")
REDIRECTIONS = frozenset("<>&|")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has no arguments: everything is on stdin."""


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:  # noqa: ARG001 - the interface of a command
    if runs_pytest(_line(sys.stdin.read())):
        decision = {"permissionDecision": "deny", "permissionDecisionReason": ADVICE}
        show(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}))
    return 0


def _line(call: str) -> str:
    """The command line of the call; empty if it is anything else."""
    try:
        line: Any = json.loads(call)["tool_input"]["command"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return line if isinstance(line, str) else ""


def runs_pytest(line: str) -> bool:
    try:
        kinds = {_kind(words) for words in _commands(line)}
    except ValueError:
        return False
    return "pytest" in kinds and "other" not in kinds


def _commands(line: str) -> Iterator[list[str]]:
    """The words of each command; raises ValueError if the line has anything but simple commands."""
    # Quotes are kept, so that a quoted separator is none.
    lexer = shlex.shlex(line, posix=False, punctuation_chars=";&|()<>\n`")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    words: list[str] = []
    for word in lexer:
        if SEPARATORS.issuperset(word):
            yield words
            words = []
        elif set(word) & set("()`") or "<<" in word:
            raise ValueError(word)
        elif not REDIRECTIONS.issuperset(word):
            words.append(word)
    yield words


def _kind(words: Sequence[str]) -> Kind:
    if any(word.count(quote) % 2 for word in words for quote in "\"'"):
        return "other"
    rest = list(words)
    while rest and "=" in rest[0] and rest[0].partition("=")[0].isidentifier():
        del rest[0]
    if rest[:1] == ["timeout"]:
        del rest[:2]
    if len(rest) > 1 and rest[0] in RUNNERS and rest[1] == "run":
        del rest[:2]
    if not rest or rest[0] in HARMLESS:
        return "harmless"
    name = rest[0].rpartition("/")[2]
    if name not in ("pytest", "py.test") and not (name.startswith("python") and rest[1:3] == ["-m", "pytest"]):
        return "other"
    return "harmless" if NO_RUN.intersection(rest) else "pytest"
