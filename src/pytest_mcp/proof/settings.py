"""Settings of pytest and coverage, and hooks of conftest files, that run fewer tests or demand less."""

import ast
import configparser
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from pytest_mcp.proof.claims import last_name, one_line
from pytest_mcp.proof.edits import Weakening
from pytest_mcp.proof.marks import assignments
from pytest_mcp.proof.suite import parsed

# Where pytest and coverage look: in each file the sections of either.
_PYTEST = {"pytest.ini": "pytest", ".pytest.ini": "pytest", "tox.ini": "pytest", "setup.cfg": "tool:pytest"}
_COVERAGE = {".coveragerc": "", "setup.cfg": "coverage:", "tox.ini": "coverage:"}
# Options that leave tests out, and whether they have a value.
_NARROWING = ("--deselect", "--ignore", "--ignore-glob", "-k", "-m", "--lf", "--last-failed", "--co", "--collect-only")
_SETS = ("testpaths", "python_files", "python_classes", "python_functions")
_YES = ("true", "1", "yes", "on")
_TIGHT = ("strict", "xfail_strict", "strict_xfail", "strict_markers", "strict_config", "strict_parametrization_ids")
# Hooks that decide which tests are collected or run.
_HOOKS = {"pytest_collection_modifyitems", "pytest_ignore_collect", "pytest_runtest_setup", "pytest_pyfunc_call"}
_HOOKS |= {"pytest_runtest_makereport", "pytest_runtest_call", "pytest_collect_file", "pytest_runtest_protocol"}
_HOOKS |= {"pytest_sessionfinish", "pytest_itemcollected", "pytest_deselected"}
_LEAVING_OUT = re.compile(r"\b(?:skip|xfail|deselect|outcome|passed|exitstatus|remove|clear)|items\[|return True")
_LIMIT = re.compile(r"(?:--cov-fail-under|--fail-under|fail_under)[ =:\"']+(\d+(?:\.\d+)?)")


def lowered(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> Iterator[Weakening]:
    for path in now:
        old, new = before.get(path) or "", now[path] or ""
        if old != new and PurePosixPath(path).name == "conftest.py":
            yield from _conftest(path, old, new)
        elif old != new and PurePosixPath(path).suffix != ".py":
            yield from _settings(path, old, new)


def _settings(path: str, old: str, new: str) -> Iterator[Weakening]:
    before, now = (pytest_settings(path, text) for text in (old, new))
    found = [
        *_options(before.get("addopts", []), now.get("addopts", []), " ".join(now.get("strict", [])).lower() in _YES),
        *(each for name in _SETS for each in _fewer(name, before.get(name), now.get(name))),
        *_more("norecursedirs", before, now),
        *_relaxed(before, now),
        *_limits(old, new),
        *_uncovered(path, old, new),
    ]
    for what, was, line in found:
        yield Weakening(path, _line_of(new, line), what, was, line)


def pytest_settings(path: str, text: str) -> dict[str, list[str]]:
    """Each setting as the words of its value."""
    name = PurePosixPath(path).name
    if name == "pyproject.toml":
        try:
            tool = tomllib.loads(text).get("tool", {}).get("pytest", {})
        except tomllib.TOMLDecodeError:
            return {}
        section = {**tool, **tool.get("ini_options", {})}
        return {key: _words(value) for key, value in section.items() if not isinstance(value, dict)}
    return {key: _words(value) for key, value in _ini(text, _PYTEST.get(name, "")).items()}


def _ini(text: str, section: str) -> Mapping[str, str]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    return {key: value or "" for key, value in parser[section].items()} if parser.has_section(section) else {}


def _words(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(each) for each in value]
    try:
        return shlex.split(str(value), comments=False)
    except ValueError:
        return str(value).split()


def options_of(words: Sequence[str]) -> list[str]:
    """Those that leave tests out, each with its value."""
    found = []
    for number, word in enumerate(words):
        name, equals, _ = word.partition("=")
        if name in _NARROWING:
            takes = not equals and not name.startswith(("--lf", "--last", "--co"))
            found.append(" ".join([word, *words[number + 1 : number + 2]]) if takes else word)
    return found


def is_deselected(path: str, text: str, marks: frozenset[str]) -> bool:
    """By the last `-m`. An expression that is no plain one deselects nothing."""
    if PurePosixPath(path).suffix == ".py":
        return False
    options = options_of(pytest_settings(path, text).get("addopts", []))
    given = [each[2:].lstrip(" =") for each in options if each.startswith("-m")]
    parsed_expression = parsed(given[-1]) if given else None
    first = parsed_expression.body[0] if parsed_expression and parsed_expression.body else None
    return isinstance(first, ast.Expr) and _holds(first.value, marks) is False


def _holds(node: ast.expr, marks: frozenset[str]) -> bool | None:
    match node:
        case ast.Name(name):
            return name in marks
        case ast.UnaryOp(ast.Not(), operand):
            return not _holds(operand, marks)
        case ast.BoolOp(ast.And(), values):
            return all(_holds(each, marks) for each in values)
        case ast.BoolOp(ast.Or(), values):
            return any(_holds(each, marks) for each in values)
    return None


def _options(old: Sequence[str], new: Sequence[str], is_strict: bool) -> Iterator[tuple[str, str, str]]:
    before = options_of(old)
    for each in options_of(new):
        if each not in before:
            name = re.split("[ =]", each)[0]
            yield "tests deselected by addopts", next((one for one in before if one.startswith(name)), ""), each
    for word in () if is_strict else ("--strict-markers", "--strict-config", "--strict", "-Werror"):
        if word in old and word not in new:
            yield "an option that demands more is gone", word, ""


def _fewer(name: str, old: list[str] | None, new: list[str] | None) -> Iterator[tuple[str, str, str]]:
    """Without the setting, pytest looks everywhere, or at what its default names."""
    if new is None or new == old:
        return
    known = old if old is not None else {"python_files": ["test_*.py", "*_test.py"]}.get(name, [])
    everywhere = name == "testpaths" and not known
    missing = [each for each in known if each not in new]
    if missing or (everywhere and not {"tests", "test", "."} & {each.strip("/") for each in new}):
        yield f"pytest looks at less: {name}", " ".join(known), f"{name} = {' '.join(new)}"


def _more(name: str, old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> Iterator[tuple[str, str, str]]:
    added = [each for each in new.get(name, []) if each not in old.get(name, [])]
    if added and name in old:
        yield f"pytest looks at less: {name}", "", " ".join(added)


def _relaxed(old: Mapping[str, list[str]], new: Mapping[str, list[str]]) -> Iterator[tuple[str, str, str]]:
    if " ".join(new.get("strict", [])).lower() in _YES:
        return
    for name in _TIGHT:
        before, now = (" ".join(each.get(name, [])).lower() for each in (old, new))
        if before in _YES and now not in _YES:
            yield f"no longer {name}", f"{name} = {before}", f"{name} = {now}" if now else ""
    if "error" in old.get("filterwarnings", []) and "error" not in new.get("filterwarnings", []):
        yield "warnings are no longer errors", "error", ""


def _limits(old: str, new: str) -> Iterator[tuple[str, str, str]]:
    before, now = (_LIMIT.findall(text) for text in (old, new))
    if before and (not now or min(map(float, now)) < min(map(float, before))):
        after = next((each.group() for each in _LIMIT.finditer(new) if float(each[1]) == min(map(float, now))), "")
        yield "a threshold is lower", next(each.group() for each in _LIMIT.finditer(old)), after


def _uncovered(path: str, old: str, new: str) -> Iterator[tuple[str, str, str]]:
    before, now = (_coverage(path, text) for text in (old, new))
    for name in ("omit", "exclude_lines", "exclude_also"):
        added = [each for each in now.get(name, []) if each not in before.get(name, [])]
        if added and name == "omit":
            yield "less is covered: omit", "", " ".join(added)


def _coverage(path: str, text: str) -> dict[str, list[str]]:
    name = PurePosixPath(path).name
    if name == "pyproject.toml":
        try:
            tool = tomllib.loads(text).get("tool", {}).get("coverage", {})
        except tomllib.TOMLDecodeError:
            return {}
        return {key: _words(value) for part in tool.values() if isinstance(part, dict) for key, value in part.items()}
    prefix = _COVERAGE.get(name, "")
    return {key: value.split() for part in ("run", "report") for key, value in _ini(text, f"{prefix}{part}").items()}


def _line_of(text: str, part: str) -> int:
    words = part.split()
    return next((number for number, line in enumerate(text.splitlines(), 1) if words and words[-1] in line), 1)


def _conftest(path: str, old: str, new: str) -> Iterator[Weakening]:
    before, now = (parsed(text) or ast.Module([], []) for text in (old, new))
    for name in ("collect_ignore", "collect_ignore_glob"):
        known = {
            ast.unparse(each) for found, value in assignments(before.body) if found == name for each in ast.walk(value)
        }
        for found, value in assignments(now.body):
            added = [
                each for each in ast.walk(value) if isinstance(each, ast.Constant) and ast.unparse(each) not in known
            ]
            if found == name and added:
                yield Weakening(path, value.lineno, f"files left out by {name}", "", one_line(added[0]))
    hooks = {each.name: ast.unparse(each) for each in before.body if isinstance(each, ast.FunctionDef)}
    for each in now.body:
        if isinstance(each, ast.FunctionDef) and each.name in _HOOKS and hooks.get(each.name) != ast.unparse(each):
            yield from _hook(path, each, hooks.get(each.name, ""))


def _hook(path: str, hook: ast.FunctionDef, before: str) -> Iterator[Weakening]:
    known = {" ".join(line.split()) for line in before.splitlines()}
    for node in (each for each in ast.walk(hook) if isinstance(each, ast.stmt) and not hasattr(each, "body")):
        text = one_line(node)
        if _LEAVING_OUT.search(text) and text not in known and last_name(node) != "addoption":
            certain = not any(isinstance(each, ast.If) for each in ast.walk(hook))
            yield Weakening(path, node.lineno, f"{hook.name} may leave tests out", "", text, certain)
            return
