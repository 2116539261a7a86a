"""Which lines of the project's files differ from the base.

In come the root, the files that matter and a way to get their text at the base; out come line numbers by file. How
git is asked is not decided here. Names of files may come from the child's report, so only those inside the root are
read.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from itertools import chain
from pathlib import Path

from pytest_mcp.api.reach import ChangedLines
from pytest_mcp.changes import differences, git_commands, tree_copy
from pytest_mcp.config.model import Config
from pytest_mcp.execution.background import in_thread

# The text of files at the base; a file that is not there is left out.
Before = Callable[[Sequence[str]], Awaitable[Mapping[str, str]]]
Lines = Mapping[str, frozenset[int]]

# Of more or larger files nothing is told: comparing them would take too long.
MOST_FILES = 50
MOST_LINES = 20_000
MOST_BYTES = 2_000_000
# The same for the lines of a whole change; so many files are compared at once.
MOST_CHANGED_FILES = 1_000
BATCH = 100
# How many pairs of equal lines two texts may have. Beyond it all lines between their first and last difference count
# as changed.
MOST_PAIRS = 1_000_000


async def since(before: Before, root: Path, files: Collection[str]) -> Lines:
    now = await in_thread(partial(_read, root, sorted(files)[:MOST_FILES]))
    then = await before([*now])
    return await in_thread(lambda: {file: changed(then[file], text) for file, text in now.items() if file in then})


async def of_change(config: Config, ref: str | None) -> ChangedLines:
    """Every line that was added or replaced since a ref. Raises as `differences.since` does."""
    changes = await differences.since(config, ref)
    found = await git_commands.find(config)
    place = config.root.relative_to(found.top)
    files = sorted(changes.files, key=lambda file: (not file.endswith(".py"), file))
    ranges: dict[str, str] = {}
    for start in range(0, min(len(files), MOST_CHANGED_FILES), BATCH):
        now = await in_thread(partial(_read, config.root, files[start : start + BATCH]))
        then = await tree_copy.texts(found, changes.commit, {place / file: file for file in now})
        ranges |= await in_thread(partial(_ranges, then, now))
    more = len(files) - MOST_CHANGED_FILES
    reason = f"{more} of {len(files)} changed files were not looked at" if more > 0 else None
    return ChangedLines(changes.since, ranges, reason)


def _ranges(then: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """A file that is not at the base is new. One that only lost lines has none."""
    lines = {file: added(then.get(file, ""), text) for file, text in now.items()}
    return {file: _as_ranges(numbers) for file, numbers in lines.items() if numbers}


def changed(before: str, after: str) -> frozenset[int]:
    """The numbers of new and replaced lines, and of the line behind one that was deleted."""
    if max(before.count("\n"), after.count("\n")) > MOST_LINES:
        return frozenset()
    return _numbers((first, max(last, first + 1)) for first, last in _different(before, after))


def added(before: str, after: str) -> frozenset[int]:
    """The numbers of new and replaced lines."""
    return _numbers(_different(before, after))


def _numbers(parts: Iterable[tuple[int, int]]) -> frozenset[int]:
    return frozenset(number + 1 for number in chain.from_iterable(range(*part) for part in parts))


def _different(before: str, after: str) -> Iterator[tuple[int, int]]:
    """Where the lines of the second text differ: indexes of the first line, and of the line behind the last one."""
    old, new = _lines(before), _lines(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    counts = Counter(old)
    if sum(counts[line] for line in new) > MOST_PAIRS:
        yield start, start + len(new)
        return
    for step, _, _, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if step != "equal":
            yield start + first, start + last


def _lines(text: str) -> list[str]:
    """As Python counts them. `splitlines` also ends lines at form feeds and other characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _common(old: list[str], new: list[str]) -> int:
    """How many lines are equal at the start."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((number for number, (one, two) in pairs if one != two), min(len(old), len(new)))


def _as_ranges(numbers: Collection[int]) -> str:
    firsts = sorted(number for number in numbers if number - 1 not in numbers)
    lasts = sorted(number for number in numbers if number + 1 not in numbers)
    pairs = zip(firsts, lasts, strict=True)
    return ",".join(f"{first}-{last}" if first < last else f"{first}" for first, last in pairs)


def _read(root: Path, files: Sequence[str]) -> dict[str, str]:
    texts = {}
    for file in files:
        try:
            path = (root / file).resolve()
            if path.is_relative_to(root) and path.is_file() and path.stat().st_size <= MOST_BYTES:
                texts[file] = path.read_bytes().decode("utf-8", "replace")
        except (OSError, ValueError, RuntimeError):
            continue
    return texts
