"""Add, replace or remove one member or one list item of a JSON text, which may have comments and trailing commas.

In come a text, a path of keys and a value; out comes the changed text. Every other byte is kept: comments, order,
indentation, line ends. Pure; files are read and written in `config_file`.

`drop` undoes `put` byte for byte, and recognizes from the text which objects `put` had created: those are spread over
several lines, while in an object that existed and was empty, the member follows the bracket on the same line. If a text
had no object at all, `drop` leaves an empty one, because an empty text is not valid JSON.
"""

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

# Deeper than any settings file, and far below Python's recursion limit.
DEEPEST_NESTING = 100


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class JsoncError(ValueError):
    """This text cannot be parsed or edited; the message ends with line and column."""


@dataclass(frozen=True)
class Node:
    """A value and its position; `members` are those of an object, in order, `items` those of a list."""

    start: int
    end: int
    value: Any
    members: "tuple[Member, ...] | None" = None
    items: "tuple[Member, ...] | None" = None

    @property
    def parts(self) -> "tuple[Member, ...]":
        return self.members or self.items or ()


@dataclass(frozen=True)
class Member:
    """A member of an object, or an item of a list, whose key is empty."""

    key: str
    start: int
    node: Node
    # The position of the comma after it.
    comma: int | None


def read(text: str) -> dict[str, Any]:
    """The parsed object; an empty text is an empty object."""
    root = _parsed(text)
    if root is not None and root.members is None:
        _fail(text, root.start, "an object was expected here")
    return dict(root.value) if root else {}


def put(text: str, keys: Sequence[str], value: Any) -> str:
    """The text with this value at this path; replaces an existing one."""
    found, added = _reached(text, keys, value)
    if found is None:
        return added
    layout = _Layout(text, _parsed(text))
    several_lines = "\n" in text[found.start : found.end]
    written = layout.spread(value, _indent(text, found.start)) if several_lines else _line(value)
    return text[: found.start] + written + text[found.end :]


def append(text: str, keys: Sequence[str], item: Any) -> str:
    """The text with this item at the end of the list at this path."""
    found, added = _reached(text, keys, _Lines([item]))
    if found is None:
        return added
    if found.items is None:
        _fail(text, found.start, "a list was expected here")
    return _inserted(text, _Layout(text, _parsed(text)), found, "", item)


def drop(text: str, keys: Sequence[str]) -> str:
    """The text without the member at this path, and without the objects around it that `put` had created."""
    path = _path(text, keys)
    return text if path is None else _without(text, path)


def discard(text: str, keys: Sequence[str], item: Any) -> str:
    """The text without this item of the list at this path, and without what `append` had created around it."""
    path = _path(text, keys)
    if path is None:
        return text
    node = path[-1][1].node
    found = next((each for each in node.items or () if each.node.value == item), None)
    return text if found is None else _without(text, [*path, (node, found)])


def _reached(text: str, keys: Sequence[str], value: Any) -> tuple[Node | None, str]:
    """The node at this path, or the text with this value there."""
    node = _parsed(text, keys)
    layout = _Layout(text, node)
    if node is None:
        return None, _with_root(text, layout, _nested(keys, value))
    for depth, key in enumerate(keys):
        member = _member(text, node, key)
        if member is None:
            return None, _inserted(text, layout, node, f"{_line(key)}: ", _nested(keys[depth + 1 :], value))
        node = member.node
    return node, text


def _path(text: str, keys: Sequence[str]) -> list[tuple[Node, Member]] | None:
    """The members on this path, each with its object; None if one is missing."""
    node = _parsed(text, keys)
    path: list[tuple[Node, Member]] = []
    for key in keys:
        member = None if node is None else _member(text, node, key)
        if node is None or member is None:
            return None
        path.append((node, member))
        node = member.node
    return path


def _without(text: str, path: list[tuple[Node, Member]]) -> str:
    while path and _was_created_for(text, *path[-1]):
        table, _ = path.pop()
    return _cut(text, *path[-1]) if path else text[: table.start] + "{}" + text[table.end :]


def member(keys: Sequence[str], value: Any) -> str:
    """This value as a member alone, with its key."""
    lines = _Layout("", None).spread({keys[-1]: value}, "").splitlines()
    return "\n".join(lines[1:-1])


def _parsed(text: str, keys: Sequence[str] = ()) -> Node | None:
    start = _skipped(text, 0)
    if start == len(text):
        return None
    root = _value(text, start, 0, keys)
    if _skipped(text, root.end) != len(text):
        _fail(text, _skipped(text, root.end), "there is more text after the end of the value")
    return root


def _value(text: str, at: int, depth: int, keys: Sequence[str] | None = None) -> Node:
    """Parse a value. If it is on the path, `keys` are the keys below it, and its members are kept."""
    if depth > DEEPEST_NESTING:
        _fail(text, at, "this is nested too deeply")
    if keys is None:
        # Most of a large file is plain JSON, which the standard library parses much faster.
        with contextlib.suppress(ValueError, RecursionError):
            value, end = _DECODER.raw_decode(text, at)
            return Node(at, end, value)
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth, keys)
        case "[":
            return _array(text, at, depth)
        case '"':
            return _string(text, at)
    found = _SCALAR.match(text, at)
    if found is None:
        _fail(text, at, "a value was expected here")
    return Node(at, found.end(), json.loads(found.group()))


def _object(text: str, at: int, depth: int, keys: Sequence[str] | None) -> Node:
    members: list[Member] = []
    here = _skipped(text, at + 1)
    while text[here : here + 1] != "}":
        if members and members[-1].comma is None:
            _fail(text, here, "a comma or } was expected here")
        if text[here : here + 1] != '"':
            _fail(text, here, "a name in double quotes was expected here")
        key = _string(text, here)
        colon = _skipped(text, key.end)
        if text[colon : colon + 1] != ":":
            _fail(text, colon, "a colon was expected here")
        on_path = keys[1:] if keys and keys[0] == key.value else None
        node = _value(text, _skipped(text, colon + 1), depth + 1, on_path)
        comma, following = _comma(text, node.end)
        members.append(Member(key.value, here, node, comma))
        here = following
    return Node(at, here + 1, {member.key: member.node.value for member in members}, tuple(members))


def _array(text: str, at: int, depth: int) -> Node:
    items: list[Member] = []
    comma: int | None = at
    here = _skipped(text, at + 1)
    while text[here : here + 1] != "]":
        if comma is None:
            _fail(text, here, "a comma or ] was expected here")
        node = _value(text, here, depth + 1)
        comma, following = _comma(text, node.end)
        items.append(Member("", here, node, comma))
        here = following
    return Node(at, here + 1, [item.node.value for item in items], items=tuple(items))


def _string(text: str, at: int) -> Node:
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        _fail(text, error.pos, "this string is invalid or does not end")
    return Node(at, end, value)


def _comma(text: str, at: int) -> tuple[int | None, int]:
    """The position of the comma, if one comes next, and the position of the next token after it."""
    here = _skipped(text, at)
    return (here, _skipped(text, here + 1)) if text[here : here + 1] == "," else (None, here)


def _skipped(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    assert found is not None, "the pattern also matches an empty text"
    return found.end()


def _member(text: str, node: Node, key: str) -> Member | None:
    """The last member with this key, which is the one that parsers use."""
    if node.members is None:
        _fail(text, node.start, f"an object was expected here, to hold {json.dumps(key)}")
    return next((member for member in reversed(node.members) if member.key == key), None)


def _fail(text: str, at: int, reason: str) -> NoReturn:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    raise JsoncError(f"{reason} (at line {line}, column {column})")


class _Lines(list[Any]):
    """A list that is written with each item on its own line."""


class _Layout:
    """The line ends of a text, and its indentation."""

    def __init__(self, text: str, root: Node | None) -> None:
        first = text.find("\n")
        self.newline = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
        inner = _indent(text, root.members[0].start) if root and root.members else ""
        self.step = inner or "  "

    def spread(self, value: Any, indent: str) -> str:
        if not value or not isinstance(value, Mapping | _Lines):
            return _line(value)
        inner = self.newline + indent + self.step
        labels = {f"{_line(key)}: ": each for key, each in value.items()}.items() if isinstance(value, Mapping) else ()
        parts = labels or [("", each) for each in value]
        first, last = "{}" if isinstance(value, Mapping) else "[]"
        written = [label + self.spread(each, indent + self.step) for label, each in parts]
        return first + inner + f",{inner}".join(written) + self.newline + indent + last


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _with_root(text: str, layout: _Layout, value: Any) -> str:
    # Blank lines stay before it. So the result differs from a file that is created, which ends with a line end.
    at = _after_comments(text, 0, len(text)) if text.strip() else len(text)
    return text[:at] + (layout.newline if text.strip() else "") + layout.spread(value, "") + text[at:]


def _inserted(text: str, layout: _Layout, node: Node, label: str, value: Any) -> str:
    if not node.parts:
        return _inserted_alone(text, layout, node, label, value)
    last = node.parts[-1]
    behind = last.node.end if last.comma is None else last.comma + 1
    at = _after_comments(text, behind, node.end)
    indent = _indent(text, last.start)
    # After a comment only a new line is safe: the rest of the line may belong to the comment.
    own_line = at > behind or _begins_its_line(text, last.start)
    before = layout.newline + indent if own_line else " "
    member = f"{before}{label}{layout.spread(value, indent)}"
    if last.comma is None:
        return text[:behind] + "," + text[behind:at] + member + text[at:]
    return text[:at] + member + "," + text[at:]


def _inserted_alone(text: str, layout: _Layout, node: Node, label: str, value: Any) -> str:
    indent = _indent(text, node.start)
    at = _after_comments(text, node.start + 1, node.end)
    if at == node.start + 1:
        return text[:at] + label + layout.spread(value, indent) + text[at:]
    inner = indent + layout.step
    return text[:at] + f"{layout.newline}{inner}{label}{layout.spread(value, inner)}" + text[at:]


def _was_created_for(text: str, node: Node, member: Member) -> bool:
    """Whether `put` or `append` created this object or list for this member: it is alone, on lines of its own."""
    around = (text[node.start + 1 : member.start], text[member.node.end : node.end - 1])
    return len(node.parts) == 1 and all(space.isspace() and "\n" in space for space in around)


def _cut(text: str, node: Node, member: Member) -> str:
    index = node.parts.index(member)
    previous = node.parts[index - 1].comma if index else None
    start = _after_comments(text, (node.start if previous is None else previous) + 1, member.start)
    if member.comma is not None:
        return text[:start] + text[member.comma + 1 :]
    if previous is None:
        return text[:start] + text[member.node.end :]
    return text[:previous] + text[previous + 1 : start] + text[member.node.end :]


def _after_comments(text: str, start: int, end: int) -> int:
    """The end of the last comment between two positions, or the first position. No value is between them."""
    comments = list(_COMMENT.finditer(text, start, end))
    return comments[-1].end() if comments else start


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _begins_its_line(text: str, at: int) -> bool:
    return not text[text.rfind("\n", 0, at) + 1 : at].strip()
