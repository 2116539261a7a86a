"""The tests, fixtures and other functions of test files, with the marks and parameters that hold for each."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath

from pytest_mcp.proof.checks import CheckWalk, asserts, calls_in, keywords_of, last_name, one_line, truth, words_in

_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py")
_TEST_FOLDERS = {"test", "tests", "testing"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MARKS = {"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure"}

Id = tuple[str, str]


@dataclass(frozen=True)
class Mark:
    """One that keeps a test from being run, or its failure from counting."""

    name: str
    text: str
    line: int = field(compare=False)
    is_certain: bool = field(compare=False)


@dataclass(frozen=True)
class Parameters:
    """The rows of one `parametrize`; None if they are computed."""

    names: str
    rows: tuple[str, ...] | None
    line: int = field(compare=False)


@dataclass(frozen=True)
class _Scope:
    prefix: str = ""
    marks: tuple[Mark, ...] = ()
    parameters: tuple[Parameters, ...] = ()
    uncollected: str = ""


@dataclass(frozen=True, eq=False)
class Function:
    """`scope` says what holds for it, and why pytest does not collect it although its name says so."""

    file: str
    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    is_test: bool
    scope: _Scope
    helpers: frozenset[str]

    @property
    def id(self) -> Id:
        return self.file, self.name

    @property
    def node_id(self) -> str:
        return f"{self.file}::{self.name.replace('.', '::')}"

    @property
    def last(self) -> str:
        return self.node.name

    @cached_property
    def body(self) -> str:
        """Without its name, decorators and docstring."""
        statements = self.node.body[1:] if ast.get_docstring(self.node) is not None else self.node.body
        return "\n".join([ast.unparse(self.node.args), *map(ast.unparse, statements)])

    @property
    def content(self) -> tuple[object, ...]:
        return self.body, self.scope.parameters, self.scope.marks

    @cached_property
    def walk(self) -> CheckWalk:
        return CheckWalk(self.node, self.helpers)

    @cached_property
    def words(self) -> set[str]:
        return words_in(self.node)


def is_collected_file(path: str) -> bool:
    return bool(_TEST_FILE.fullmatch(PurePosixPath(path).name))


def is_test_file(path: str) -> bool:
    name = PurePosixPath(path)
    in_tests = name.name == "conftest.py" or not _TEST_FOLDERS.isdisjoint(name.parts[:-1])
    return name.suffix == ".py" and (is_collected_file(path) or in_tests)


def parsed(source: str | None) -> ast.Module | None:
    try:
        return ast.parse(source) if source is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def asserting_helpers(trees: Iterable[ast.Module]) -> frozenset[str]:
    """Names of functions, no tests, that assert something or call one that does."""
    calls: dict[str, set[str]] = {}
    for node in (each for tree in trees for each in ast.walk(tree) if isinstance(each, _FUNCTIONS)):
        if not node.name.startswith("test") and not is_fixture(node):
            calls.setdefault(node.name, set()).update(last_name(each) for each in calls_in(node))
            if any(isinstance(each, ast.Assert) for each in ast.walk(node)) or any(map(asserts, calls_in(node))):
                calls[node.name].add("assert")
    known = {"assert"}
    while more := {name for name, called in calls.items() if name not in known and not called.isdisjoint(known)}:
        known |= more
    return frozenset(known - {"assert"})


def assignments(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            yield ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target), node.value


def is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(last_name(each) == "fixture" for each in node.decorator_list)


class Reader:
    def __init__(self, path: str, tree: ast.Module, helpers: frozenset[str]) -> None:
        self._path, self._tree, self._helpers = path, tree, helpers
        self._constants = dict(assignments(tree.body))
        self._bases = {each.name: [*map(last_name, each.bases)] for each in tree.body if isinstance(each, ast.ClassDef)}

    def functions(self) -> Iterator[Function]:
        module = self._scope(_Scope(), "", self._tree.body, [])
        top = ast.Module([each for each in self._tree.body if not isinstance(each, (*_FUNCTIONS, ast.ClassDef))], [])
        # An import that nothing else names is as certain as a skip.
        words = Counter(re.findall(r"\w+", ast.unparse(self._tree)))
        needed = {each.lineno: _needed(each) for each in calls_in(top) if last_name(each) == "importorskip"}
        skips = [
            Mark("skip", text, line, certain or words[needed.get(line, "")] == 1)
            for line, text, certain in CheckWalk(top, self._helpers).skips
        ]
        yield from self._in(self._tree.body, replace(module, marks=(*module.marks, *skips)))

    def _in(self, body: Sequence[ast.stmt], scope: _Scope) -> Iterator[Function]:
        for node in body:
            if isinstance(node, _FUNCTIONS):
                yield self._function(node, scope)
            elif isinstance(node, ast.ClassDef):
                inner = self._scope(scope, f"{node.name}.", node.body, node.decorator_list)
                yield from self._in(node.body, replace(inner, uncollected=inner.uncollected or self._why_not(node)))
            elif isinstance(node, ast.If | ast.Try | ast.With):
                is_dead = isinstance(node, ast.If) and truth(node.test) is False
                why = f"under `if {one_line(node.test)}`" if isinstance(node, ast.If) and is_dead else ""
                yield from self._in(node.body, replace(scope, uncollected=scope.uncollected or why))
                yield from self._in(getattr(node, "orelse", []), scope)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: _Scope) -> Function:
        is_test = node.name.startswith("test") and not is_fixture(node) and is_collected_file(self._path)
        inner = self._scope(scope if is_test else _Scope(scope.prefix), node.name, [], node.decorator_list)
        return Function(self._path, inner.prefix, node, is_test, inner, self._helpers)

    def _scope(self, outer: _Scope, name: str, body: Sequence[ast.stmt], decorators: Sequence[ast.expr]) -> _Scope:
        """With what it says itself; its decorators may have names that are assigned in the module."""
        own, full = dict(assignments(body)), outer.prefix + name
        listed = own.get("pytestmark")
        listed_all = listed.elts if isinstance(listed, ast.List | ast.Tuple) else [listed] if listed else []
        calls = [self._constants.get(last_name(each), each) for each in [*listed_all, *decorators]]
        off = own.get("__test__", self._constants.get(f"{full.rstrip('.')}.__test__"))
        why = "__test__ = False" * (off is not None and truth(off) is False)
        marks = [_mark(each) for each in calls if last_name(each) in _MARKS]
        rows = [self._parameters(each) for each in calls if isinstance(each, ast.Call)]
        return _Scope(full, (*outer.marks, *marks), (*outer.parameters, *filter(None, rows)), outer.uncollected or why)

    def _why_not(self, node: ast.ClassDef) -> str:
        """One with a base may be a unittest one; one that is a base is read for what inherits."""
        if node.bases or any(node.name in bases for bases in self._bases.values()):
            return ""
        if any(isinstance(each, _FUNCTIONS) and each.name == "__init__" for each in node.body):
            return "its class has an __init__"
        return f"pytest collects no class that is called {node.name}" * (not node.name.startswith("Test"))

    def _parameters(self, call: ast.Call) -> Parameters | None:
        named, given = keywords_of(call), call.args
        if last_name(call) == "fixture" and "params" in named:
            given = [ast.Constant("params"), named["params"]]
        elif last_name(call) == "parametrize":
            given = [*given, *(named[each] for each in ("argnames", "argvalues") if each in named)]
        if last_name(call) not in ("fixture", "parametrize") or len(given) < 2:
            return None
        names, values = given[:2]
        rows = self._rows(values)
        text = re.sub(r"[\[\]()'\" ]", "", ast.unparse(names))
        return Parameters(text, None if rows is None else tuple(map(_plain_row, rows)), values.lineno)

    def _rows(self, node: ast.expr, depth: int = 5) -> list[ast.expr] | None:
        match node:
            case ast.List() | ast.Tuple() | ast.Set() if not any(isinstance(each, ast.Starred) for each in node.elts):
                return list(node.elts)
            case ast.Name(name) if name in self._constants and depth:
                return self._rows(self._constants[name], depth - 1)
        return None


def _needed(call: ast.Call) -> str:
    """The package that `importorskip` asks for, if it is written out."""
    value = next(iter(call.args), keywords_of(call).get("modname"))
    return str(value.value).partition(".")[0] if isinstance(value, ast.Constant) else ""


def _mark(node: ast.expr) -> Mark:
    """Certain if it holds wherever the tests run."""
    name = last_name(node)
    given = [*node.args[:1], keywords_of(node).get("condition")] if isinstance(node, ast.Call) else []
    conditions = [each for each in given if each is not None and name not in ("skip", "expectedFailure")]
    certain = not conditions or truth(conditions[0]) is (name != "skipUnless")
    return Mark(name, one_line(node), node.lineno, certain)


def _plain_row(node: ast.expr) -> str:
    """Without its id, but with what skips it."""
    if not isinstance(node, ast.Call) or last_name(node) != "param":
        return ast.unparse(node)
    marks = keywords_of(node).get("marks", ast.Tuple([]))
    given = node.args[0] if len(node.args) == 1 else ast.Tuple(node.args)
    is_lame = any(last_name(each) in _MARKS for each in ast.walk(marks))
    return ast.unparse(given) + f" # {ast.unparse(marks)}" * is_lame
