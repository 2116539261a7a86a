"""The advice of an error or of `explain_environment`, as a person follows it in the working directory.

In comes a line for agents and operators, whose commands are run in the root; out comes the line that a person types.
Which advice is given is decided in `environments/advice.py` and `report/environment/readiness.py`.
"""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_mcp.api.errors import CallError, ExecutionFailed, Fix, InvalidParams
from pytest_mcp.cli.arguments.tool_flags import Arguments
from pytest_mcp.environments import git_files, host, nearby
from pytest_mcp.environments.managers.registry import MANAGERS
from pytest_mcp.report.environment import readiness
from pytest_mcp.report.notices.whole_run import FIX

ELSEWHERE = "cd into the project's folder, or name it with --root."
_PROGRAMS = frozenset({"cd", "ln", "mv", "printf", "python3", *(manager.name for manager in MANAGERS)})

# A Python in, the words of the command that uses it out.
WithPython = Callable[[str], list[str]]


def message(error: CallError, root: Path, with_python: WithPython) -> str:
    """The error's message with the fix for a person."""
    fix = error.fix if isinstance(error, ExecutionFailed) else None
    if fix is None:
        return error.message
    line = ELSEWHERE if _is_elsewhere(error, fix, root) else typed(fix.line, root, with_python)
    return error.message.replace(f"\nfix: {fix.line}", f"\nfix: {line}", 1)


def with_refs(error: CallError, arguments: Arguments, root: Path) -> CallError:
    """If `--changed` was typed without a ref, and a path that does not exist is one: how the ref is typed."""
    if not isinstance(error, InvalidParams) or arguments.get("changed") is not True:
        return error
    words = {f"node_ids.{index}": word for index, word in enumerate(arguments.get("node_ids", ()))}
    refs = {field: word for field, word in words.items() if git_files.names_commit(root, word)}
    meant = [
        replace(
            fault, message=f"is not a path; did you mean --changed={refs[fault.field]}?", received=refs[fault.field]
        )
        if fault.field in refs
        else fault
        for fault in error.faults
    ]
    return InvalidParams(meant)


def typed(line: str, root: Path, with_python: WithPython) -> str:
    if line == readiness.ELSEWHERE:
        return ELSEWHERE
    if (python := nearby.chosen_python(line)) is not None:
        return shlex.join(with_python(python))
    before, command = readiness.split_command(line)
    return f"{before}{_to(root)}{command}" if _is_command(command) else line


def notices(given: Sequence[str], root: Path) -> list[str]:
    """Those of an answer, with the fix for a person."""
    return [f"{FIX}{typed(each[len(FIX) :], root, lambda _: [])}" if each.startswith(FIX) else each for each in given]


def _is_elsewhere(error: CallError, fix: Fix, root: Path) -> bool:
    """As `doctor` decides it: a folder that is no project gets no environment."""
    has_python = (error.data.get("environment") or {}).get("interpreter") is not None
    return not (has_python or fix.for_operator or host.is_project(root))


def _is_command(line: str) -> bool:
    """Not a sentence."""
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    program = next((word for word in words if "=" not in word), "")
    return "/" in program or program in _PROGRAMS


def _to(root: Path) -> str:
    try:
        here = Path.cwd()
    except OSError:  # it was deleted
        return f"cd {shlex.quote(str(root))} && "
    if here == root:
        return ""
    relative = os.path.relpath(root, here)
    # A shell that came here through a symlink goes up to another folder.
    is_direct = os.environ.get("PWD", str(here)) == str(here) and not relative.startswith("-")
    place = min(relative, str(root), key=len) if is_direct else str(root)
    return f"cd {shlex.quote(place)} && "
