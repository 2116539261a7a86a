"""Which tests pytest no longer collects, although they are still written down; and settings that demand less.

What is collected at both sides shows it, whatever it comes from: marks, settings, conftest files, parameters that are
computed. Files that settings leave out are not seen so, because the files of the tests are named.
"""

import ast
import configparser
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import PurePosixPath

from pytest_mcp.proof.at_base import function_of
from pytest_mcp.proof.checks import one_line
from pytest_mcp.proof.suite import assignments, parsed
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

# In each file the section of pytest.
_SECTIONS = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
_FILES = {*_SECTIONS, "pyproject.toml", ".coveragerc"}
_NARROWING = re.compile(r"--(?:deselect|ignore|ignore-glob)[= ]\S+|-[km][= ]?.+?(?= -|$)|--lf|--co(?:llect-only)?\b")
_DEFAULTS = {"testpaths": "", "python_files": "test_*.py *_test.py"}
_LIMIT = re.compile(r"(?:--cov-fail-under|--fail-under|fail_under)[ =:\"']+(\d+(?:\.\d+)?)")


def lowered(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> Iterator[Weakening]:
    """All files of settings together, because settings move between them."""
    changed = [path for path in now if PurePosixPath(path).name in _FILES and before.get(path) != now[path]]
    old, new = ("\n".join(side.get(path) or "" for path in changed) for side in (before, now))
    was, is_now = (_merged({path: side.get(path) or "" for path in changed}) for side in (before, now))
    for what, known, text, is_strong in [*_narrowed(was, is_now), *_limits(old, new)]:
        last = (text.split() or ["addopts"])[-1]
        path = next((each for each in changed if last in (now[each] or "")), changed[0])
        line = (now[path] or "").partition(last)[0].count("\n") + 1
        yield Weakening(path, line, what, known, text, is_strong)
    for path, source in now.items():
        if PurePosixPath(path).name == "conftest.py" and before.get(path) != source:
            yield from _conftest(path, parsed(before.get(path) or ""), parsed(source or ""))


def _merged(files: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, object] = {}
    for path, text in files.items():
        with suppress(tomllib.TOMLDecodeError, configparser.Error, KeyError):
            if path.endswith(".toml"):
                tool = tomllib.loads(text)["tool"]["pytest"]
                found |= {**tool, **tool.get("ini_options", {})}
            else:
                parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
                parser.read_string(text)
                found |= parser[_SECTIONS[PurePosixPath(path).name]]
    return {
        key: " ".join(each) if isinstance(each, list) else " ".join(str(each).split()) for key, each in found.items()
    }


def _narrowed(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, str, str, bool]]:
    before = _NARROWING.findall(old.get("addopts", ""))
    for each in _NARROWING.findall(new.get("addopts", "")):
        if each not in before:
            known = next((one for one in before if one[:2] == each[:2]), "")
            yield "tests deselected by addopts", known, each, True
    for name, default in _DEFAULTS.items():
        known_words, words = (side.get(name, default).split() for side in (old, new))
        if known_words and set(known_words) - set(words) and words:
            is_less = name not in old or set(words) < set(known_words)
            yield f"pytest looks at less: {name}", " ".join(known_words), f"{name} = {' '.join(words)}", is_less


def _limits(old: str, new: str) -> Iterator[tuple[str, str, str, bool]]:
    before, now = ({float(each[1]): each.group() for each in _LIMIT.finditer(text)} for text in (old, new))
    if before and (not now or min(now) < min(before)):
        yield "a threshold is lower", before[min(before)], now[min(now)] if now else "", bool(now)


def _conftest(path: str, old: ast.Module | None, new: ast.Module | None) -> Iterator[Weakening]:
    known = {one_line(each) for each in ast.walk(old or ast.Module([], [])) if isinstance(each, ast.Constant)}
    for name, value in assignments(new.body if new else []):
        added = [each for each in ast.walk(value) if isinstance(each, ast.Constant) and one_line(each) not in known]
        if name in ("collect_ignore", "collect_ignore_glob") and added:
            yield Weakening(path, value.lineno, f"files left out by {name}", "", one_line(added[0]))
