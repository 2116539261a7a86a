"""The content of files at a commit, from git's objects.

In come a repository, a commit and paths below the root; out come contents, without the files that the commit lacks.
"""

import os
from collections.abc import Sequence

from pytest_mcp.changes import git_commands
from pytest_mcp.changes.git_commands import CannotTell
from pytest_mcp.config.model import Config


async def read(config: Config, commit: str, files: Sequence[str]) -> dict[str, bytes]:
    """Raises CannotTell if git cannot be asked."""
    found = await git_commands.find(config)
    root = config.root.relative_to(found.top)
    asked = [file for file in files if "\n" not in file]
    names = [f"{commit}:".encode() + os.fsencode(root / file) for file in asked]
    output = await found.contents(names) if names else b""
    return dict(_parsed(output, asked))


def _parsed(output: bytes, files: Sequence[str]) -> "list[tuple[str, bytes]]":
    """Each is a line of `hash type size`, its content and a newline; or a line that ends in `missing`."""
    found, start = [], 0
    for file in files:
        end = output.find(b"\n", start)
        words = output[start:end].split(b" ")
        if end < 0:
            raise CannotTell("git gave an answer that could not be read")
        start = end + 1
        if words[-1] == b"missing" or words[-2] != b"blob":
            continue
        size = int(words[-1])
        found.append((file, output[start : start + size]))
        start += size + 1
    return found
