"""The tests, fixtures and other functions of test files, with the marks and parameters that hold for each."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from pytest_mcp.proof.checks import Check, checks_of
from pytest_mcp.proof.claims import is_asserting, keywords_of, last_name, one_line, truth
from pytest_mcp.proof.marks import Mark, Parameters, assignments, is_certain, module_skips, plain_row, rows_of

_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|tests?\.py")
_TEST_FOLDERS = {"test", "tests", "testing"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, eq=False)
class Function:
    file: str
    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    source: str
    is_test: bool
    is_fixture: bool
    marks: tuple[Mark, ...]
    parameters: tuple[Parameters, ...]
    helpers: frozenset[str]
    # Why pytest does not collect it although its name says so.
    uncollected: str = ""

    @property
    def id(self) -> tuple[str, str]:
        return self.file, self.name

    @property
    def last(self) -> str:
        return self.name.rpartition(".")[2]

    @cached_property
    def body(self) -> str:
        """Without its name, decorators and docstring."""
        statements = self.node.body[1:] if ast.get_docstring(self.node) is not None else self.node.body
        return "\n".join([ast.unparse(self.node.args), *map(ast.unparse, statements)])

    def is_like(self, other: "Function") -> bool:
        """However either is formatted, called or decorated."""
        return self.source == other.source or self.body == other.body

    @cached_property
    def checks(self) -> list[Check]:
        return checks_of(self.node, self.helpers)


@dataclass(frozen=True, eq=False)
class SuiteFile:
    path: str
    functions: Sequence[Function]
    # Module constants, as far as each is assigned once.
    constants: Mapping[str, ast.expr]
    tree: ast.Module


def is_test_file(path: str) -> bool:
    name = PurePosixPath(path)
    in_tests = not _TEST_FOLDERS.isdisjoint(name.parts[:-1])
    return name.suffix == ".py" and bool(_TEST_FILE.fullmatch(name.name) or name.name == "conftest.py" or in_tests)


def is_collected_file(path: str) -> bool:
    return bool(_TEST_FILE.fullmatch(PurePosixPath(path).name))


def parsed(source: str | None) -> ast.Module | None:
    try:
        return ast.parse(source) if source is not None else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def read(path: str, source: str, tree: ast.Module, helpers: frozenset[str]) -> SuiteFile:
    reader = _Reader(path, source, tree, helpers)
    return SuiteFile(path, list(reader.functions()), reader.constants, tree)


def asserting_helpers(trees: Sequence[ast.Module]) -> frozenset[str]:
    """Names of functions, no tests, that assert something or call one that does."""
    calls: dict[str, set[str]] = {}
    known: set[str] = set()
    for node in (each for tree in trees for each in _defined(tree.body)):
        if not node.name.startswith("test") and not _is_fixture(node):
            for each in ast.walk(node):
                if isinstance(each, ast.Assert) or (isinstance(each, ast.Call) and is_asserting(each)):
                    known.add(node.name)
                elif isinstance(each, ast.Call):
                    calls.setdefault(node.name, set()).add(last_name(each))
    while more := {name for name, called in calls.items() if name not in known and not called.isdisjoint(known)}:
        known |= more
    return frozenset(known)


def _defined(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Of modules and classes, not of functions."""
    for node in body:
        if isinstance(node, _FUNCTIONS):
            yield node
        for name in () if isinstance(node, _FUNCTIONS) else ("body", "orelse"):
            yield from _defined(getattr(node, name, []))


def _is_fixture(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(last_name(each) == "fixture" for each in node.decorator_list)


@dataclass
class _Scope:
    prefix: str
    marks: tuple[Mark, ...] = ()
    parameters: tuple[Parameters, ...] = ()
    uncollected: str = ""


class _Reader:
    def __init__(self, path: str, source: str, tree: ast.Module, helpers: frozenset[str]) -> None:
        self.path, self.tree, self.helpers = path, tree, helpers
        self.constants = dict(assignments(tree.body))
        self.classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.known = {node.name: node for node in tree.body if isinstance(node, _FUNCTIONS)}
        self.lines = source.splitlines()
        self.switched_off = {
            ast.unparse(target.value): f"{ast.unparse(target)} = False"
            for node in tree.body
            if isinstance(node, ast.Assign) and truth(node.value) is False
            for target in node.targets
            if isinstance(target, ast.Attribute) and target.attr == "__test__"
        }
        deleted = [each for node in tree.body if isinstance(node, ast.Delete) for each in node.targets]
        self.switched_off |= {ast.unparse(each): f"del {ast.unparse(each)}" for each in deleted}

    def functions(self) -> Iterator[Function]:
        module = _Scope("", *self._inherited(self.tree.body), self._off(self.tree.body))
        module.marks += tuple(module_skips(self.tree))
        yield from self._in(self.tree.body, module)

    def _in(self, body: Sequence[ast.stmt], scope: _Scope) -> Iterator[Function]:
        last = {node.name: node for node in body if isinstance(node, _FUNCTIONS)}
        for node in body:
            if isinstance(node, _FUNCTIONS):
                hidden = "" if last[node.name] is node or node.decorator_list else "a later one has its name"
                yield self._function(node, scope, hidden)
            elif isinstance(node, ast.ClassDef):
                yield from self._in(node.body, self._class_scope(node, scope))
            elif isinstance(node, ast.If | ast.Try | ast.With):
                yield from self._in_blocks(node, scope)

    def _in_blocks(self, node: ast.If | ast.Try | ast.With, scope: _Scope) -> Iterator[Function]:
        known = truth(node.test) if isinstance(node, ast.If) else True
        why = f"under `if {one_line(node.test)}`" if isinstance(node, ast.If) and known is False else ""
        inner = _Scope(scope.prefix, scope.marks, scope.parameters, scope.uncollected or why)
        yield from self._in(node.body, inner)
        yield from self._in(getattr(node, "orelse", []), scope)

    def _class_scope(self, node: ast.ClassDef, scope: _Scope) -> _Scope:
        marks, parameters = self._inherited(node.body)
        decorated = self._decorated(node.decorator_list)
        why = scope.uncollected or self._off(node.body) or self.switched_off.get(node.name, "")
        is_unittest = self._is_unittest(node)
        used = {last_name(base) for each in self.classes.values() for base in each.bases}
        if not why and not is_unittest and node.name not in used:
            if not node.name.startswith("Test"):
                why = f"pytest collects no class that is called {node.name}"
            elif any(isinstance(each, _FUNCTIONS) and each.name == "__init__" for each in node.body):
                why = "its class has an __init__"
        all_marks = (*scope.marks, *marks, *decorated[0])
        return _Scope(f"{scope.prefix}{node.name}.", all_marks, (*scope.parameters, *parameters, *decorated[1]), why)

    def _is_unittest(self, node: ast.ClassDef, depth: int = 5) -> bool:
        """Or has a base of another file, which may be one."""
        names = [last_name(base) for base in node.bases]
        known = [self.classes[name] for name in names if name in self.classes and name != node.name]
        return len(known) < len(names) or (depth > 0 and any(self._is_unittest(each, depth - 1) for each in known))

    def _off(self, body: Sequence[ast.stmt]) -> str:
        found = dict(assignments(body)).get("__test__")
        return "__test__ = False" if found is not None and truth(found) is False else ""

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: _Scope, hidden: str) -> Function:
        marks, parameters = self._decorated(node.decorator_list)
        name, is_fixture = f"{scope.prefix}{node.name}", _is_fixture(node)
        is_test = node.name.startswith("test") and not is_fixture and is_collected_file(self.path)
        why = scope.uncollected or hidden or self.switched_off.get(name, "")
        source = "\n".join(self.lines[node.lineno - 1 : node.end_lineno])
        if not why and is_test and "yield" in source and isinstance(node, ast.FunctionDef):
            why = "pytest runs no generator" * any(
                isinstance(each, ast.Yield | ast.YieldFrom) for each in own_nodes(node)
            )
        every = scope.marks + marks if is_test else marks
        return Function(
            *(self.path, name, node, source, is_test, is_fixture, every, (*scope.parameters, *parameters)),
            *(self.helpers, why),
        )

    def _inherited(self, body: Sequence[ast.stmt]) -> tuple[tuple[Mark, ...], tuple[Parameters, ...]]:
        value = dict(assignments(body)).get("pytestmark")
        return self._decorated(value.elts if isinstance(value, ast.List | ast.Tuple) else [value] if value else [])

    def _decorated(self, decorators: Sequence[ast.expr]) -> tuple[tuple[Mark, ...], tuple[Parameters, ...]]:
        marks, parameters = [], []
        for node in decorators:
            meant = self.constants.get(node.id, node) if isinstance(node, ast.Name) else node
            name = last_name(meant)
            if name == "parametrize" and isinstance(meant, ast.Call) and len(meant.args) + len(meant.keywords) > 1:
                parameters.append(self._parameters(meant))
            elif name == "fixture" and isinstance(meant, ast.Call) and "params" in keywords_of(meant):
                parameters.append(self._rows("params", keywords_of(meant)["params"]))
            elif name and name not in ("fixture", "usefixtures"):
                unused = name in self.known and _drops_its_argument(self.known[name])
                marks.append(Mark("nothing" if unused else name, one_line(meant), node.lineno, is_certain(meant)))
        return tuple(marks), tuple(parameters)

    def _parameters(self, call: ast.Call) -> Parameters:
        named = keywords_of(call)
        names, values = (*call.args, *(named[each] for each in ("argnames", "argvalues") if each in named))[:2]
        listed = names.elts if isinstance(names, ast.List | ast.Tuple) else [names]
        texts = [str(each.value) if isinstance(each, ast.Constant) else ast.unparse(each) for each in listed]
        return self._rows(", ".join(part.strip() for text in texts for part in text.split(",")), values)

    def _rows(self, names: str, values: ast.expr) -> Parameters:
        rows = rows_of(values, self.constants)
        plain = None if rows is None else tuple(plain_row(each) for each in rows)
        return Parameters(names, plain, values.lineno, tuple(rows or ()))


def _drops_its_argument(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = {each.arg for each in function.args.args}
    names = {each.id for node in function.body for each in ast.walk(node) if isinstance(each, ast.Name)}
    return bool(given) and given.isdisjoint(names)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Of a function without those inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield child
            yield from own_nodes(child)
