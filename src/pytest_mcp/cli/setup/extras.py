"""What can be written beside the entry of a client: the approval of the tools, and a hook for its shell.

In come a client and a plan; out come changes with their diffs. They are made one after the other, so the caller can
write each before it takes the next: two may be in one file. Nothing is written here.
"""

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mcp.cli.setup import server_entry
from pytest_mcp.cli.setup.client import TOOL_NAMES, Client
from pytest_mcp.cli.setup.editing import config_file, nested
from pytest_mcp.cli.setup.editing.config_file import Change, ConfigFileError
from pytest_mcp.cli.setup.ownership import is_ours
from pytest_mcp.cli.setup.plan import Plan

RULES = ("permissions", "allow")
HOOKS = ("hooks", "PreToolUse")
OWN_RULES = tuple(f"mcp__pytest__{tool}" for tool in TOOL_NAMES)
# A hook that takes longer is ended, and the shell command runs.
HOOK_SECONDS = 10


@dataclass(frozen=True)
class Extra:
    # The flag that asks for it.
    name: str
    title: str
    change: Change
    difference: str


def to_add(client: Client, plan: Plan) -> Iterator[Extra]:
    allow = f"Let {client.title} call the tools without asking"
    if client.approval:
        change = server_entry.approval(client, plan)
        yield Extra("allow", allow, change, config_file.difference(change, server_entry.shown_keys(client, change)))
    if client.rules:
        yield _extended("allow", allow, _file(client, plan), RULES, OWN_RULES)
        path = _file(client, plan)
        known = nested.items(config_file.table(path, HOOKS[:1]), HOOKS[1:])
        hooks = [] if any(map(_is_our_hook, known)) else [_hook(plan.command)]
        yield _extended("hook", f"Let {client.title} answer pytest in its shell with advice", path, HOOKS, hooks)


def is_allowed(client: Client, plan: Plan, change: Change) -> bool:
    """Whether the client calls the tools without asking, once this change and what belongs to it are written."""
    if client.approval:
        return {**(change.new or {}), **client.approval} == change.new
    if not client.rules or "allow" in plan.extras:
        return bool(client.rules)
    try:
        return not config_file.extended(_file(client, plan), RULES, OWN_RULES).is_needed
    except ConfigFileError:
        return False


def to_remove(client: Client, plan: Plan) -> Iterator[Extra]:
    if client.rules:
        yield _reduced("allow", "The approval of the tools", _file(client, plan), RULES, OWN_RULES.__contains__)
        yield _reduced("hook", "The hook for the shell", _file(client, plan), HOOKS, _is_our_hook)


def any_to_remove(client: Client, plan: Plan) -> bool:
    try:
        return any(extra.change.is_needed for extra in to_remove(client, plan))
    except ConfigFileError:
        return True


def _file(client: Client, plan: Plan) -> Path:
    assert client.rules is not None
    if plan.root and plan.level(client) == "project":
        return plan.checked(plan.root / client.project_signs[0] / client.rules)
    return Path(client.home(plan.machine) / client.rules)


def _extended(name: str, title: str, path: Path, keys: Sequence[str], items: Sequence[Any]) -> Extra:
    change = config_file.extended(path, keys, items)
    return Extra(name, title, change, config_file.part_difference(change, ".".join(keys), "", _lines(items)))


def _reduced(name: str, title: str, path: Path, keys: Sequence[str], is_own: Callable[[Any], bool]) -> Extra:
    change, items = config_file.reduced(path, keys, is_own)
    return Extra(name, title, change, config_file.part_difference(change, ".".join(keys), _lines(items), ""))


def _lines(items: Sequence[Any]) -> str:
    return "\n".join(json.dumps(item, ensure_ascii=False) for item in items)


def _hook(command: Sequence[str]) -> dict[str, Any]:
    call = {"type": "command", "command": shlex.join([*command, "hook"]), "timeout": HOOK_SECONDS}
    return {"matcher": "Bash", "hooks": [call]}


def _is_our_hook(item: Any) -> bool:
    """Whether every command of this hook is ours; another one beside it is somebody else's."""
    commands = [hook.get("command") for hook in item.get("hooks", ())] if isinstance(item, dict) else []
    return bool(commands) and all(isinstance(command, str) and _is_our_command(command) for command in commands)


def _is_our_command(command: str) -> bool:
    try:
        program, *arguments = shlex.split(command)
    except ValueError:
        return False
    return arguments[-1:] == ["hook"] and is_ours({"command": program, "args": arguments[:-1]})
