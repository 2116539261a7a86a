"""The paragraph in AGENTS.md or CLAUDE.md that tells agents to use the tools.

In come the content of a file and whether the paragraph is wanted; out comes the new content, or None if the file is to
be deleted. Markers enclose the paragraph, and removing it restores the old bytes. The first marker also says whether
we created the file. Which file an agent reads is decided in `known_clients`.
"""

import re
from pathlib import Path
from typing import NamedTuple

from pytest_mcp.cli.setup.editing import config_file
from pytest_mcp.cli.setup.editing.config_file import Change, ConfigFileError, content_of, real

# A CLAUDE.md with this line includes the other file, which is then the one to change.
SHARED = "AGENTS.md"
_INCLUDES_SHARED = re.compile(rb"(?:\A|\n)@(?:\./)?AGENTS\.md[ \t]*(?:\r?\n|\Z)")

_BEGIN = b"<!-- pytest-mcp:begin -->"
_BEGIN_NEW_FILE = b"<!-- pytest-mcp:begin, in a file created by setup -->"
_END = b"<!-- pytest-mcp:end -->"
_ANY_BEGIN = re.compile(rb"<!-- pytest-mcp:begin[^>\n]{0,99}-->")
_LINE_END = re.compile(rb"\r?\n\Z")
_LINES = (
    b"## Tests",
    b"",
    b"Run tests with the tools of the MCP server `pytest`, not with `pytest` in a shell: `execute_tests` runs all",
    b"tests or some and names every failure with its cause, `discover_tests` lists them, `explain_environment` says",
    b"why they cannot run. Use the shell only for what the tools cannot do.",
)


def file(root: Path, name: str) -> Path:
    """The file of this name, or the other one if it is a symlink to it or includes it."""
    path = root / name
    target = real(path)
    if target != path and target.parent == real(root) and target.name == SHARED:
        return root / SHARED
    return root / SHARED if _INCLUDES_SHARED.search(content_of(path) or b"") else path


def added(path: Path) -> Change:
    before = content_of(path)
    return _change(path, before, with_paragraph(before))


def removed(path: Path) -> Change:
    before = content_of(path)
    return _change(path, before, None if before is None else without_paragraph(before))


def difference(change: Change) -> str:
    before, after = (_shown(content) for content in (change.before, change.after))
    return config_file.part_difference(change, "one paragraph", before, after)


def with_paragraph(content: bytes | None) -> bytes:
    if content is None:
        return _paragraph(_BEGIN_NEW_FILE, b"\n") + b"\n"
    newline = b"\r\n" if b"\r\n" in content else b"\n"
    if found := _found(content):
        return content[: found.start] + _paragraph(found.begin, newline) + content[found.end :]
    # It ends like the content, with or without a line end: so the old bytes can be restored.
    has_end = not content or content.endswith(b"\n")
    gap = newline * ((not has_end) + bool(content))
    return content + gap + _paragraph(_BEGIN, newline) + (newline if has_end else b"")


def without_paragraph(content: bytes) -> bytes | None:
    found = _found(content)
    if found is None:
        return content
    before, after = content[: found.start], content[found.end :]
    rest = re.sub(rb"\A\r?\n", b"", after)
    before = _LINE_END.sub(b"", before if rest != after else _LINE_END.sub(b"", before))
    is_ours = found.begin == _BEGIN_NEW_FILE and not (before + rest).strip()
    return None if is_ours else before + rest


class _Found(NamedTuple):
    """Where the paragraph is, and its first marker."""

    start: int
    end: int
    begin: bytes


def _found(content: bytes) -> _Found | None:
    begin = _ANY_BEGIN.search(content)
    end = content.find(_END, begin.end()) if begin else -1
    return None if begin is None or end < 0 else _Found(begin.start(), end + len(_END), begin[0])


def _paragraph(begin: bytes, newline: bytes) -> bytes:
    return newline.join([begin, *_LINES, _END])


def _change(path: Path, before: bytes | None, after: bytes | None) -> Change:
    content = before or b""
    if b"\0" in content:
        raise ConfigFileError(f"{path} is not a text file.")
    begins = content.count(b"<!-- pytest-mcp:begin")
    if begins != content.count(_END) or begins != (_found(content) is not None):
        raise ConfigFileError(f"{path} has markers of pytest-mcp that do not belong together. Remove them by hand.")
    return Change(path, real(path), before, after)


def _shown(content: bytes | None) -> str:
    content = content or b""
    found = _found(content)
    return content[found.start : found.end].decode("utf-8", "replace").replace("\r\n", "\n") if found else ""
