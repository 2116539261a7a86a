"""`pytest-mcp setup [CLIENT…]`: add the server to the settings of MCP clients, or remove it.

The exit code is 0 if everything is as requested, 1 if something is not, 2 for a usage error.

A client's own command changes the user's own settings where it keeps everything else. Not files of projects: `gemini
mcp add` was seen to empty one in a folder that is not trusted.
"""

import argparse
import contextlib
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path

import anyio

from pytest_mcp.api import did_you_mean
from pytest_mcp.cli.setup import entries, settings_file
from pytest_mcp.cli.setup.clients import CLIENTS, GOOSE, OTHER, Client
from pytest_mcp.cli.setup.extras import FLAGS, Extra, extras, has_anything, instructions
from pytest_mcp.cli.setup.plan import DISTRIBUTION, Plan, checked_url, server_command, this_installation, this_machine
from pytest_mcp.cli.setup.sandbox import ISOLATION, TRIAL, Allowance, Sandbox, engine, sandbox
from pytest_mcp.cli.setup.settings_file import Change, SettingsError, real
from pytest_mcp.config.model import DEFAULT_TIMEOUT, TOKEN_VARIABLE, Config, ConfigError, NoProject
from pytest_mcp.config.options import LoadConfig, changed_flags
from pytest_mcp.process import process
from pytest_mcp.process.job import Launch, SpawnError
from pytest_mcp.python import files, git_files
from pytest_mcp.terminal.output import ask, can_ask, print_message, show
from pytest_mcp.text import in_line, safe

CLIENTS_BY_NAME = {client.name: client for client in CLIENTS}
_PRINTED = {client.name: client for client in (GOOSE, OTHER)}
_HOW_PRINTED = "`pytest-mcp setup --print goose` prints an entry for goose, `pytest-mcp setup --print json` for others."
# A client's own command takes a second or two to start, on a busy machine several.
MAX_SECONDS = 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    known = f"{', '.join(CLIENTS_BY_NAME)} (default: those found on this machine)"
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=known)
    parser.add_argument("--url", help="address of a server on HTTP that runs already; its token is in PYTEST_MCP_TOKEN")
    for flag, metavar, summary in (
        ("--sandbox-allow", "HOST", "let runs in the sandbox reach this host; may be repeated"),
        ("--sandbox-write", "PATH", "let runs in the sandbox read and write this folder or file; may be repeated"),
    ):
        parser.add_argument(flag, metavar=metavar, action="append", default=[], help=summary)
    writing = parser.add_mutually_exclusive_group()
    writing.add_argument("--yes", action="store_true", help="write without asking")
    only = "only show what would be written; `--print goose`, or `json` for any other client: an entry to copy"
    writing.add_argument("--print", action="store_true", help=only)
    for flag, summary in {
        "--user": "use your own settings, not the project's",
        "--portable": "write `pytest-mcp` instead of its path on this machine",
        "--instructions": "tell agents in AGENTS.md or CLAUDE.md to use the tools",
        "--allow": "let the client call the tools without asking",
        "--sandbox": "start the server in a sandbox: VS Code's own, srt, or bubblewrap",
        "--hook": "let Claude Code answer pytest in its shell with the advice to use the tools",
        "--remove": "remove the entry and everything else that was written",
    }.items():
        parser.add_argument(flag, action="store_true", help=summary)


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    plan = _plan(options, load_config)
    if printed := [_PRINTED[name] for name in options.clients if name in _PRINTED]:
        if not options.print or plan.remove or len(options.clients) > 1 or (plan.url and not printed[0].remote):
            raise ConfigError(_HOW_PRINTED)
        show(entries.sample(printed[0], plan))
        return 0
    if unknown := [name for name in options.clients if name not in CLIENTS_BY_NAME]:
        near = did_you_mean.nearest(unknown[0].lower(), [*CLIENTS_BY_NAME, GOOSE.name])
        meant = f"did you mean {near}?" if near else f"the known clients are {', '.join(CLIENTS_BY_NAME)}"
        raise ConfigError(f"unknown client: {unknown[0]}; {meant}")
    return 0 if _all_set_up(options, plan) else 1


def _all_set_up(options: argparse.Namespace, plan: Plan) -> bool:
    clients = [CLIENTS_BY_NAME[name] for name in dict.fromkeys(options.clients)] or _default_clients(plan)
    if not (clients or plan.remove):
        show(f"No client was found. Name one: {', '.join(CLIENTS_BY_NAME)}.\n{_HOW_PRINTED}")
        return False
    if plan.sandbox and (problem := _run([ISOLATION, *TRIAL], plan)):
        print_message(f"No sandbox can be made on this machine: {problem}")
        return False
    served = {client: _set_up(client, plan) for client in clients}
    readers = CLIENTS if plan.remove and not options.clients else [client for client in served if served[client]]
    is_done = _write_extras(instructions(clients, readers, plan), plan)
    if plan.portable and plan.command and not plan.url and plan.which(plan.command[0]) is None:
        show(f"\n`{plan.command[0]}` is not on your PATH: clients will not find it until it is installed there.")
    return all(served.values()) and is_done


def _sandbox(options: argparse.Namespace, config: Config | None, command: list[str]) -> Sandbox | None:
    if not (options.sandbox or options.sandbox_allow or options.sandbox_write) or options.remove:
        return None
    is_installed = Path(command[0]).is_absolute() and Path(command[0]).name not in ("uvx", "pipx")
    if config is None or sys.platform != "linux" or not is_installed or options.url is not None:
        raise ConfigError(
            "A sandbox is for one project on Linux and for a pytest-mcp that is installed on this machine: it goes with"
            " neither --portable nor --url, nor with uvx."
        )
    program = engine(config.root, os.environ.get("PATH"))
    return sandbox(program, config, Path.home(), command, Allowance(options.sandbox_allow, options.sandbox_write))


def _plan(options: argparse.Namespace, load_config: LoadConfig) -> Plan:
    config = _project(options, load_config)
    command = [] if options.remove else server_command(this_installation(), portable=options.portable)
    return Plan(
        machine=this_machine(),
        root=config.root if config else None,
        user=options.user,
        remove=options.remove,
        portable=options.portable,
        confirmed="yes" if options.yes else "no" if options.print else "ask" if can_ask() else "cannot ask",
        command=command,
        flags=changed_flags(options, config),
        limit=options.timeout or DEFAULT_TIMEOUT,
        extras=frozenset(name for name in FLAGS if getattr(options, name)),
        url=None if options.url is None else checked_url(options.url),
        sandbox=_sandbox(options, config, command),
    )


def _project(options: argparse.Namespace, load_config: LoadConfig) -> Config | None:
    try:
        config = load_config()
    except NoProject:  # the user's own settings can be changed without one
        if options.root or options.python:
            raise
        return None
    is_ours = files.read_manifest(config.root).table("project").get("name") == DISTRIBUTION
    if is_ours and not (options.root or options.user or options.remove):
        raise ConfigError(
            f"{config.root} is the checkout of pytest-mcp. Type this in your own project's folder, or name that with"
            " --root; --root . sets up the checkout itself."
        )
    return config


def _default_clients(plan: Plan) -> list[Client]:
    """The clients if none was named: those that are installed, or those that have an entry to remove."""
    if plan.remove:
        return [client for client in CLIENTS if has_anything(client, plan)]
    installed = [client for client in CLIENTS if plan.has_installed(client)]
    missing = [client.title for client in CLIENTS if client not in installed]
    if installed:
        show(f"Found: {', '.join(client.title for client in installed)}. Not found: {', '.join(missing) or 'none'}.")
    return installed


def _set_up(client: Client, plan: Plan) -> bool:
    """The entry, and what belongs to it: whether all of it is as requested."""
    path = plan.path(client)
    show(safe(f"\n{client.title}: {path}{'' if real(path) == path else f' (symlink to {real(path)})'}"))
    if plan.level(client) == "user" and client.one_project and plan.root is None:
        print_message(f"{client.title} needs an entry for each project: run this in the project's folder or add --root")
        return False
    try:
        change = entries.change(client, plan)
        if not change.is_needed:
            nothing = "There is nothing to remove. An entry with an address and no token is removed with --url."
            show(nothing if plan.remove else "It is already set up.")
        elif not _apply(change, client, plan):
            return False
    except SettingsError as error:
        print_message(safe(str(error)))
        if not (plan.remove or isinstance(error, entries.ImpossibleError)):
            sample = safe(entries.sample(client, plan))
            show(f"Add this to it yourself:\n{sample.replace(plan.token, entries.NOT_SHOWN) if plan.token else sample}")
        return False
    return _write_extras(extras(client, plan), plan)


def _apply(change: Change, client: Client, plan: Plan) -> bool:
    show(entries.difference(client, plan, change))
    if not (plan.remove or plan.portable or plan.url) and git_files.is_tracked(change.path):
        show("git tracks this file, and the command is a path on this machine: --portable writes one for everybody.")
    if plan.sandbox and not (client.sandbox_key or plan.sandbox.is_srt):
        show(
            "srt (npm install -g @anthropic-ai/sandbox-runtime), socat or ripgrep is missing: bubblewrap is used alone."
        )
    if command := _own_command(client, plan, change):
        show(safe(f"$ {shlex.join(command)}"))
    else:
        change.check()
    if not _is_confirmed(plan):
        return plan.confirmed == "no"
    if command and (problem := _run(command, plan)):
        print_message(f"{command[0]}: {problem}; so the file itself is changed")
    # After the client's own command, what that has left out; an object that it left empty may stay.
    rest = settings_file.changed(change.path, change.keys, change.new) if command else change
    if rest.old != rest.new or rest.obstacle is None:
        _write(rest, plan)
    show("Removed." if plan.remove else " ".join(filter(None, ["Written.", *_next_steps(client, plan)])))
    return True


def _next_steps(client: Client, plan: Plan) -> Iterator[str]:
    if plan.token and client.remote and client.remote.variable is None:
        yield f"The token is in this file, because {client.title} takes it from nowhere else."
    elif plan.token:
        yield f"The token is not in the file: set {TOKEN_VARIABLE} where you start {client.title}."
    yield client.project_step if plan.level(client) == "project" else ""
    yield client.next_step
    if client.asks and not ("allow" in plan.extras and (client.approval or client.rules)):
        unless = ", unless you add --allow" if client.approval or client.rules else ""
        yield f"{client.title} asks before it calls {client.asks}{unless}."


def _own_command(client: Client, plan: Plan, change: Change) -> list[str]:
    """Nothing for an entry that is only renewed: the command would be given what others have added to it.

    A repository must not decide which program runs, so one inside the project is not taken.
    """
    template, name, entry = client.remove if plan.remove else client.add, change.keys[-1], change.new or {}
    path = plan.which(template.partition(" ")[0])
    is_meant = plan.level(client) == "user" and (change.old is None) != plan.remove
    if not is_meant or path is None or (plan.root and real(Path(path)).is_relative_to(real(plan.root))):
        return []
    values = {"NAME": name, "ENTRY": json.dumps(entry), "NAMED_ENTRY": json.dumps({"name": name, **entry})}
    values |= {"PROGRAM": entry.get("command", "PROGRAM"), "TIMEOUT": str(entry.get("timeout"))}
    words = [values.get(word, word) for word in template.removesuffix(" ARGS").split()]
    # One on HTTP has no program.
    return [] if "PROGRAM" in words else [*words, *(entry["args"] if "ARGS" in template else [])]


def _run(command: list[str], plan: Plan) -> str | None:
    """What went wrong, if anything did."""
    program, environment = plan.which(command[0]) or "", {**plan.machine.environment, "NO_COLOR": "1"}
    launch = Launch((program, *command[1:]), plan.root or Path.home(), environment)
    try:
        ended = anyio.run(lambda: process.ask(launch, time_limit=MAX_SECONDS, kept_output=4096))
    except SpawnError as error:
        return in_line(str(error))
    first_line = (ended.stderr or ended.stdout).strip().partition("\n")[0]
    return None if ended.code == 0 else in_line(first_line or "it failed")


def _is_confirmed(plan: Plan) -> bool:
    if plan.confirmed == "cannot ask":
        show("Not written, because there is no terminal to ask for confirmation. Use --yes to write.")
    is_confirmed = plan.confirmed == "yes" or (plan.confirmed == "ask" and ask("Write this?"))
    if plan.confirmed == "ask" and not is_confirmed:
        show("Not written.")
    return is_confirmed


def _write(change: Change, plan: Plan) -> None:
    settings_file.write(change)
    if change.is_needed and change.after is None:
        show(safe(f"Nothing else was in {change.path}, so it was deleted."))
        ours = {real(Path(folder)) for folder in (plan.root, plan.machine.home) if folder}
        with contextlib.suppress(OSError):  # something is in a folder
            for folder in takewhile(lambda each: each not in ours, change.path.parents):
                folder.rmdir()


def _write_extras(wanted: Iterable[Extra], plan: Plan) -> bool:
    """Whether all of them are written."""
    is_done = True
    try:
        for extra in wanted:
            if not extra.change.is_needed:
                continue
            show(safe(f"\n{extra.title}: {extra.change.path}\n") + extra.difference)
            if _is_confirmed(plan):
                _write(extra.change, plan)
                show("Removed." if plan.remove else "Written.")
            elif plan.confirmed != "no":
                is_done = False
    except SettingsError as error:
        print_message(safe(str(error)))
        return False
    return is_done
