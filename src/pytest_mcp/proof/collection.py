"""Which tests pytest no longer collects, although they are still written down; and settings that demand less.

What is collected at both sides shows it, whatever it comes from: marks, settings, conftest files, parameters that are
computed. Files that settings leave out are not seen so, because the files of the tests are named.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from pytest_mcp.proof.at_base import function_of
from pytest_mcp.proof.weakening import Weakening


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


# --- settings ------------------------------------------------------------------------------------

# The files are read as text, all together, because settings move between them.
_FILES = {"conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pyproject.toml", ".coveragerc"}
_SETTING = r"^{}\s*=\s*(\[[^\]]*\]|.*(?:\n[ \t]+\S.*)*)"
_NARROWING = re.compile(r"--(?:deselect|ignore|ignore-glob)[= ]\S+|-[km][= ]?.+?(?= -|$)|--lf|--co(?:llect-only)?\b")
# What pytest looks at if they are not set.
_DEFAULTS = {"testpaths": "", "python_files": "test_*.py *_test.py"}
_IGNORING = ("collect_ignore", "collect_ignore_glob")
_LIMIT = re.compile(r"(?:--cov-fail-under|--fail-under|fail_under)[ =:\"']+(\d+(?:\.\d+)?)")

# What demands less, both sides of it, and whether that needs no second look.
Less = tuple[str, str, str, bool]


def lowered(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> Iterator[Weakening]:
    """Settings of pytest and coverage, also in conftest files, that run fewer tests or demand less."""
    changed = [path for path in now if PurePosixPath(path).name in _FILES and before.get(path) != now[path]]
    old, new = ("\n".join(side.get(path) or "" for path in changed) for side in (before, now))
    for what, known, text, is_strong in [
        *_narrowed(old, new),
        *_looked_at(old, new),
        *_ignored(old, new),
        *_limits(old, new),
    ]:
        last = (text.split() or ["addopts"])[-1]
        path = next((each for each in changed if last in (now[each] or "")), changed[0])
        line = (now[path] or "").partition(last)[0].count("\n") + 1
        yield Weakening(path, line, what, known, text, is_strong)


def _words(name: str, text: str, default: str = "") -> list[str]:
    found = re.search(_SETTING.format(name), text, re.MULTILINE)
    return re.sub(r"[\[\]\"',]", " ", default if found is None else found[1]).split()


def _narrowed(old: str, new: str) -> Iterator[Less]:
    before, now = (_NARROWING.findall(" ".join(_words("addopts", text))) for text in (old, new))
    for each in now:
        if each not in before:
            known = next((one for one in before if one[:2] == each[:2]), "")
            yield "tests deselected by addopts", known, each, True


def _looked_at(old: str, new: str) -> Iterator[Less]:
    for name, default in _DEFAULTS.items():
        before, now = (_words(name, text, default) for text in (old, new))
        if now and set(before) - set(now):
            is_less = set(now) < set(before) or before == default.split()
            yield f"pytest looks at less: {name}", " ".join(before), f"{name} = {' '.join(now)}", is_less


def _ignored(old: str, new: str) -> Iterator[Less]:
    for name in _IGNORING:
        for each in sorted({*_words(name, new)} - {*_words(name, old)}):
            yield f"files left out by {name}", "", each, True


def _limits(old: str, new: str) -> Iterator[Less]:
    before, now = ({float(each[1]): each.group() for each in _LIMIT.finditer(text)} for text in (old, new))
    if before and (not now or min(now) < min(before)):
        yield "a threshold is lower", before[min(before)], now[min(now)] if now else "", bool(now)
