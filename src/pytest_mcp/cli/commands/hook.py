"""`pytest-mcp hook`: answer an agent that types pytest into its shell with the call of a tool that does the same.

Claude Code calls it before each command of its shell, with the call as JSON on stdin. If it prints a refusal, that says
what to call instead; if nothing, the command runs. In doubt nothing: only a line that is a test run and nothing else is
refused, and only if execute_tests can do all that was typed. Imports little: an agent waits for it.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_mcp.config.options import LoadConfig
from pytest_mcp.terminal.output import show

# A longer call is not looked at. What a person or an agent types to run tests has a hundredth of it.
MAX_INPUT_BYTES = 64 * 1024
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
# Flags of pytest, and the parameters that mean the same. Those that only change the output mean nothing here.
_SWITCHES = {
    "-x": "failfast",
    "--exitfirst": "failfast",
    "-l": "locals",
    "--showlocals": "locals",
    "-s": "show_capture",
}
_VALUES = {"-k": "keywords", "-m": "markers", "--maxfail": "maxfail", "-n": "workers", "--tb": None}
_VALUED = re.compile(r"(--[a-z]+)(?:=(.*))?|(-[kmn])=?(.*)", re.DOTALL)
_OUTPUT = re.compile(r"-[vq]+|-r\w+|--verbose|--quiet|--color=\w+|--no-header|--no-summary")

Arguments = dict[str, Any]


class NotUnderstood(Exception):
    """The line may be anything, or does more than to run tests."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """It has none: everything is on stdin."""
    parser.description = (
        "Reads a call of Claude Code's shell on stdin, and answers a test run with the\ntool to call instead."
        " `pytest-mcp setup --hook` installs it."
    )


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:  # noqa: ARG001 - the interface of a command
    call = sys.stdin.buffer.read()
    try:
        message: Any = json.loads(call if len(call) <= MAX_INPUT_BYTES else "{}")
        line, here = str(message["tool_input"]["command"]), str(message.get("cwd", ""))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return 0
    if (arguments := test_run(line, here, os.environ.get(PROJECT, here))) is not None:
        reason = ADVICE.format(arguments=f"with {json.dumps(arguments)}" if arguments else "without arguments")
        decision = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        show(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}))
    return 0


def test_run(line: str, here: str, project: str) -> Arguments | None:
    """The arguments of execute_tests for a line that runs pytest once and does nothing else; None for any other.

    `here` is where the shell is. In another folder than the project's, paths and settings are others too.
    """
    runs = []
    try:
        for words, is_piped in _commands(line):
            if words[:1] == ["cd"] and len(words) == 2:
                here = os.path.join(here, words[1])  # noqa: PTH118 - pathlib takes long to import
            elif is_piped:
                _check(words[:1] and words[0] in FILTERS)
            elif words and words[0] not in IDLE and not _activates(words, project):
                runs.append(_arguments(words, project))
    except NotUnderstood:
        return None
    return runs[0] if len(runs) == 1 and os.path.normpath(here) == os.path.normpath(project) else None


# It is not a test for pytest.
test_run.__test__ = False  # type: ignore[attr-defined]


def _check(is_understood: object) -> None:
    if not is_understood:
        raise NotUnderstood


def _commands(line: str) -> Iterator[tuple[list[str], bool]]:
    """The words of each command of a line, and whether it reads what the one before it writes."""
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
            yield words, is_piped
            words, is_piped = [], token["separator"] == "|"


def _activates(words: Sequence[str], project: str) -> bool:
    is_script = len(words) == 2 and words[0] in ("source", ".") and words[1].endswith("bin/activate")
    return is_script and _is_inside(words[1], project)


def _is_inside(path: str, project: str) -> bool:
    inside = not path.startswith("/") or path.startswith(f"{project}/")
    return inside and ".." not in path.split("/") and not path.startswith("@")


def _arguments(words: list[str], project: str) -> Arguments:
    """What execute_tests is called with, if this runs the project's own pytest and nothing is asked that it lacks."""
    limit: Arguments = {}
    if words[0] == "timeout" and words[1:2] and words[1].isdecimal():
        limit, words = {"timeout": int(words[1])}, words[2:]
    if words[1:2] == ["run"] and words[0] in RUNNERS:
        words = words[2:]
    name = words[0].rpartition("/")[2] if words else ""
    has_module = name in ("python", "python3") and words[1:3] == ["-m", "pytest"]
    _check(has_module or name in ("pytest", "py.test"))
    made = _of_flags(words[3 if has_module else 1 :]) | limit
    _check(not {"failfast", "maxfail"} <= made.keys() and 0 not in made.values())
    paths = [words[0], *(target.partition("::")[0] for target in made.get("node_ids", ()))]
    _check(all(_is_inside(path, project) for path in paths))
    return made


def _of_flags(words: Sequence[str]) -> Arguments:
    made: Arguments = {}
    targets: list[str] = []
    rest = iter(words)
    for word in rest:
        valued = _VALUED.fullmatch(word)
        flag = (valued[1] or valued[3]) if valued else word
        if word in _SWITCHES:
            made[_SWITCHES[word]] = True
        elif valued and flag in _VALUES:
            value = next(rest, "") if word == flag else valued[2] or valued[4]
            _check(value)
            made |= {parameter: int(value) if value.isdecimal() else value} if (parameter := _VALUES[flag]) else {}
        elif not word.startswith("-"):
            targets.append(word)
        else:
            _check(_OUTPUT.fullmatch(word))
    return made | ({"node_ids": targets} if targets else {})
