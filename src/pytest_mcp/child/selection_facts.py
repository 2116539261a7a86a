"""Facts that explain a selection: options that exclude tests, where pytest searched, which marks there are.

In come pytest's configuration and its items; out come plain values for a record. Standard library only.
"""

from __future__ import annotations

import os
import re
from typing import Any, Callable, Iterable, Iterator

from project_collection import matches

# The options that exclude tests, each with the name of its value in pytest's configuration.
OPTIONS = (
    ("-m", "markexpr"),
    ("-k", "keyword"),
    ("--deselect", "deselect"),
    ("--ignore", "ignore"),
    ("--ignore-glob", "ignore_glob"),
)
# Folders in which nobody keeps tests.
UNSEARCHED = ("node_modules", "site-packages", "__pycache__")
# The most files that are counted.
MOST_FILES = 20_000
# So many words of -k are compared with at most so many names; how alike they must be, from 0 to 1.
MOST_ASKED = 5
MOST_NAMES = 5_000
LIKENESS = 0.75
LONGEST_WORD = 100
WORD = re.compile(r"\w+")


def reasons(config: Any, relative: Callable[[str], str]) -> dict[str, Any]:
    """Options that exclude tests, where pytest searched, and how many Python files are there."""
    places = [str(argument).partition("::")[0] for argument in config.args]
    matching, others = count_files(config, places)
    return {
        "options": [option for name, key in OPTIONS for option in said(name, config.getoption(key, None))],
        "patterns": [str(pattern) for pattern in config.getini("python_files")],
        "places": [relative(place) for place in places],
        "matching": matching,
        "others": others,
    }


def said(name: str, value: Any) -> list[str]:
    values = value if isinstance(value, (list, tuple)) else [value] if value else []
    return ["%s %s" % (name, each) for each in values]


def count_files(config: Any, places: Iterable[str]) -> tuple[int, int]:
    """Python files that match python_files, and Python files that do not."""
    counts, patterns = [0, 0], config.getini("python_files")
    for path in python_files(places):
        counts[0 if matches(path, patterns) else 1] += 1
        if sum(counts) >= MOST_FILES:
            break
    return counts[0], counts[1]


def python_files(places: Iterable[str]) -> Iterator[str]:
    for place in places:
        if place.endswith(".py"):
            yield place
        for folder, below, names in os.walk(place):
            below[:] = [name for name in below if not is_unsearched(os.path.join(folder, name))]
            yield from (os.path.join(folder, name) for name in names if name.endswith(".py"))


def is_unsearched(folder: str) -> bool:
    name = os.path.basename(folder)
    return name.startswith(".") or name in UNSEARCHED or os.path.exists(os.path.join(folder, "pyvenv.cfg"))


def near_names(expression: str, names: Iterable[str]) -> list[str]:
    """Names, or words of names, that are nearly a word of this -k expression."""
    # Not before it is needed: code under test should see no module that pytest has not imported.
    import difflib

    known = sorted(names)[:MOST_NAMES]
    words = sorted({word for name in known for word in (name, *name.split("_")) if 3 < len(word) <= LONGEST_WORD})
    asked = [word for word in WORD.findall(expression) if len(word) <= LONGEST_WORD][:MOST_ASKED]
    return [near for word in asked for near in difflib.get_close_matches(word, words[:MOST_NAMES], 1, LIKENESS)]


def registered_marks(config: Any) -> list[str]:
    return [mark_of(line) for line in config.getini("markers")]


def mark_of(line: Any) -> str:
    """The name that a line of the setting `markers` registers."""
    return str(line).partition(":")[0].partition("(")[0].strip()


def marks_of(items: Iterable[Any]) -> set[str]:
    return {str(mark.name) for item in items for mark in item.iter_markers()}
