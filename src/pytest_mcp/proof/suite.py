"""The tests, fixtures and other functions of test files, with the marks and parameters that hold for each."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

from pytest_mcp.proof.checks import Check, checks_of
from pytest_mcp.proof.claims import calls_in, is_asserting, keywords_of, last_name, one_line, truth

_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|tests?\.py")
_TEST_FOLDERS = {"test", "tests", "testing"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MARKS = re.compile(r"skip\w*|xfail|expectedFailure|expected_failure|flaky")
# A decorator that nobody here can read, by a name that says what it does.
_TELLING = re.compile(r"\w*(?:skip|xfail|disable|ignore|flaky|broken|quarantine)\w*", re.IGNORECASE)


@dataclass(frozen=True)
class Mark:
    """`pytest.mark.skipif(…)`, with the line where it stands. `name` is its last name, `why` its condition."""

    name: str
    text: str
    line: int = field(compare=False)
    is_certain: bool


@dataclass(frozen=True)
class Parameters:
    """The rows of one `parametrize`; None if they are computed."""

    names: str
    rows: tuple[str, ...] | None
    line: int = field(compare=False)
    values: tuple[ast.expr, ...] = field(default=(), compare=False)


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
                marks.append(Mark(name, one_line(meant), node.lineno, is_certain(meant)))
        return tuple(marks), tuple(parameters)

    def _parameters(self, call: ast.Call) -> Parameters:
        named = keywords_of(call)
        names, values = (*call.args, *(named[each] for each in ("argnames", "argvalues") if each in named))[:2]
        listed = names.elts if isinstance(names, ast.List | ast.Tuple) else [names]
        texts = [str(each.value) if isinstance(each, ast.Constant) else ast.unparse(each) for each in listed]
        return self._rows(", ".join(part.strip() for text in texts for part in text.split(",")), values)

    def _rows(self, names: str, values: ast.expr) -> Parameters:
        rows = rows_of(values, self.constants)
        plain = None if rows is None else tuple(_plain_row(each) for each in rows)
        return Parameters(names, plain, values.lineno, tuple(rows or ()))


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Of a function without those inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield child
            yield from own_nodes(child)


def assignments(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for node in body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def rows_of(node: ast.expr, constants: Mapping[str, ast.expr], depth: int = 5) -> list[ast.expr] | None:
    """The elements of what is written as a list, or added up from lists, or assigned once."""
    match node:
        case ast.List() | ast.Tuple() | ast.Set() if not any(isinstance(each, ast.Starred) for each in node.elts):
            return list(node.elts)
        case ast.Dict() if None not in node.keys:
            return [ast.Tuple([key, value]) for key, value in zip(node.keys, node.values, strict=True) if key]
        case ast.Name() if node.id in constants and depth:
            return rows_of(constants[node.id], constants, depth - 1)
        case ast.BinOp(op=ast.Add()):
            left, right = rows_of(node.left, constants, depth), rows_of(node.right, constants, depth)
            return None if left is None or right is None else left + right
        case ast.Call(func=ast.Name("list" | "tuple" | "sorted"), args=[inner]):
            return rows_of(inner, constants, depth)
        case ast.Call(func=ast.Attribute(attr="items"), args=[]):
            return rows_of(node.func.value, constants, depth) if isinstance(node.func, ast.Attribute) else None
        case ast.Call(func=ast.Name("range")) if all(
            isinstance(each, ast.Constant) and _is_int(each.value) for each in node.args
        ):
            numbers = [
                each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, int)
            ]
            return [ast.Constant(number) for number in range(*numbers)[:1000]]
        case ast.Subscript(slice=ast.Slice(lower=None, upper=ast.Constant(int(upper)), step=None)):
            rows = rows_of(node.value, constants, depth)
            return None if rows is None else rows[:upper]
    return None


def _is_int(value: object) -> bool:
    return isinstance(value, int) and abs(value) < 100_000


def _plain_row(node: ast.expr) -> str:
    """Without its id, but with what skips it."""
    if isinstance(node, ast.Call) and last_name(node) == "param":
        marks = keywords_of(node).get("marks", ast.Tuple([]))
        given = node.args[0] if len(node.args) == 1 else ast.Tuple(node.args)
        lame = any(_MARKS.fullmatch(last_name(each)) for each in ast.walk(marks))
        return ast.unparse(given) + f" # {ast.unparse(marks)}" * lame
    return ast.unparse(node)


def is_certain(mark: ast.expr) -> bool:
    """Whether it holds wherever the tests run, as far as its own text says."""
    if not isinstance(mark, ast.Call) or last_name(mark) in ("skip", "flaky"):
        return True
    conditions = [*mark.args, *(value for name, value in keywords_of(mark).items() if name == "condition")]
    if last_name(mark) in ("skipif", "skipIf", "skipUnless"):
        known = truth(conditions[0]) if conditions else None
        return known is (last_name(mark) != "skipUnless")
    return last_name(mark) != "xfail" or not conditions or truth(conditions[0]) is True


def is_lame(mark: Mark) -> bool:
    return bool(_MARKS.fullmatch(mark.name)) or bool(_TELLING.fullmatch(mark.name))


def module_skips(tree: ast.Module) -> Iterator[Mark]:
    """Calls and raises at the top of a module that end its collection."""
    for node, conditions in _top(tree.body):
        certain = all(truth(each) is True for each in conditions)
        if isinstance(node, ast.Raise) and node.exc is not None and "Skip" in last_name(node.exc):
            yield Mark("skip", one_line(node), node.lineno, certain)
        for call in calls_in(node) if isinstance(node, ast.Expr | ast.Assign) else ():
            if last_name(call) == "importorskip" and call.args:
                wanted = str(call.args[0].value).partition(".")[0] if isinstance(call.args[0], ast.Constant) else ""
                unused = isinstance(node, ast.Expr) and wanted not in _imported(tree)
                yield Mark("importorskip", one_line(call), node.lineno, unused and certain)
            elif last_name(call) in ("skip", "exit") and ast.unparse(call.func) in (
                "pytest.skip",
                "skip",
                "pytest.exit",
            ):
                yield Mark("skip", one_line(call), node.lineno, certain)


def _imported(tree: ast.Module) -> set[str]:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [
        node.module or "" if isinstance(node, ast.ImportFrom) else each.name for node in imports for each in node.names
    ]
    return {name.partition(".")[0] for name in names}


def _top(body: Sequence[ast.stmt], *conditions: ast.expr) -> Iterator[tuple[ast.stmt, tuple[ast.expr, ...]]]:
    for node in body:
        if isinstance(node, ast.If):
            if truth(node.test) is not False:
                yield from _top(node.body, *conditions, node.test)
            yield from _top(node.orelse, *conditions, ast.UnaryOp(ast.Not(), node.test))
        elif isinstance(node, ast.Try):
            unknown = ast.Name("an_import_failed")
            yield from _top(node.body, *conditions)
            yield from (each for handler in node.handlers for each in _top(handler.body, *conditions, unknown))
        else:
            yield node, conditions
