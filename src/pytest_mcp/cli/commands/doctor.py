"""`pytest-mcp doctor [PATH] [--json] [--url URL]`: check whether the server works and the project's tests can run.

Starts a server and calls it over stdio, like a client, or calls the one at the URL. At the root of a monorepo without
an environment of its own, the members have to be ready. If all clients start the server with one Python, `doctor` does
too, unless only the repository names it. Entries of clients that cannot start the server are shown, and do not decide.
"""

import argparse
import json
import logging
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pytest_mcp.api import targets
from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.results import ExplainResult
from pytest_mcp.cli import mcp_client, tool_flags, typed_advice
from pytest_mcp.cli.mcp_client import CheckedServer, Examination, Handshake, examine, server_command
from pytest_mcp.cli.setup.entries import ClientEntry, common_python, entries_for_project
from pytest_mcp.cli.setup.plan import checked_url, this_machine
from pytest_mcp.cli.typed_advice import Typist
from pytest_mcp.config.history import display_name
from pytest_mcp.config.model import DEFAULT_TIMEOUT, TOKEN_VARIABLE, Config, ConfigError
from pytest_mcp.config.options import LoadConfig, server_flags, typed_flags
from pytest_mcp.environment.explain import UNICODE_SIGNS, Check, CheckStyle, Sections, explanation
from pytest_mcp.history.store import HistoryUnavailable, open_store
from pytest_mcp.python import nearby, remedies, user_dirs
from pytest_mcp.python.members import ROOT
from pytest_mcp.terminal import capabilities
from pytest_mcp.terminal.output import can_show, show
from pytest_mcp.text import in_line, safe

# By the HTTP status of a refusal.
_HTTP_STEPS = {
    401: f"Set {TOKEN_VARIABLE} to the token of the server.",
    404: "Check the path of the URL: it ends with /mcp.",
    421: "Add the host of the URL to --allowed-hosts of the server.",
}
_UNREACHABLE = "Check that the server is running and that the URL is the one that it printed."

Json = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url", help="check the server on HTTP at this address; its token is taken from PYTEST_MCP_TOKEN"
    )
    parser.add_argument("path", nargs="?", help="check only this folder or file, such as a member of a monorepo")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


@dataclass(frozen=True)
class Subject:
    """The server that is checked."""

    server: CheckedServer
    # What is said before, because it takes time.
    doing: str
    arguments: dict[str, str]
    # None for a server on HTTP.
    config: Config | None = None
    entries: list[ClientEntry] | None = None


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    """0 if everything is ready, 1 if not."""
    # The SDK logs a traceback if a server writes anything else than messages.
    logging.disable()
    subject = _local(options, load_config()) if options.url is None else _on_http(options)
    style = CheckStyle(can_show(UNICODE_SIGNS), capabilities.screen(os.environ).out)
    say = (lambda _: None) if options.json else show
    say(f"{subject.doing} ...\n")

    def on_handshake(handshake: Handshake) -> None:
        say(style.sections({"Handshake": _handshake(handshake)}))
        say("collecting the tests ...\n")

    examined = examine(subject.arguments, subject.server, on_handshake)
    answer = _answer(examined, subject, options)
    entries = subject.entries
    show(_as_json(examined, answer, entries) if options.json else _report(examined, answer, entries, style))
    return 0 if answer["ready"] else 1


def _on_http(options: argparse.Namespace) -> Subject:
    url, token = checked_url(options.url), os.environ.get(TOKEN_VARIABLE)
    server = mcp_client.remote(url, token, options.timeout or DEFAULT_TIMEOUT)
    # A path counts from the root of that server.
    return Subject(server, "calling the server", {} if options.path is None else {"path": options.path})


def _local(options: argparse.Namespace, config: Config) -> Subject:
    arguments = {} if options.path is None else {"path": _from_root(options.path, config.root)}
    try:
        entries = entries_for_project(config.root, this_machine())
    except ConfigError:  # the user has no home folder
        entries = []
    doing, advised = "starting the server", nearby.on_path(config.environment.get("PATH", "")) or Sentence()
    python = common_python(entries, config.root, advised.values("python"))
    if python is not None and config.python is None:
        config, doing = config._replace(python=Path(python)), f"{doing} with --python {safe(python)}, as clients do"
    return Subject(mcp_client.local(server_flags(options, config), config), doing, arguments, config, entries)


def _from_root(typed: str, root: Path) -> str:
    """The path as the tool takes it; raises ConfigError if it does not."""
    path = tool_flags.from_root({"path": typed}, root)["path"]
    try:
        return targets.parse_path(path, root).relative
    except ValueError as error:
        raise ConfigError(f"{in_line(typed)}: {targets.explained(error)}.") from error


def _answer(examined: Examination, subject: Subject, options: argparse.Namespace) -> Json:
    """The answer of the server, ready if nothing else is wrong, with the next step as a person types it."""
    server, config = subject.server, subject.config
    if examined.answer is None:
        step = _HTTP_STEPS.get((server.refusals or [0])[-1], _UNREACHABLE)
        if config is not None:
            by_hand = shlex.join(server_command(server_flags(options, config)))
            step = f"Start the server by hand and read its output: {by_hand} < /dev/null"
        summary = f"Not ready: {(examined.problem or '').partition(chr(10))[0]}"
        return {"ready": False, "summary": summary, "next_step": step, "problem": examined.problem}
    answer = examined.answer | {"next_step": examined.next_step or examined.answer["next_step"]}
    if config is None:
        return answer
    if _has_only_members(answer):
        answer = _of_members(answer, config)
    if answer["ready"] and config.history and (problem := _history_problem(config.history.address)):
        summary, step = "Not ready: runs cannot be recorded", "Correct --history, or omit it."
        answer |= {"ready": False, "summary": summary, "next_step": step, "problem": problem}
    setup = ["pytest-mcp", *typed_flags(options, os.environ)]
    typist = Typist(
        config.root,
        lambda python: [*setup, "--python", python, "setup"],
        lambda folders: shlex.join(["pytest-mcp", "doctor", folders[0]]),
    )
    return answer | {"next_step": answer["next_step"] and typed_advice.typed(answer["next_step"], typist)}


def _history_problem(address: str) -> str | None:
    try:
        open_store(address).close()
    except HistoryUnavailable as error:
        return f"{display_name(address)}: {error}"
    return None


def _has_only_members(answer: Json) -> bool:
    """Whether it is the root of a monorepo without an environment of its own, not even one that cannot be used."""
    has_own = any(Path(each["python"]).is_relative_to(answer["root"]) for each in answer["candidates"])
    can_run = answer["temporary_folder"]["writable"]
    return bool(answer.get("members")) and answer["interpreter"] is None and not has_own and can_run


def _of_members(answer: Json, config: Config) -> Json:
    """The answer for the root, ready if every member is, as far as files show it."""
    folders = [member["folder"] for member in answer["members"]]
    problems = {member["folder"]: member["problem"] for member in answer["members"] if member["problem"]}
    if ROOT in problems:
        # That the members can run does not make the root ready: it has tests of its own.
        search_path = user_dirs.search_path(config.environment)
        return answer | {"next_step": remedies.remedy(config.root, [], search_path=search_path, with_members=False)}
    for folder, problem in problems.items():
        summary = f"Not ready: {in_line(folder)}: {problem}"
        return answer | {"summary": summary, "next_step": shlex.join(["pytest-mcp", "doctor", folder])}
    count = "1 member has" if len(folders) == 1 else f"{len(folders)} members have"
    summary = f"Ready: {count} pytest; their tests were not collected"
    step = shlex.join(["pytest-mcp", "run", *folders])
    return answer | {"ready": True, "summary": summary, "next_step": step, "problem": None}


def _report(examined: Examination, answer: Json, entries: Sequence[ClientEntry] | None, style: CheckStyle) -> str:
    sections: Sections = {"Problem": [Check("bad", "", examined.problem or "")]}
    if examined.answer is not None:
        sections = explanation(ExplainResult.model_validate(answer))
    no_entry = Check("none", "", "no entry yet: `pytest-mcp setup` writes one")
    clients = [] if entries is None else [*map(_entry, entries)] or [no_entry]
    stderr = [Check("warning", "", safe(examined.stderr.strip()))] if examined.stderr.strip() else []
    text = style.sections({**sections, "Clients": clients, "The server's stderr": stderr})
    return f"{text}\n{style.closing(answer['summary'], answer['next_step'], is_ready=answer['ready'])}"


def _handshake(handshake: Handshake) -> list[Check]:
    return [
        Check("good", "server", f"{handshake.server} {handshake.version}"),
        Check("good", "protocol", handshake.protocol),
        Check("good" if handshake.tools else "bad", "tools", ", ".join(handshake.tools)),
        Check("none", "time", f"{handshake.seconds:.2f} s from the start to the list of tools"),
    ]


def _entry(entry: ClientEntry) -> Check:
    """Whether this client can start the server for the project, as its settings file says."""
    if entry.problem is None:
        python = f", with --python {safe(entry.python)}" if entry.python else ""
        return Check("good", entry.client, f"{safe(entry.file)}{python}")
    fix = f"\nrenew it: {entry.fix}" if entry.fix else ""
    return Check("bad", entry.client, f"{safe(entry.file)}: {safe(entry.problem)}{fix}")


def _as_json(examined: Examination, answer: Json, entries: Sequence[ClientEntry] | None) -> str:
    values = dict.fromkeys(Handshake.__annotations__) if examined.handshake is None else asdict(examined.handshake)
    clients = {} if entries is None else {"clients": [asdict(entry) for entry in entries]}
    complete = {**answer, "handshake": {**values, "stderr": examined.stderr}, **clients}
    return json.dumps(complete, ensure_ascii=False, indent=2)
