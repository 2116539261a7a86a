"""Which tests pytest collected at the base and does not collect now, although they are still written down.

That is seen by collecting, whatever it comes from: marks, settings, conftest files, parameters that are computed.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from pytest_mcp.proof.at_base import function_of
from pytest_mcp.proof.edits import Weakening


def lost_tests(
    before: Iterable[str],
    now: Iterable[str],
    sources: Mapping[str, str | None],
    changed: Collection[str],
    known: Collection[Weakening],
) -> list[Weakening]:
    """Of node ids at both sides. `sources` are the files as they are now, `known` is what syntax trees say already.

    In a file that did not change, fewer parameters are a remark: they are made of something that did.
    """
    were, are = Counter(map(function_of, before)), Counter(map(function_of, now))
    found = []
    for name, number in were.items():
        file, _, qualified = name.partition("::")
        line = _line_of(qualified.rpartition("::")[2], sources.get(file))
        # One that is not written down any more was renamed, moved or removed: syntax trees tell.
        if are[name] >= number or line is None:
            continue
        what = "fewer tests are collected of it" if are[name] else "pytest no longer collects it"
        is_strong = not are[name] or file in changed
        entry = Weakening(file, line, what, f"{qualified}: {_tests(number)}", _tests(are[name]), is_strong)
        if not any(each.file == file and _is_about(each, entry, qualified) for each in known):
            found.append(entry)
    return found


def _is_about(known: Weakening, entry: Weakening, qualified: str) -> bool:
    """The mark, the decorator or the function itself; or a word on parameters near it."""
    name = qualified.rpartition("::")[2]
    return (
        name in known.before
        or abs(known.line - entry.line) <= 1
        or ("param" in known.what and known.line <= entry.line)
    )


def _line_of(name: str, source: str | None) -> int | None:
    match = re.search(rf"^[ \t]*(?:async )?def {re.escape(name)}\b", source or "", re.MULTILINE)
    return None if match is None else (source or "").count("\n", 0, match.end()) + 1


def _tests(number: int) -> str:
    return f"{number} {'test' if number == 1 else 'tests'}"
