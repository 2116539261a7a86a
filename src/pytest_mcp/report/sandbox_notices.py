"""The notice on failures that the sandbox around the server has caused: what was wanted, and how to allow it.

Errors do not say that it was a sandbox. Whether it can have been is known from what the server tried itself.
"""

import re
from collections.abc import Iterator

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.process.confinement import SandboxLimits
from pytest_mcp.run.events import Phase
from pytest_mcp.run.run import Run
from pytest_mcp.text import few, in_line, label

_READ_ONLY = re.compile(r"\[Errno 30\] Read-only file system(?:: b?['\"]([^'\"\n]+))?")
_ABSENT = re.compile(r"\[Errno 2\] No such file or directory: b?['\"](/[^'\"\n]+)")
_UNREACHED = re.compile(
    r"\[Errno (?:-[23]|101)\]|[Nn]ame resolution|[Nn]ame or service not known|Network is unreachable|403 Forbidden"
    r"|Error 403|failed: 403|network allowlist"
)
# A host in an address, an argument or a pair for a socket.
_HOST = re.compile(r"(?:://(?:[^/@\s'\"]*@)?|\bhost ?= ?['\"]|\(['\"])((?:[\w-]+\.)+[a-zA-Z][\w-]*)(?=[:/'\"\s?]|$)")
_SOCKET_FILES = ("/socket.py", "/unix_events.py")


def sandbox_notices(run: Run[ExecuteTests]) -> list[str]:
    if (sandbox := run.sandbox) is None:
        return []
    wanted = dict[str, str]()
    for record in run.ledger.completed:
        for phase in record.phases:
            if phase.outcome == "failed" and (what := next(_denied(phase, sandbox), None)):
                wanted.setdefault(what, f"{label(record.node_id)} {what}")
    sandboxed = f"The sandbox of the server ({sandbox.by}) keeps runs from what some failed tests wanted"
    return [f"{sandboxed}: {few(list(wanted.values()))}."] if wanted else []


def _denied(phase: Phase, sandbox: SandboxLimits) -> Iterator[str]:
    """What this failure wanted and how to allow it; nothing if the sandbox has not caused it."""
    said = "\n".join([phase.message or "", *(line for raised in phase.exceptions for line in raised.text)])
    if written := _READ_ONLY.search(said):
        yield f"wrote {_path(written[1])} (`pytest-mcp setup --sandbox-write PATH`)"
    if (absent := _ABSENT.search(said)) and absent[1].startswith(tuple(f"{folder}/" for folder in sandbox.lost)):
        yield f"read {_path(absent[1])}, which is hidden (`pytest-mcp setup --sandbox-write PATH`)"
    if sandbox.network != "open" and _UNREACHED.search(said):
        host = _host(said, phase)
        if host or "403" not in said:
            flag = f"`pytest-mcp setup --sandbox-allow {host or 'HOST'}`"
            yield f"called {host or 'a host'} ({flag if sandbox.by == 'srt' else f'with srt: {flag}'})"
    frames = [frame for raised in phase.exceptions for frame in raised.frames]
    is_socket = any(frame.path.endswith(_SOCKET_FILES) or "AF_UNIX" in (frame.statement or "") for frame in frames)
    if not sandbox.unix_sockets and "[Errno 1] Operation not permitted" in said and is_socket:
        yield "opened a Unix socket (srt allows none)"


def _path(path: str | None) -> str:
    return in_line(path or "a file")


def _host(said: str, phase: Phase) -> str | None:
    """From the exception, else from the call nearest to it that names one."""
    frames = [frame for raised in reversed(phase.exceptions) for frame in reversed(raised.frames)]
    called = [[frame.statement or "", *(f"{name} = {value}" for name, value in frame.arguments)] for frame in frames]
    found = (_HOST.search(text) for text in [said, *(word for words in called for word in words)])
    return next((match[1].lower() for match in found if match), None)
