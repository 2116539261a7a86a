"""Which lines of the project's files differ from the base.

In come the root, the files that matter and a way to get their text at the base; out come line numbers by file. How
git is asked is not decided here. Names of files come from the child's report, so only those inside the root are read.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path

from pytest_mcp.execution.background import in_thread

# The text of files at the base; a file that is not there is left out.
Before = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
Lines = Mapping[str, frozenset[int]]

# Of more or larger files nothing is told: comparing them would take too long.
MOST_FILES = 50
MOST_LINES = 20_000
MOST_BYTES = 2_000_000


async def since(before: Before, root: Path, files: Collection[str]) -> Lines:
    now = await in_thread(partial(_read, root, sorted(files)[:MOST_FILES]))
    then = await before([*now])
    return await in_thread(lambda: {file: changed(then[file], text) for file, text in now.items() if file in then})


def changed(before: str, after: str) -> frozenset[int]:
    """The numbers of new and replaced lines, and of the line behind one that was deleted."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return frozenset()
    same = _common_start(old, new)
    steps = SequenceMatcher(None, old[same:], new[same:], autojunk=False).get_opcodes()
    return frozenset(
        same + number + 1
        for step, _, _, first, last in steps
        if step != "equal"
        for number in range(first, max(last, first + 1))
    )


def _common_start(old: list[str], new: list[str]) -> int:
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, two) in pairs if one != two), min(len(old), len(new)))


def _read(root: Path, files: Sequence[str]) -> dict[str, str]:
    texts = {}
    for file in files:
        try:
            path = (root / file).resolve()
            if path.is_relative_to(root) and path.is_file() and path.stat().st_size <= MOST_BYTES:
                texts[file] = path.read_text(encoding="utf-8")
        except (OSError, ValueError, RuntimeError):
            continue
    return texts
