"""The definitions of a Python file: what a change touches, and what can be mentioned.

A definition is a function, a method, a class without its methods, a name that a module binds, or what runs at import
and binds nothing, which has no name. Functions and classes in a function belong to it. What stands under a condition
or in a `try` has that as its head.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

# What runs at import and binds no name, and what runs only if the file is the program.
AT_IMPORT = ""
AS_PROGRAM = "__main__"
# The docstring of a module.
DOCSTRING = "__doc__"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = ("body", "orelse", "finalbody")
_HEADS = ("test", "target", "iter", "items", "subject")
Kind = Literal["function", "class", "name", "import", "addition", "statement"]


class Definition(NamedTuple):
    # With the classes around it: "Cart.total". Of an addition, which changes something that has a name, that name.
    name: str
    kind: Kind
    node: ast.AST
    heads: tuple[ast.AST, ...] = ()
    # The name of the class around it.
    owner: str = ""


def definitions(tree: ast.Module) -> Iterator[Definition]:
    yield from _of_block(tree.body, ())
    if ast.get_docstring(tree, clean=False) is not None:
        yield Definition(DOCSTRING, "name", tree.body[0])


def _of_block(block: Iterable[ast.stmt], heads: tuple[ast.AST, ...]) -> Iterator[Definition]:
    for node in block:
        if isinstance(node, FUNCTIONS):
            yield Definition(node.name, "function", node, heads)
        elif isinstance(node, ast.ClassDef):
            yield from _of_class(node, heads)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (Definition(bound_name(alias), "import", one(node, alias), heads) for alias in node.names)
        elif isinstance(node, ast.If) and _is_program(node.test):
            yield Definition(AS_PROGRAM, "function", node)
        elif any(hasattr(node, block) for block in _BLOCKS) or isinstance(node, ast.Match):
            yield from _of_compound(node, heads)
        else:
            yield from _of_statement(node, heads)


def _of_class(node: ast.ClassDef, heads: tuple[ast.AST, ...], owner: str = "") -> Iterator[Definition]:
    name = f"{owner}.{node.name}" if owner else node.name
    yield Definition(name, "class", node, heads, owner)
    for inner in inside(node):
        if isinstance(inner, FUNCTIONS):
            yield Definition(f"{name}.{inner.name}", "function", inner, (), name)
        else:
            yield from _of_class(inner, (), name)


def inside(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The methods and classes of a class, also under conditions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (*FUNCTIONS, ast.ClassDef)):
            yield child
        elif isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from inside(child)


def _of_compound(node: ast.stmt, heads: tuple[ast.AST, ...]) -> Iterator[Definition]:
    own = [each for name in _HEADS for each in _listed(getattr(node, name, None))]
    handlers: list[ast.ExceptHandler] = getattr(node, "handlers", [])
    cases: list[ast.match_case] = getattr(node, "cases", [])
    own += [each.type for each in handlers if each.type is not None]
    own += [each for case in cases for each in (case.pattern, case.guard) if each is not None]
    yield from (Definition(AT_IMPORT, "statement", each) for each in own)
    if isinstance(node, ast.For | ast.AsyncFor | ast.With | ast.AsyncWith):
        yield from (Definition(name, "name", each) for each in own for name in _stored(each))
    blocks = [getattr(node, name, []) for name in _BLOCKS]
    for block in (*blocks, *(each.body for each in handlers), *(case.body for case in cases)):
        yield from _of_block(block, (*heads, *own))


def _of_statement(node: ast.stmt, heads: tuple[ast.AST, ...]) -> Iterator[Definition]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    targets = _targets(node)
    # What `+=` changes may be of another module.
    is_kept = isinstance(node, ast.AugAssign)
    names = set() if is_kept else {name for target in targets for name in _stored(target)}
    yield from (Definition(name, "name", node, heads) for name in sorted(names))
    changed = {_root(target) for target in targets if is_kept or not isinstance(target, ast.Name)} - {None}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        changed = {_changed_by(node.value)} - {None}
    yield from (Definition(str(name), "addition", node, heads) for name in sorted(map(str, changed - names)))
    if not names and not changed:
        yield Definition(AT_IMPORT, "statement", node, heads)


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign | ast.Delete):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []


def _stored(node: ast.AST) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)]


def _changed_by(call: ast.Call) -> str | None:
    """What `X.update(...)` and `setattr(X, ...)` change."""
    if isinstance(call.func, ast.Name):
        return _root(call.args[0]) if call.func.id in ("setattr", "delattr") and call.args else None
    return _root(call.func)


def _root(node: ast.AST) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _is_program(test: ast.expr) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "__name__" for each in ast.walk(test))


def _listed(value: object) -> list[ast.AST]:
    values = value if isinstance(value, list) else [value]
    return [each for each in values if isinstance(each, ast.AST)]


def bound_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def one(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.Import | ast.ImportFrom:
    """The statement with this name alone."""
    if isinstance(node, ast.Import):
        return ast.Import(names=[alias])
    return ast.ImportFrom(module=node.module, names=[alias], level=node.level)


# --- what is equal ----------------------------------------------------------------------------------


def is_describing(node: ast.AST) -> bool:
    """Whether it is `X.__doc__ = ...`, which runs nothing that matters."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return bool(targets) and all(isinstance(each, ast.Attribute) and each.attr == DOCSTRING for each in targets)


class Text(NamedTuple):
    """What of a definition is compared: its code, the text that describes it, and how it is written."""

    code: bytes
    docstring: str | None
    source: bytes


def texts(tree: ast.Module, content: bytes) -> Mapping[str, Text]:
    """By name; moved lines, comments and formatting make no difference to the code."""
    lines = content.splitlines()
    dumps: dict[str, list[str]] = {}
    sources: dict[str, bytes] = {}
    docstrings: dict[str, str] = {}
    for each in definitions(tree):
        if each.name != DOCSTRING and isinstance(each.node, (*FUNCTIONS, ast.ClassDef)):
            docstring = ast.get_docstring(each.node, clean=False)
            docstrings |= {} if docstring is None else {each.name: docstring}
        if is_describing(each.node):
            docstrings[each.name] = docstrings.get(each.name, "") + ast.dump(each.node)
        else:
            dumps.setdefault(each.name, []).append("\n".join(map(_dump, (each.node, *each.heads))))
        if each.kind == "function":
            last = getattr(each.node, "end_lineno", 0)
            sources[each.name] = sources.get(each.name, b"") + b"\n".join(lines[each.node.lineno - 1 : last])  # type: ignore[attr-defined]
    codes = {name: hashlib.sha256("\0".join(each).encode("utf-8", "replace")).digest() for name, each in dumps.items()}
    return {name: Text(code, docstrings.get(name), sources.get(name, b"")) for name, code in codes.items()}


def reordered(before: ast.Module, after: ast.Module) -> set[str]:
    """Where what came before is after something else, so that what keeps definitions has them in another order.

    They are classes, and AT_IMPORT for the file.
    """
    old, new = _kept(before), _kept(after)
    both = ((name, old[name], new[name]) for name in old.keys() & new.keys())
    return {name for name, one, other in both if [x for x in one if x in other] != [x for x in other if x in one]}


def _kept(tree: ast.Module) -> Mapping[str, Mapping[str, None]]:
    """What may be kept by a decorator, a base or a metaclass: of the file, and of each class that has one of these."""
    kept: dict[str, dict[str, None]] = {}
    keeping = {AT_IMPORT}
    for each in definitions(tree):
        node = each.node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            is_given = bool(node.decorator_list or (isinstance(node, ast.ClassDef) and (node.bases or node.keywords)))
            keeping |= {each.name} if is_given else set()
            if is_given or each.owner:
                kept.setdefault(each.owner, {})[each.name] = None
    return {name: names for name, names in kept.items() if name in keeping}


def _dump(node: ast.AST) -> str:
    if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return ast.dump(node)
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    if isinstance(node, ast.ClassDef):
        body = [each for each in body if not isinstance(each, (*FUNCTIONS, ast.ClassDef))]
    fields = (value for name, value in ast.iter_fields(node) if name != "body")
    parts = [each for value in fields for each in _listed(value)] + list(body)
    return "\n".join([type(node).__name__, *map(ast.dump, parts)])


class Touched(NamedTuple):
    """The definitions whose code differs; those of them that came or went; that describe or are written otherwise."""

    code: set[str]
    came: set[str]
    gone: set[str]
    described: set[str]
    written: set[str]


def touched(before: Mapping[str, Text], after: Mapping[str, Text]) -> Touched:
    came, gone = after.keys() - before.keys(), before.keys() - after.keys()
    both = before.keys() & after.keys()
    code = {name for name in both if before[name].code != after[name].code}
    described = {name for name in both - code if before[name].docstring != after[name].docstring}
    written = {name for name in both - code if before[name].source != after[name].source}
    return Touched(code | came | gone, came, gone, described, written)
