"""`pytest-mcp doctor [PATH] [--json] [--url URL]`: check whether the server works and the project's tests can run.

Starts a server and calls it over stdio, like a client, or calls the one at the URL. With a path, such as a member of a
monorepo, it checks the environment of that. At the root of a monorepo without an environment of its own, the members
have to be ready. If no Python is found, that of a client's entry is used, unless only the repository names it.
Entries of clients that cannot start the server are shown, and do not decide.
Out come a report and an exit code: 0 if everything is ready, 1 if not, 2 for a usage error.
"""

import argparse
import json
import logging
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from pytest_mcp.api import targets
from pytest_mcp.api.advice import Sentence
from pytest_mcp.api.results import ExplainResult
from pytest_mcp.cli import found_entries, mcp_client, render_doctor, tool_flags, typed_advice
from pytest_mcp.cli.found_entries import FoundEntry
from pytest_mcp.cli.mcp_client import Examination, Handshake, Target, server_command
from pytest_mcp.cli.render_doctor import Style
from pytest_mcp.cli.setup.plan import checked_url, this_machine
from pytest_mcp.cli.typed_advice import Typist
from pytest_mcp.config.model import DEFAULT_TIMEOUT, TOKEN_VARIABLE, Config, ConfigError
from pytest_mcp.config.options import LoadConfig, server_flags, typed_flags
from pytest_mcp.environment.readiness import Standing
from pytest_mcp.python import nearby
from pytest_mcp.python.interpreter import OPERATORS_CHOICE
from pytest_mcp.terminal import capabilities
from pytest_mcp.terminal.output import can_show, show
from pytest_mcp.text import in_line

TOOL = "explain_environment"

Answer = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url", help="check the server on HTTP at this address; its token is taken from PYTEST_MCP_TOKEN"
    )
    parser.add_argument("path", nargs="?", help="check only this folder or file, such as a member of a monorepo")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    # The SDK logs a traceback if a server writes anything else than messages.
    logging.disable()
    if options.url is not None:
        return _examine(_on_http(options), options, os.environ)
    config = load_config()
    flags = server_flags(options, config)
    by_hand = f"Start the server by hand and read its output: {shlex.join(server_command(flags))} < /dev/null"
    arguments = {} if options.path is None else {"path": _from_root(options.path, config.root)}
    setup = ["pytest-mcp", *typed_flags(options, os.environ)]
    typist = Typist(config.root, lambda python: [*setup, "--python", python, "setup"], _with_folder)
    entries = Entries(_entries(config.root), partial(_with_python, options, config))
    subject = Subject(mcp_client.local(flags, config), lambda _: by_hand, arguments, typist, entries)
    return _examine(subject, options, config.environment)


def _entries(root: Path) -> list[FoundEntry]:
    try:
        return found_entries.for_project(root, this_machine())
    except ConfigError:  # the user has no home folder
        return []


def _with_python(options: argparse.Namespace, config: Config, python: str) -> Target:
    return mcp_client.local(server_flags(options, config._replace(python=Path(python))), config)


def _with_folder(folders: Sequence[str]) -> str:
    """The command that says more of the first of them."""
    return shlex.join(["pytest-mcp", "doctor", folders[0]])


def _from_root(typed: str, root: Path) -> str:
    """The path as the tool takes it; raises ConfigError if it does not."""
    path = tool_flags.from_root({"path": typed}, root)["path"]
    try:
        return targets.parse_path(path, root).relative
    except ValueError as error:
        raise ConfigError(f"{in_line(typed)}: {targets.explained(error)}.") from error


@dataclass(frozen=True)
class Entries:
    """How clients start the server, and the server with the Python of one of them."""

    found: list[FoundEntry]
    with_python: Callable[[str], Target]


@dataclass(frozen=True)
class Subject:
    target: Target
    # The next step if the server cannot be called, for the HTTP status that it answered with.
    next_step: Callable[[int | None], str]
    arguments: dict[str, Any] = field(default_factory=dict)
    # Both are None if it is on HTTP.
    typist: Typist | None = None
    entries: Entries | None = None


def _on_http(options: argparse.Namespace) -> Subject:
    url, token = checked_url(options.url), os.environ.get(TOKEN_VARIABLE)
    steps = {
        401: f"Set {TOKEN_VARIABLE} to the token of the server.",
        403: "Add the host of the URL to --allowed-hosts of the server.",
        404: "Check the path of the URL: it ends with /mcp.",
        421: "Add the host of the URL to --allowed-hosts of the server.",
    }
    otherwise = "Check that the server is running and that the URL is the one that it printed."
    limit = options.timeout or DEFAULT_TIMEOUT
    # A path counts from the root of that server.
    arguments = {} if options.path is None else {"path": options.path}
    target = mcp_client.remote(url, token, limit)
    return Subject(target, lambda status: steps.get(status or 0, otherwise), arguments)


def _examine(subject: Subject, options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    style = _style(environment)

    def on_handshake(handshake: Handshake) -> None:
        # Shown at once: collecting the tests may take minutes.
        if not options.json:
            show(render_doctor.rendered(render_doctor.of_handshake(handshake), style))

    found = anyio.run(mcp_client.examine, TOOL, subject.arguments, subject.target, on_handshake)
    if (by_entry := _by_entry(found, subject, environment)) is not None:
        found = by_entry
    if found.answer is not None and _has_only_members(found.answer):
        found = _by_members(found, found.answer, subject.target)
    standing = _standing(found, subject)
    told = _as_json(found, standing, subject) if options.json else _report(found, standing, subject, style)
    show(told)
    return 0 if standing.ready else 1


def _style(environment: Mapping[str, str]) -> Style:
    marks = render_doctor.MARKS if can_show("".join(render_doctor.MARKS.values())) else render_doctor.ASCII_MARKS
    return Style(marks, capabilities.screen(environment).out)


def _standing(found: Examination, subject: Subject) -> Standing:
    if found.answer is not None:
        return Standing(found.answer["ready"], found.answer["summary"], _next_step(found, found.answer, subject))
    refusals = subject.target.refusals
    problem = (found.problem or "").partition("\n")[0]
    return Standing(False, f"Not ready: {problem}", subject.next_step(refusals[-1] if refusals else None))


def _by_entry(first: Examination, subject: Subject, environment: Mapping[str, str]) -> Examination | None:
    """If no Python was found: the same with the Python of a client's entry, as that client starts the server."""
    answer = first.answer
    if answer is None or answer["interpreter"] is not None or subject.entries is None:
        return None
    if any(other["source"] == OPERATORS_CHOICE for other in answer["candidates"]):
        return None
    # Pythons that `doctor` names itself.
    advised = Sentence(first.next_step, nearby.on_path(environment.get("PATH", "")) or "").values("python")
    chosen = found_entries.startable(subject.entries.found, Path(answer["root"]), advised)
    if chosen is None:
        return None
    entry, python = chosen
    target = subject.entries.with_python(python)
    found = anyio.run(mcp_client.examine, TOOL, subject.arguments, target, lambda _: None)
    return found if found.answer is None else replace(found, answer=_told_by(entry, found.answer))


def _told_by(entry: FoundEntry, answer: Answer) -> Answer:
    """The answer with the entry as the source of its Python."""
    source = f"{OPERATORS_CHOICE} in the entry of {entry.client}, {in_line(entry.file)}"
    pythons = [answer["interpreter"], *answer["candidates"]]
    chosen, *others = [each and each | {"source": source} for each in pythons]
    return answer | {"interpreter": chosen, "candidates": others}


def _has_only_members(answer: Answer) -> bool:
    """Whether it is the root of a monorepo without an environment of its own, not even one that cannot be used."""
    has_own = _has_own(answer, Path(answer["root"]))
    can_run = answer["temporary_folder"]["writable"]
    return bool(answer.get("members")) and answer["interpreter"] is None and not has_own and can_run


def _by_members(found: Examination, answer: Answer, target: Target) -> Examination:
    """The answer for the root, ready if every member is. Those that files do not show to be ready are examined."""
    members = []
    for member in answer["members"]:
        if member["problem"] is not None and (fault := _fault(member["folder"], target, answer)):
            return replace(found, answer=answer | fault, next_step=fault["next_step"])
        members.append(member | {"problem": None})
    count = "1 member has" if len(members) == 1 else f"{len(members)} members have"
    summary = f"Ready: {count} pytest; their tests were not collected"
    ready = {"ready": True, "summary": summary, "next_step": None, "problem": None, "members": members}
    return replace(found, answer=answer | ready, next_step=Sentence())


def _fault(folder: str, target: Target, root: Answer) -> Answer | None:
    """What replaces the root's keys if this member is not ready."""
    found = anyio.run(mcp_client.examine, TOOL, {"path": folder}, target, lambda _: None)
    if found.answer is not None and found.answer["ready"]:
        return None
    problem = (found.problem or "").partition("\n")[0]
    told = found.answer or {"summary": f"Not ready: {problem}", "problem": found.problem, "next_step": None}
    # Without an environment of its own a step may change the root. Members of a workspace share the root's.
    is_own = told["next_step"] == root["next_step"] or _has_own(told, Path(root["root"], folder))
    step = Sentence(found.next_step or told["next_step"] if is_own else _with_folder([folder]))
    return {"summary": f"{told['summary']} (in {in_line(folder)})", "next_step": step, "problem": told["problem"]}


def _has_own(answer: Answer, folder: Path) -> bool:
    """Whether there is an environment inside this folder, even one that cannot be used."""
    chosen = answer.get("interpreter")
    pythons = [*([chosen["executable"]] if chosen else []), *(each["python"] for each in answer.get("candidates", ()))]
    return any(Path(python).is_relative_to(folder) for python in pythons)


def _next_step(found: Examination, answer: Answer, subject: Subject) -> str | None:
    """In the words of the command line."""
    ready = [member["folder"] for member in answer.get("members") or [] if member["problem"] is None]
    is_named = bool(found.next_step.advice("folders"))
    if answer["interpreter"] is None and ready and (answer["ready"] or is_named or not _has_only_members(answer)):
        return shlex.join(["pytest-mcp", "run", *ready])
    if subject.typist is None or not found.next_step:
        return answer["next_step"] and str(answer["next_step"])
    return typed_advice.typed(found.next_step, subject.typist)


def _report(found: Examination, standing: Standing, subject: Subject, style: Style) -> str:
    sections = [] if found.problem is None else [render_doctor.of_problem(found.problem)]
    if found.answer is not None:
        sections += render_doctor.of_environment(ExplainResult.model_validate(found.answer))
    if subject.entries is not None:
        sections.append(render_doctor.of_entries(subject.entries.found))
    if found.stderr.strip():
        sections.append(render_doctor.of_stderr(found.stderr))
    return "\n".join(
        [*(render_doctor.rendered(section, style) for section in sections), render_doctor.closing(standing, style)]
    )


def _as_json(found: Examination, standing: Standing, subject: Subject) -> str:
    answer: Answer = found.answer or {**asdict(standing), "problem": found.problem}
    values = dict.fromkeys(Handshake.__annotations__) if found.handshake is None else asdict(found.handshake)
    handshake = {**values, "stderr": found.stderr}
    clients = {} if subject.entries is None else {"clients": [asdict(entry) for entry in subject.entries.found]}
    return json.dumps({**answer, "handshake": handshake, **clients}, ensure_ascii=False, indent=2)
