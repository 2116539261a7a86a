"""The one writer of project files."""

import textwrap
from collections.abc import Mapping
from pathlib import Path

# A text that begins with this is written as a symbolic link to the rest of it.
LINK = "-> "


def write_files(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write these files below the root, with the folders they need, and return the root.

    A text that begins with a newline is a triple-quoted block: that newline and the common indentation are removed.
    """
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif content.startswith(LINK):
            path.symlink_to(content.removeprefix(LINK))
        else:
            path.write_text(_unindented(content), encoding="utf-8")
    return root


def _unindented(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n") if text.startswith("\n") else text
