"""`pytest-mcp doctor [PATH] [--json] [--url URL]`: check whether the server works and the project's tests can run.

Starts a server and calls it over stdio, like a client, or calls the one at the URL. At the root of a monorepo without
an environment of its own, the members have to be ready. If no Python is found, that of a client's entry is used, unless
only the repository names it. Entries of clients that cannot start the server are shown, and do not decide.
"""

import argparse
import json
import logging
import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pytest_mcp.api import targets
from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.results import ExplainResult
from pytest_mcp.cli import client_entries, mcp_client, tool_flags, typed_advice
from pytest_mcp.cli.client_entries import ClientEntry
from pytest_mcp.cli.mcp_client import CheckedServer, Examination, Handshake, examine, server_command
from pytest_mcp.cli.setup.plan import checked_url, this_machine
from pytest_mcp.cli.typed_advice import Typist
from pytest_mcp.config.model import DEFAULT_TIMEOUT, TOKEN_VARIABLE, Config, ConfigError
from pytest_mcp.config.options import LoadConfig, server_flags, typed_flags
from pytest_mcp.environment.readiness import Standing
from pytest_mcp.environment.terminal import ASCII_MARKS, MARKS, Check, CheckStyle, explanation
from pytest_mcp.python import nearby
from pytest_mcp.python.interpreter import OPERATORS_CHOICE
from pytest_mcp.terminal import capabilities
from pytest_mcp.terminal.output import can_show, show
from pytest_mcp.text import in_line, safe

_HOST_STEP = "Add the host of the URL to --allowed-hosts of the server."
# By the HTTP status of a refusal.
_HTTP_STEPS = {
    401: f"Set {TOKEN_VARIABLE} to the token of the server.",
    403: _HOST_STEP,
    404: "Check the path of the URL: it ends with /mcp.",
    421: _HOST_STEP,
}
_UNREACHABLE = "Check that the server is running and that the URL is the one that it printed."

Answer = dict[str, Any]


@dataclass(frozen=True)
class Subject:
    """The server that is checked, and what is said of it in the words of a person."""

    server: CheckedServer
    arguments: dict[str, Any]
    environment: Mapping[str, str]
    # For a server on HTTP all of these are None: the next step if it cannot be called, who types, how clients start it,
    # the same server with another Python.
    by_hand: str | None = None
    typist: Typist | None = None
    entries: list[ClientEntry] | None = None
    with_python: Callable[[str], CheckedServer] | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url", help="check the server on HTTP at this address; its token is taken from PYTEST_MCP_TOKEN"
    )
    parser.add_argument("path", nargs="?", help="check only this folder or file, such as a member of a monorepo")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    """0 if everything is ready, 1 if not."""
    # The SDK logs a traceback if a server writes anything else than messages.
    logging.disable()
    subject = _local(options, load_config()) if options.url is None else _on_http(options)
    style = CheckStyle(
        MARKS if can_show("".join(MARKS.values())) else ASCII_MARKS, capabilities.screen(subject.environment).out
    )
    # At once: a server takes a second to start, and collecting the tests may take minutes.
    say = (lambda _: None) if options.json else show
    say(f"{'starting' if options.url is None else 'calling'} the server ...\n")

    def on_handshake(handshake: Handshake) -> None:
        say(style.sections({"Handshake": _handshake(handshake)}))
        say("collecting the tests ...\n")

    result = _examined(subject, on_handshake)
    standing = _standing(result, subject)
    show(_as_json(result, standing, subject) if options.json else _report(result, standing, subject, style))
    return 0 if standing.ready else 1


def _local(options: argparse.Namespace, config: Config) -> Subject:
    def server(python: Path | None) -> CheckedServer:
        return mcp_client.local(server_flags(options, config._replace(python=python)), config)

    command = shlex.join(server_command(server_flags(options, config)))
    setup = ["pytest-mcp", *typed_flags(options, os.environ)]
    return Subject(
        server(config.python),
        {} if options.path is None else {"path": _from_root(options.path, config.root)},
        config.environment,
        f"Start the server by hand and read its output: {command} < /dev/null",
        Typist(config.root, lambda python: [*setup, "--python", python, "setup"], lambda folders: _doctor(folders[0])),
        _entries(config.root),
        lambda python: server(Path(python)),
    )


def _entries(root: Path) -> list[ClientEntry]:
    try:
        return client_entries.for_project(root, this_machine())
    except ConfigError:  # the user has no home folder
        return []


def _doctor(folder: str) -> str:
    """The command that says more of a folder."""
    return shlex.join(["pytest-mcp", "doctor", folder])


def _from_root(typed: str, root: Path) -> str:
    """The path as the tool takes it; raises ConfigError if it does not."""
    path = tool_flags.from_root({"path": typed}, root)["path"]
    try:
        return targets.parse_path(path, root).relative
    except ValueError as error:
        raise ConfigError(f"{in_line(typed)}: {targets.explained(error)}.") from error


def _on_http(options: argparse.Namespace) -> Subject:
    url, token = checked_url(options.url), os.environ.get(TOKEN_VARIABLE)
    server = mcp_client.remote(url, token, options.timeout or DEFAULT_TIMEOUT)
    # A path counts from the root of that server.
    return Subject(server, {} if options.path is None else {"path": options.path}, os.environ)


def _examined(subject: Subject, on_handshake: Callable[[Handshake], None]) -> Examination:
    result = examine(subject.arguments, subject.server, on_handshake)
    result = _by_entry(result, subject) or result
    if result.answer is not None and _has_only_members(result.answer):
        return _by_members(result, result.answer, subject.server)
    return result


def _by_entry(first: Examination, subject: Subject) -> Examination | None:
    """If no Python was found: the same with the Python of a client's entry, as that client starts the server."""
    answer = first.answer
    if answer is None or answer["interpreter"] is not None or subject.entries is None or subject.with_python is None:
        return None
    if any(other["source"] == OPERATORS_CHOICE for other in answer["candidates"]):
        return None
    # Pythons that `doctor` names itself.
    advised = Sentence(first.next_step, nearby.on_path(subject.environment.get("PATH", "")) or "").values("python")
    chosen = client_entries.startable(subject.entries, Path(answer["root"]), advised)
    if chosen is None:
        return None
    entry, python = chosen
    result = examine(subject.arguments, subject.with_python(python))
    if result.answer is None:
        return result
    source = {"source": f"{OPERATORS_CHOICE} in the entry of {entry.client}, {in_line(entry.file)}"}
    interpreter = result.answer["interpreter"] and result.answer["interpreter"] | source
    candidates = [each | source for each in result.answer["candidates"]]
    return replace(result, answer=result.answer | {"interpreter": interpreter, "candidates": candidates})


def _has_only_members(answer: Answer) -> bool:
    """Whether it is the root of a monorepo without an environment of its own, not even one that cannot be used."""
    has_own = _has_own(answer, Path(answer["root"]))
    can_run = answer["temporary_folder"]["writable"]
    return bool(answer.get("members")) and answer["interpreter"] is None and not has_own and can_run


def _by_members(result: Examination, answer: Answer, server: CheckedServer) -> Examination:
    """The answer for the root, ready if every member is. Those that files do not show to be ready are examined."""
    members = []
    for member in answer["members"]:
        if member["problem"] is not None and (fault := _fault(member["folder"], server, answer)):
            return replace(result, answer=answer | fault, next_step=fault["next_step"])
        members.append(member | {"problem": None})
    count = "1 member has" if len(members) == 1 else f"{len(members)} members have"
    summary = f"Ready: {count} pytest; their tests were not collected"
    ready = {"ready": True, "summary": summary, "next_step": None, "problem": None, "members": members}
    return replace(result, answer=answer | ready, next_step=Sentence())


def _fault(folder: str, server: CheckedServer, root: Answer) -> Answer | None:
    """What replaces the root's keys if this member is not ready."""
    result = examine({"path": folder}, server)
    if result.answer is not None and result.answer["ready"]:
        return None
    answer = result.answer or {"summary": _not_ready(result), "problem": result.problem, "next_step": None}
    # Without an environment of its own a step may change the root. Members of a workspace share the root's.
    is_own = answer["next_step"] == root["next_step"] or _has_own(answer, Path(root["root"], folder))
    step = Sentence(result.next_step or answer["next_step"] if is_own else _doctor(folder))
    return {"summary": f"{answer['summary']} (in {in_line(folder)})", "next_step": step, "problem": answer["problem"]}


def _not_ready(result: Examination) -> str:
    return f"Not ready: {(result.problem or '').partition(chr(10))[0]}"


def _has_own(answer: Answer, folder: Path) -> bool:
    """Whether there is an environment inside this folder, even one that cannot be used."""
    chosen = answer.get("interpreter")
    pythons = [*([chosen["executable"]] if chosen else []), *(each["python"] for each in answer.get("candidates", ()))]
    return any(Path(python).is_relative_to(folder) for python in pythons)


def _standing(result: Examination, subject: Subject) -> Standing:
    if result.answer is not None:
        return Standing(result.answer["ready"], result.answer["summary"], _next_step(result, result.answer, subject))
    on_http = _HTTP_STEPS.get((subject.server.refusals or [0])[-1], _UNREACHABLE)
    return Standing(False, _not_ready(result), subject.by_hand or on_http)


def _next_step(result: Examination, answer: Answer, subject: Subject) -> str | None:
    """In the words of the command line."""
    ready = [member["folder"] for member in answer.get("members") or [] if member["problem"] is None]
    is_named = bool(result.next_step.advice("folders"))
    if answer["interpreter"] is None and ready and (answer["ready"] or is_named or not _has_only_members(answer)):
        return shlex.join(["pytest-mcp", "run", *ready])
    if subject.typist is None or not result.next_step:
        return answer["next_step"] and str(answer["next_step"])
    return typed_advice.typed(result.next_step, subject.typist)


def _report(result: Examination, standing: Standing, subject: Subject, style: CheckStyle) -> str:
    problem = {} if result.problem is None else {"Problem": [Check("bad", "", result.problem)]}
    explained = {} if result.answer is None else explanation(ExplainResult.model_validate(result.answer))
    no_entry = Check("none", "", "no entry yet: `pytest-mcp setup` writes one")
    clients = None if subject.entries is None else [*map(_entry, subject.entries)] or [no_entry]
    stderr = [Check("warning", "", safe(result.stderr.strip()))] if result.stderr.strip() else []
    sections = {**problem, **explained, "Clients": clients or [], "The server's stderr": stderr}
    return f"{style.sections(sections)}\n{style.closing(standing)}"


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


def _as_json(result: Examination, standing: Standing, subject: Subject) -> str:
    answer: Answer = result.answer or {**asdict(standing), "problem": result.problem}
    values = dict.fromkeys(Handshake.__annotations__) if result.handshake is None else asdict(result.handshake)
    handshake = {**values, "stderr": result.stderr}
    clients = {} if subject.entries is None else {"clients": [asdict(entry) for entry in subject.entries]}
    return json.dumps({**answer, "handshake": handshake, **clients}, ensure_ascii=False, indent=2)
