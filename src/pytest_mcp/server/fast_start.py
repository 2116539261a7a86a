"""The first answers, given from `snapshot.json` before the SDK is there: loading it takes most of a second.

In come the client's first lines; out go the answers that the SDK would give, and then a `Handover`: where
the SDK goes on. A line that is not understood in full ends the front and is left to the SDK, with all that
follows it. So does the answer to `tools/list`: the SDK is loaded while the client thinks.

One thing after the other and no thread, so that nothing overtakes. Every import delays the first answer.
"""

import json
import os
import select
from pathlib import Path
from typing import Any, NamedTuple

# Generated: `make docs`. In an answer, null stands for the value that `shared` has under the same key.
SNAPSHOT = Path(__file__).with_name("snapshot.json")
# A hundred times an opening, and no more than a pipe holds.
LONGEST_LINE = 64 * 1024
# The SDK reads two hundred levels and no more; what has fewer brackets than that cannot be so deep.
MOST_BRACKETS = 100
# A client that has closed our input and takes nothing of an answer for so long has left.
STALLED_SECONDS = 0.75
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"

# What a message must look like. A tuple is a choice, a list is one of any length, and `_NONE` also means absent.
# Names that are not here are refused, unless `...` says what they may hold: the SDK ignores unknown capabilities.
Shape = Any
_NONE = type(None)
_OBJECT: Shape = {...: object}
_OBJECTS: Shape = {...: _OBJECT}
_TOKEN = (int, str, _NONE)


def _open(**known: Shape) -> Shape:
    """An object that may have these names, and any others."""
    return {name: (shape, _NONE) for name, shape in known.items()} | {...: object}


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
    "io.modelcontextprotocol/clientCapabilities": _CAPABILITIES,
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
    """Where the SDK goes on."""

    # The first request, answered already. The SDK must hear it all the same: it decides about all the others.
    opening: bytes = b""
    # Every byte that was read and is not answered, in its order.
    rest: bytes = b""


def greet(source: int, target: int) -> Handover | None:
    """Answer what a client asks first; None if it has gone and nothing is owed to it."""
    conversation = _Conversation()
    heard = b""
    try:
        while not conversation.has_listed:
            line, newline, rest = heard.partition(b"\n")
            if newline and (reply := conversation.reply(line)) is not None:
                _write(target, reply, source)
                heard = rest
            elif newline or len(heard) > LONGEST_LINE:
                break
            elif chunk := _read(source):
                heard += chunk
            elif heard:
                break
            else:
                return None
    except BrokenPipeError:
        return None
    return Handover(conversation.opening, conversation.held + heard)


class _Conversation:
    """What has been said so far, as far as it matters for the next answer."""

    def __init__(self) -> None:
        self.snapshot = json.loads(SNAPSHOT.read_bytes())
        self.opening = b""
        self.held = b""
        self.has_listed = False
        # Agreed on by a handshake; without one, every request names its own.
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
        """None for a version that is newer than the snapshot: the SDK may be newer too."""
        stored = self.snapshot[era].get(version, {}).get(message["method"])
        if stored is None:
            return None
        return {key: self.snapshot["shared"][key] if value is None else value for key, value in stored.items()}


def _parsed(line: bytes) -> Any:
    """None for what may be read differently elsewhere: escaped halves of a character, bad UTF-8, deep nesting."""
    if b"\\u" in line or line.count(b"{") + line.count(b"[") > MOST_BRACKETS:
        return None
    try:
        return json.loads(line.decode("utf-8"))
    except ValueError:
        return None


def _fits(value: Any, shape: Shape) -> bool:
    if isinstance(shape, tuple):
        return any(_fits(value, choice) for choice in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(entry, shape[0]) for entry in value)
    if isinstance(shape, str):
        return bool(value == shape)
    if not isinstance(shape, dict):
        # Not isinstance: True is no number here.
        return shape is object or type(value) is shape
    if not isinstance(value, dict):
        return False
    names = {*value, *shape} - {...}
    return all(_fits(value.get(name), shape.get(name, shape.get(..., ()))) for name in names)


def _read(source: int) -> bytes:
    # Waited for apart: who started us may have left the descriptor in a state in which nothing blocks.
    select.select([source], [], [])
    return os.read(source, LONGEST_LINE)


def _write(target: int, data: bytes, source: int) -> None:
    while data:
        while not select.select([], [target], [], STALLED_SECONDS)[1]:
            if has_left(source):
                raise BrokenPipeError
        # No more than fits for certain: a write that blocks would not see that the client leaves.
        data = data[os.write(target, data[: select.PIPE_BUF]) :]


def has_left(source: int) -> bool:
    """Whether the other end of our input is closed, even if not everything that it said was read yet."""
    watch = select.poll()
    # A hangup is always told; a socket of which only that half was closed must be asked for it.
    watch.register(source, getattr(select, "POLLRDHUP", 0))
    return bool(watch.poll(0))
