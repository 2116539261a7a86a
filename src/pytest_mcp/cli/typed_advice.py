"""Advice in the words of the command line, as a person follows it in the working directory.

Agents and operators read sentences whose commands are run in the root. Which advice is given is decided in
`python/remedies.py` and `environment/readiness.py`.
"""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_mcp.api.advice import Advice, Sentence
from pytest_mcp.api.errors import CallError, ExecutionFailed, InvalidParams
from pytest_mcp.cli import tool_flags
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.environment import surroundings

ELSEWHERE = "cd into the project's folder, or name it with --root."
# The commands that call the tools.
_COMMANDS = {"discover_tests": "discover", "execute_tests": "run"}


@dataclass(frozen=True)
class Typist:
    """Where somebody has typed a command, and what they type instead of changing the server or the call."""

    root: Path
    # A Python in, the words of the command that uses it out.
    with_python: Callable[[str], Sequence[str]]
    # The command that names these folders; None if the command takes none.
    with_folders: Callable[[Sequence[str]], str] | None = None


def typed(words: str, typist: Typist | None) -> str:
    """Without a typist only parameters as flags, and tools as commands."""
    parts = words.parts if isinstance(words, Sentence) else (words,)
    return "".join(_typed(part, typist) if isinstance(part, Advice) else part for part in parts)


def message(error: CallError, typist: Typist) -> str:
    """The error's message with the fix for a person."""
    if not isinstance(error, ExecutionFailed) or error.fix is None:
        return error.message
    has_python = (error.data.get("environment") or {}).get("interpreter") is not None
    # As `doctor` decides it: a folder that is no project gets no environment.
    if has_python or error.fix.advice("python", "operator") or surroundings.is_project(typist.root):
        return error.message_with(typed(error.fix, typist))
    return error.message_with(ELSEWHERE)


def with_ref(error: CallError, arguments: Arguments) -> CallError:
    """If `--changed` was typed without a ref, a path that cannot be used may have been meant as one."""
    if not isinstance(error, InvalidParams) or arguments.get("changed") is not True:
        return error
    hint = "; if it is a git ref, write --changed=REF"
    return InvalidParams(
        [
            replace(fault, message=Sentence(fault.message, hint)) if fault.field.startswith("node_ids") else fault
            for fault in error.faults
        ]
    )


def notices(given: Sequence[str], root: Path) -> list[str]:
    """Those of an answer. None of them is about the choice of a Python."""
    typist = Typist(root, lambda _: ())
    return [typed(each, typist) for each in given]


def _typed(advice: Advice, typist: Typist | None) -> str:
    match advice.kind:
        case "parameter":
            return tool_flags.shortest(advice.text)
        case "tool":
            return f"`pytest-mcp {_COMMANDS[advice.text]}`"
        case "typed":
            return advice.values[0]
        case "shell" if typist is not None:
            return f"{_to(typist.root)}{advice.text}"
        case "python" if typist is not None:
            return shlex.join(typist.with_python(advice.values[0]))
        case "folders" if typist is not None and typist.with_folders is not None:
            return typist.with_folders(advice.values)
        case "root" if typist is not None:
            return ELSEWHERE
    return advice.text


def _to(root: Path) -> str:
    # Not by a relative path: a shell that came here through a symlink goes up to another folder.
    return "" if root.samefile(os.curdir) else f"cd {shlex.quote(str(root))} && "
