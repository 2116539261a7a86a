"""What is written beside the entry of a client if a flag asks for it: the approval of the tools, a hook for its shell,
and the paragraph in AGENTS.md or CLAUDE.md that tells agents to use the tools."""

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pytest_mcp.cli.setup import entries, settings_file
from pytest_mcp.cli.setup.clients import CLIENTS, TOOL_NAMES, Client
from pytest_mcp.cli.setup.plan import Plan
from pytest_mcp.cli.setup.settings_file import Change, SettingsError, content_of, real

# The flags that ask for it.
FLAGS = ("instructions", "allow", "hook")
# A hook that takes longer is ended, and the shell command runs.
HOOK_SECONDS = 10
_RULES = [f"mcp__pytest__{tool}" for tool in TOOL_NAMES]
# A CLAUDE.md with this line includes the shared file, which is then the one to change.
_INCLUDES_SHARED = re.compile(rb"^@(?:\./)?AGENTS\.md[ \t]*\r?$", re.MULTILINE)
# Older versions had more words in the first marker.
_BEGIN, _END = "<!-- pytest-mcp:begin", "<!-- pytest-mcp:end -->"
_PARAGRAPH = f"""{_BEGIN} -->
## Tests

Run tests with the tools of the MCP server `pytest`, not with `pytest` in a shell: `execute_tests` runs all
tests or some and names every failure with its cause, `discover_tests` lists them, `explain_environment` says
why they cannot run. Use the shell only for what the tools cannot do.
{_END}"""


class Extra(NamedTuple):
    title: str
    change: Change
    difference: str


def extras(client: Client, plan: Plan) -> Iterator[Extra]:
    """Made one after the other, so that each can be written before the next is made: two may be in one file.

    The approval of a client without rules is in its entry.
    """
    yield from _sandbox_settings(client, plan)
    if not client.rules:
        return
    path = Path(plan.machine.path(client.rules["user"]))
    if plan.root and plan.level(client) == "project":
        path = plan.checked(plan.root / client.rules["project"])
    if plan.writes("allow"):
        title = f"Let {client.title} call the tools without asking"
        rules = [] if plan.remove else _RULES
        yield Extra(title, *_in_list(path, ("permissions", "allow"), _RULES.__contains__, rules))
    if plan.writes("hook"):
        title = f"Let {client.title} answer pytest in its shell with advice"
        hook = {"type": "command", "command": shlex.join([*plan.command, "hook"]), "timeout": HOOK_SECONDS}
        hooks = [] if plan.remove else [{"matcher": "Bash", "hooks": [hook]}]
        yield Extra(title, *_in_list(path, ("hooks", "PreToolUse"), _is_our_hook, hooks))


def _sandbox_settings(client: Client, plan: Plan) -> Iterator[Extra]:
    """The file that srt reads, or what VS Code has for all servers of its file that are in a sandbox."""
    sandbox, title = plan.sandbox, "What runs may read, write and reach"
    if client.sandbox_key:
        path = plan.checked(plan.path(client))
        servers, old = (settings_file.value(path, [key]) or {} for key in (client.servers, "sandbox"))
        is_used = any(isinstance(each, Mapping) and each.get(client.sandbox_key) for each in servers.values())
        if sandbox or (plan.remove and old and not is_used):
            new = _merged(old, sandbox.srt_settings(path, None)) if sandbox else None
            change, before = settings_file.changed(path, ["sandbox"], new), old
            yield Extra(title, change, settings_file.difference(change, _lines(before), _lines(new)))
    elif (sandbox and sandbox.is_srt) or plan.remove:
        path = plan.srt_settings(client)
        before, old = content_of(path), settings_file.value(path, [])
        new = _merged(old, sandbox.srt_settings(plan.path(client), path)) if sandbox else None
        after = f"{_lines(new)}\n".encode() if new else None
        change = Change(real(path), before, after)
        yield Extra(title, change, settings_file.difference(change, (before or b"").decode(), _lines(new)))


def _merged(old: Any, new: Any) -> Any:
    """What is there stays, because it may be another server's."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **{key: _merged(old.get(key), each) for key, each in new.items()}}
    return [*dict.fromkeys([*old, *new])] if isinstance(old, list) and isinstance(new, list) else new


def _lines(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) if value else ""


def has_anything(client: Client, plan: Plan) -> bool:
    """Whether a plan to remove has something to remove, as far as it is known."""
    try:
        return entries.change(client, plan).is_needed or any(extra.change.is_needed for extra in extras(client, plan))
    except SettingsError:
        return True


def _in_list(
    path: Path, keys: Sequence[str], is_ours: Callable[[Any], bool], items: Sequence[Any]
) -> tuple[Change, str]:
    """The change of the list at this path after which these items are ours in it, and its diff."""
    known = settings_file.value(path, keys) or []
    if not isinstance(known, list):
        raise SettingsError(path, f"was not changed: {'.'.join(keys)} is not a list")
    own = [item for item in known if is_ours(item)]
    new = [*(item for item in known if item not in own), *items]
    change = settings_file.unchanged(path) if own == items else settings_file.changed(path, keys, new or None)
    sides = ("\n".join(json.dumps(item, ensure_ascii=False) for item in each) for each in (own, items))
    return change, settings_file.difference(change, *sides)


def _is_our_hook(item: Any) -> bool:
    """Whether every command of this hook is ours; another one beside it is somebody else's."""
    try:
        commands = [shlex.split(hook["command"]) for hook in item["hooks"]]
    except (AttributeError, KeyError, TypeError, ValueError):  # no shape that we have written
        return False
    ours = [each[-1:] == ["hook"] and entries.is_ours({"command": each[:-1]}) for each in commands]
    return bool(ours) and all(ours)


def instructions(clients: Collection[Client], readers: Collection[Client], plan: Plan) -> Iterator[Extra]:
    """The paragraph in the files that these readers read. It is removed with the last client that reads a file."""
    if not plan.writes("instructions"):
        return
    places = [replace(plan, user=user) for user in (False, True)]
    for path in dict.fromkeys(_file(plan, each) for each in readers if plan.root and each.instructions):
        others = [each for each in CLIENTS if each not in clients and _file(plan, each) == path]
        if plan.remove and any(has_anything(other, place) for other in others for place in places):
            continue
        change = _with_paragraph(plan.checked(path), remove=plan.remove)
        sides = (_PARAGRAPH, "") if plan.remove else ("", _PARAGRAPH)
        yield Extra("Instructions for agents", change, settings_file.difference(change, *sides))


def _file(plan: Plan, client: Client) -> Path:
    """The file that the client reads, or the shared one if that is a symlink to it or includes it."""
    root, name = plan.root or Path(), client.instructions
    path, shared = root / (name or ""), root / "AGENTS.md"
    is_link = path.is_symlink() and real(path) == real(root) / shared.name
    return shared if is_link or (name and _INCLUDES_SHARED.search(content_of(path) or b"")) else path


def _with_paragraph(path: Path, *, remove: bool) -> Change:
    before = content_of(path)
    with settings_file.explained(path):
        text = (before or b"").decode("utf-8-sig")
    start, end = text.find(_BEGIN), text.find(_END) + len(_END)
    if not text.count(_BEGIN) == text.count(_END) == (0 <= start < end):
        raise SettingsError(path, "has markers of pytest-mcp that do not belong together. Remove them by hand")
    newline = "\r\n" if "\r\n" in text else "\n"
    paragraph, new = _PARAGRAPH.replace("\n", newline), text
    if start >= 0 and remove:
        new = text[:start].removesuffix(newline) + text[end:].removeprefix(newline)
    elif start >= 0:
        new = text[:start] + paragraph + text[end:]
    elif not remove:
        new += newline * ((not text.endswith("\n")) + 1 if text else 0) + paragraph + newline
    is_gone = not new.strip() and settings_file.may_delete(path)
    return Change(real(path), before, before if new == text else None if is_gone else new.encode("utf-8"))
