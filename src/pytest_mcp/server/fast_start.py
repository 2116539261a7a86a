"""The first answers, from `snapshot.json`, before the SDK is imported: importing it takes most of a second.

The first line that is not understood completely is left to the SDK, with all that follows it. After the answer to
`tools/list` the SDK takes over as well: it is imported while the client is busy.

One thread reads, so the order of messages is kept. Every import here delays the first answer.
"""

import json
import os
import select
from pathlib import Path
from typing import Any, NamedTuple

# Generated: `make docs`. In an answer, null stands for the value that `shared` has under the same key.
SNAPSHOT = Path(__file__).with_name("snapshot.json")
# Generated too: the tool that servers with a history have as their last one.
HISTORY_SNAPSHOT = Path(__file__).with_name("snapshot_history.json")
# A hundred times the size of a first request, and no more than a pipe holds.
MAX_LINE = 64 * 1024
# The SDK parses two hundred levels of nesting; a line with fewer brackets cannot be deeper.
MAX_BRACKETS = 100
# A client that has closed our stdin and reads nothing of an answer for so long has left.
STALLED_SECONDS = 0.75
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
# poll always reports a hangup; a half-closed socket only if it is asked for.
_HANGUP = getattr(select, "POLLRDHUP", 0)
# The extension whose clients get other answers than those of the snapshot.
APPS = "io.modelcontextprotocol/ui"

# What a message must look like. A tuple is a choice, a list is one of any length, and `_NONE` also means absent.
# Names that are not here are refused, unless `...` says what they may hold: the SDK ignores unknown capabilities.
Pattern = Any
_NONE = type(None)
_OBJECT: Pattern = {...: object}
_OBJECTS: Pattern = {...: _OBJECT}
_TOKEN = (int, str, _NONE)


def _open(**known: Pattern) -> Pattern:
    """An object that may have these names, and any others."""
    return {name: (pattern, _NONE) for name, pattern in known.items()} | {...: object}


_ICON = _open(mimeType=str, sizes=[str], theme=("light", "dark")) | {"src": str}
_CLIENT = _open(title=str, description=str, websiteUrl=str, icons=[_ICON]) | {"name": str, "version": str}
_CAPABILITIES = _open(
    elicitation=_open(form=_OBJECT, url=_OBJECT),
    experimental=_OBJECTS,
    extensions=_OBJECTS,
    roots=_open(listChanged=bool),
    sampling=_open(context=_OBJECT, tools=_OBJECT),
    tasks=_open(
        cancel=_OBJECT,
        list=_OBJECT,
        requests=_open(elicitation=_open(create=_OBJECT), sampling=_open(createMessage=_OBJECT)),
    ),
)
_META = ({"progressToken": _TOKEN}, _NONE)
_ENVELOPE = {
    VERSION_KEY: str,
    CAPABILITIES_KEY: _CAPABILITIES,
    "io.modelcontextprotocol/clientInfo": (_CLIENT, _NONE),
    "progressToken": _TOKEN,
}
_REQUEST = {"jsonrpc": "2.0", "id": (int, str)}
_INITIALIZE = _REQUEST | {
    "method": "initialize",
    "params": {"protocolVersion": str, "capabilities": _CAPABILITIES, "clientInfo": _CLIENT, "_meta": _META},
}
_INITIALIZED = {
    "jsonrpc": "2.0",
    "method": "notifications/initialized",
    "params": ({"_meta": (_OBJECT, _NONE)}, _NONE),
}
_AFTER_HANDSHAKE = _REQUEST | {"method": ("ping", "tools/list"), "params": ({"_meta": _META}, _NONE)}
_STATELESS = _REQUEST | {"method": ("server/discover", "tools/list"), "params": {"_meta": _ENVELOPE}}


class Handover(NamedTuple):
    """Where the SDK continues."""

    # The first request, which is answered. The SDK must get it too: it decides how all others are served.
    opening: bytes = b""
    # Every byte that was read and not answered, in order.
    rest: bytes = b""


def greet(
    source: int, target: int, *, has_history: bool = False, has_tasks: bool = True, app: str = "auto"
) -> Handover | None:
    """Answer a client's first requests; None if it has left and nothing is unanswered."""
    conversation = _Conversation(has_history=has_history, has_tasks=has_tasks, app=app)
    unanswered = b""
    try:
        while not conversation.has_listed:
            line, newline, rest = unanswered.partition(b"\n")
            if newline and (reply := conversation.reply(line)) is not None:
                _write(target, reply, source)
                unanswered = rest
            elif newline or len(unanswered) > MAX_LINE:
                break
            elif chunk := _read(source):
                unanswered += chunk
            elif unanswered:
                break
            else:
                return None
    except BrokenPipeError:
        return None
    return Handover(conversation.opening, conversation.held + unanswered)


class _Conversation:
    """The state of the conversation that decides the next answer."""

    def __init__(self, *, has_history: bool, has_tasks: bool, app: str) -> None:
        self.app = app
        self.snapshot = json.loads(SNAPSHOT.read_bytes())
        if not has_tasks:
            for answers in self.snapshot["stateless"].values():
                del answers["server/discover"]["capabilities"]["extensions"]
        if has_history:
            self.snapshot["shared"]["tools"].append(json.loads(HISTORY_SNAPSHOT.read_bytes()))
        self.opening = b""
        self.held = b""
        self.has_listed = False
        # The version of a handshake; without a handshake, every request names its own.
        self.version: str | None = None

    def reply(self, line: bytes) -> bytes | None:
        """The answer, empty if none is due; None for a line that is left to the SDK."""
        message = _parsed(line)
        if self.version and not self.held and _fits(message, _INITIALIZED):
            self.held = line + b"\n"
            return b""
        result = self._result(message)
        if result is None:
            return None
        self.opening = self.opening or line
        self.has_listed = message["method"] == "tools/list"
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _result(self, message: Any) -> dict[str, Any] | None:
        if self.version:
            return self._stored("handshake", self.version, message) if _fits(message, _AFTER_HANDSHAKE) else None
        if _fits(message, _STATELESS):
            return self._stored("stateless", message["params"]["_meta"][VERSION_KEY], message)
        if self.opening or not _fits(message, _INITIALIZE):
            return None
        result = self._stored("handshake", message["params"]["protocolVersion"], message)
        self.version = result["protocolVersion"] if result else None
        return result

    def _stored(self, era: str, version: str, message: Any) -> dict[str, Any] | None:
        """None for a version that is newer than the snapshot (the SDK may be newer too), and for clients of the app."""
        stored = self.snapshot[era].get(version, {}).get(message["method"])
        if stored is None or self._may_get_the_app(message):
            return None
        return {key: self.snapshot["shared"][key] if value is None else value for key, value in stored.items()}

    def _may_get_the_app(self, message: Any) -> bool:
        if self.app != "auto":
            return self.app == "always"
        return APPS in extensions_in(message.get("params"))


def extensions_in(params: Any) -> dict[str, Any]:
    """Those that a first request announces, in either era; empty if it is malformed."""
    for path in (("capabilities", "extensions"), ("_meta", CAPABILITIES_KEY, "extensions")):
        value = params
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        if isinstance(value, dict):
            return value
    return {}


def input_schema(tool: str) -> Any:
    """The arguments of a tool, for a command that need not load the models for it."""
    tools = json.loads(SNAPSHOT.read_bytes())["shared"]["tools"]
    return next(each["inputSchema"] for each in tools if each["name"] == tool)


def _parsed(line: bytes) -> Any:
    """None for what the SDK may parse differently: escaped surrogates, invalid UTF-8, deep nesting."""
    if b"\\u" in line or line.count(b"{") + line.count(b"[") > MAX_BRACKETS:
        return None
    try:
        return json.loads(line.decode("utf-8"))
    except ValueError:
        return None


def _fits(value: Any, pattern: Pattern) -> bool:
    if isinstance(pattern, tuple):
        return any(_fits(value, choice) for choice in pattern)
    if isinstance(pattern, list):
        return isinstance(value, list) and all(_fits(entry, pattern[0]) for entry in value)
    if isinstance(pattern, str):
        return bool(value == pattern)
    if not isinstance(pattern, dict):
        # Not isinstance: True is not an integer here.
        return pattern is object or type(value) is pattern
    if not isinstance(value, dict):
        return False
    names = {*value, *pattern} - {...}
    return all(_fits(value.get(name), pattern.get(name, pattern.get(..., ()))) for name in names)


def _read(source: int) -> bytes:
    # The parent may have set O_NONBLOCK; then a read would not wait.
    select.select([source], [], [])
    return os.read(source, MAX_LINE)


def _write(target: int, data: bytes, source: int) -> None:
    while data:
        while not select.select([], [target], [], STALLED_SECONDS)[1]:
            if has_left(source):
                raise BrokenPipeError
        # No more than certainly fits: a blocked write would not notice that the client leaves.
        data = data[os.write(target, data[: select.PIPE_BUF]) :]


def has_left(source: int) -> bool:
    """Whether the other end of our stdin is closed, even if there is still something to read."""
    watch = select.poll()
    watch.register(source, _HANGUP)
    return bool(watch.poll(0))
