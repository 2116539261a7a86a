"""`pytest-mcp hook`: answer an agent that types pytest into its shell with the call of a tool that does the same.

Claude Code calls it before each command of its shell. In comes that call as JSON on stdin; out comes a refusal that
says what to call instead, or nothing, which lets the command run. In doubt nothing: only a line that is a test run and
nothing else is refused, and only if execute_tests can do all that was typed. Imports little: an agent waits for it.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pytest_mcp.config.options import LoadConfig
from pytest_mcp.terminal.output import show

# A longer call is not looked at. What a person or an agent types to run tests has a hundredth of it.
LONGEST = 64 * 1024
ADVICE = (
    "Call the tool execute_tests of the MCP server `pytest` instead, {arguments}: its answer names every failure with"
    " its cause. If the tool is missing or cannot do what you need, put the word `command` before this command."
)
# Programs that run another one in a project's environment.
RUNNERS = frozenset({"uv", "poetry", "pdm", "hatch", "pipenv", "pixi", "rye"})
# What reads the output of a test run and writes no file.
FILTERS = frozenset({"cat", "grep", "head", "tail", "wc"})
# What does nothing if no test runs.
IDLE = frozenset({":", "echo", "set", "true"})
# Claude Code tells a hook the project's folder, where it also starts servers.
PROJECT = "CLAUDE_PROJECT_DIR"

# Everything that is understood. There is no backslash, no glob, no variable but $?, and a redirection only to nowhere.
_TOKEN = re.compile(
    r"[ \t\r]*+(?:(?P<nowhere>(?:[12&]?>>?[ \t]*+/dev/null|2>&1)(?![^\s;&|]))|(?P<separator>&&|\|\||[;\n]|\|(?!&))"
    r"""|(?P<word>(?:[\w./:@%+,=\[\]-]|\$\?|'[^'\n]*+'|"(?:[^"$`\\!\n]|\$\?)*+")++)|(?P<end>\Z))"""
)
_QUOTED = re.compile("'([^']*+)'|\"([^\"]*+)\"")
# Flags of pytest without a value, and the arguments that mean the same; those that change the output mean nothing here.
_FLAGS: dict[str, dict[str, Any]] = {
    "-x": {"failfast": True},
    "--exitfirst": {"failfast": True},
    "-l": {"locals": True},
    "--showlocals": {"locals": True},
    "-s": {"show_capture": True},
    "--no-header": {},
    "--no-summary": {},
}
# Flags with a value, and the parameter for it.
_VALUES = {
    "-k": "keywords",
    "-m": "markers",
    "--maxfail": "maxfail",
    "-n": "workers",
    "--tb": None,
}
# What execute_tests takes, with the limits that a server has unless its operator sets others.
_MOST = {"maxfail": 100_000, "workers": 64, "timeout": 3600}
_OUTPUT = re.compile(r"-[vq]+|-r\w+|--verbose|--quiet|--color=\w+")
_JOINED = re.compile(r"(--[a-z]+)=(.*)|(-[kmn])=?(.+)", re.DOTALL)

Arguments = dict[str, Any]


class NotUnderstood(Exception):
    """The line may be anything, or does more than to run tests."""


class Command(NamedTuple):
    """One command of a line, and whether it reads what the one before it writes."""

    words: list[str]
    is_piped: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has no arguments: everything is on stdin."""


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:  # noqa: ARG001 - the interface of a command
    call = sys.stdin.buffer.read(LONGEST + 1)
    while len(call) > LONGEST and sys.stdin.buffer.read(LONGEST):
        """Whoever writes to a closed pipe gets an error."""
    if len(call) <= LONGEST and (arguments := _test_run_of(call)) is not None:
        reason = ADVICE.format(arguments=f"with {json.dumps(arguments)}" if arguments else "without arguments")
        decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        show(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}))
    return 0


def _test_run_of(call: bytes) -> Arguments | None:
    try:
        message: Any = json.loads(call)
        line, here = str(message["tool_input"]["command"]), str(message.get("cwd", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return test_run(line, here, os.environ.get(PROJECT, here))


def test_run(line: str, here: str, project: str) -> Arguments | None:
    """The arguments of execute_tests for a line that runs pytest once and does nothing else; None for any other.

    `here` is where the shell is. In another folder than the project's, paths and settings are others too.
    """
    found = []
    try:
        for command in _commands(line):
            if command.words[:1] == ["cd"] and len(command.words) == 2:
                here = os.path.join(here, command.words[1])  # noqa: PTH118 - pathlib takes long to import
            elif (arguments := _of_command(command, project)) is not None:
                found.append(arguments)
    except NotUnderstood:
        return None
    return found[0] if len(found) == 1 and os.path.normpath(here) == os.path.normpath(project) else None


# It is not a test for pytest.
test_run.__test__ = False  # type: ignore[attr-defined]


def _commands(line: str) -> Iterator[Command]:
    words: list[str] = []
    at, is_piped, has_ended = 0, False, False
    while not has_ended:
        token = _TOKEN.match(line, at)
        if token is None:
            raise NotUnderstood
        at, has_ended = token.end(), token["end"] is not None
        if token["word"]:
            words.append(_QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or "", token["word"]))
        elif token["separator"] or has_ended:
            yield Command(words, is_piped)
            words, is_piped = [], token["separator"] == "|"


def _of_command(command: Command, project: str) -> Arguments | None:
    """The arguments of a test run; None for a command that does nothing without one."""
    words = command.words
    if command.is_piped:
        if words and words[0] in FILTERS:
            return None
        raise NotUnderstood
    if not words or words[0] in IDLE or _activates(words, project):
        return None
    timeout, words = _without_timeout(words)
    return _taken({**_arguments(_after_pytest(words, project)), **timeout}, project)


def _taken(arguments: Arguments, project: str) -> Arguments:
    """The same, if execute_tests takes them."""
    numbers = [name for name in _MOST if arguments.get(name, "auto") != "auto"]
    wrong = [name for name in numbers if arguments[name] not in range(1, _MOST[name] + 1)]
    targets = [target.partition("::")[0] for target in arguments.get("node_ids", ())]
    if wrong or {"failfast", "maxfail"} <= arguments.keys() or not all(_is_inside(each, project) for each in targets):
        raise NotUnderstood
    return arguments


def _is_inside(path: str, project: str) -> bool:
    inside = not path.startswith("/") or path.startswith(f"{project}/")
    return inside and ".." not in path.split("/") and not path.startswith("@")


def _activates(words: Sequence[str], project: str) -> bool:
    is_script = len(words) == 2 and words[0] in ("source", ".") and words[1].endswith("bin/activate")
    return is_script and _is_inside(words[1], project)


def _without_timeout(words: list[str]) -> tuple[Arguments, list[str]]:
    if words[0] != "timeout":
        return {}, words
    if len(words) < 3 or not words[1].isdecimal():
        raise NotUnderstood
    return {"timeout": int(words[1])}, words[2:]


def _after_pytest(words: list[str], project: str) -> list[str]:
    """What follows the program, if that is the project's own pytest."""
    if len(words) > 2 and words[0] in RUNNERS and words[1] == "run":
        words = words[2:]
    name = words[0].rpartition("/")[2]
    if not _is_inside(words[0], project):
        raise NotUnderstood
    if name in ("pytest", "py.test"):
        return words[1:]
    if name in ("python", "python3") and words[1:3] == ["-m", "pytest"]:
        return words[3:]
    raise NotUnderstood


def _arguments(words: Sequence[str]) -> Arguments:
    made: Arguments = {}
    targets: list[str] = []
    rest = iter(words)
    for word in rest:
        joined = _JOINED.fullmatch(word)
        flag = (joined[1] or joined[3]) if joined else word
        if word in _FLAGS:
            made |= _FLAGS[word]
        elif flag in _VALUES:
            made |= _valued(_VALUES[flag], (joined[2] or joined[4]) if joined else next(rest, ""))
        elif word.startswith("-") and not _OUTPUT.fullmatch(word):
            raise NotUnderstood
        elif not word.startswith("-"):
            targets.append(word)
    return made | ({"node_ids": targets} if targets else {})


def _valued(parameter: str | None, value: str | None) -> Arguments:
    if not value:
        raise NotUnderstood
    return {} if parameter is None else {parameter: int(value) if value.isdecimal() else value}
