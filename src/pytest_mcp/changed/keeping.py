"""Whether a function keeps or calls what it is given: a decorator that registers, for example.

It is taken to, unless all that it does with it is to hand it back, to wrap it, or to look at it.
"""

import ast
from collections.abc import Collection, Iterable, Iterator

from pytest_mcp.changed.definitions import FUNCTIONS
from pytest_mcp.changed.mention import Chain
from pytest_mcp.changed.telltales import HARMLESS

# What only looks at a value, or hands it back.
_LOOKING = (
    *(ast.Return, ast.Attribute, ast.Subscript, ast.Compare, ast.BinOp, ast.UnaryOp, ast.FormattedValue, ast.Expr),
    *(ast.If, ast.While, ast.For, ast.Assert, ast.Raise, ast.comprehension),
)


def kept_depths(node: ast.FunctionDef | ast.AsyncFunctionDef, made: str = "") -> set[int]:
    """0 if it may keep what it is given; 1 if what it returns may, as in a decorator with arguments.

    `made` is the object that it makes, which may have it.
    """
    body = list(running(node.body))
    inner = [each for each in body if isinstance(each, FUNCTIONS)]
    given = [(each, _given(each.args)) for each in inner]
    own = {each.arg for each in arguments(node.args)}
    is_unknown = not made and _returns_other(body, {each.name for each in inner}, own)
    depths = {1} if is_unknown or any(_is_keeping(each, names) for each, names in given) else set()
    return depths | ({0} if _is_keeping(node, own, made) else set())


def _returns_other(body: Iterable[ast.AST], inner: Collection[str], given: Collection[str]) -> bool:
    """Whether what it returns can be called, and is neither a function in it nor what it was given."""
    for value in (each.value for each in body if isinstance(each, ast.Return)):
        made, known = (value.func, inner) if isinstance(value, ast.Call) else (value, {*inner, *given})
        if not (isinstance(made, ast.Constant | None) or (isinstance(made, ast.Name) and made.id in known)):
            return True
    return False


def _is_keeping(node: ast.FunctionDef | ast.AsyncFunctionDef, names: set[str], made: str = "") -> bool:
    body = list(running(node.body))
    called = {each.func.id for each in body if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}
    # Functions in it that it calls are part of it.
    local = {each.name: each for each in body if isinstance(each, FUNCTIONS) and each.name in called}
    for inner in local.values():
        body += running(inner.body)
        names |= {each.arg for each in arguments(inner.args)}
    while more := {name for each in body for name in _other_names(each, names)} - names:
        names |= more
    known = names | ({made} if made else set())
    return any(
        isinstance(each, ast.Global) or (_is_named(_parts(each), names) and not _is_harmless(each, known, local.keys()))
        for each in body
        if not isinstance(each, FUNCTIONS)
    )


def _other_names(node: ast.AST, names: set[str]) -> Iterator[str]:
    """Names of the same thing, and of functions that wrap it."""
    if isinstance(node, ast.Assign) and _is_named([node.value], names):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension) and _is_named(ast.walk(node.iter), names):
        yield from (each.id for each in ast.walk(node.target) if isinstance(each, ast.Name))
    elif isinstance(node, FUNCTIONS) and _is_named(ast.walk(node), names):
        yield node.name


def _is_named(nodes: Iterable[ast.AST], names: set[str]) -> bool:
    parts = map(_whole, nodes)
    return any(isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id in names for each in parts)


def _whole(node: ast.AST) -> ast.AST:
    """What `given[0]` is a part of."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _parts(node: ast.AST) -> Iterable[ast.AST]:
    """What its value may hold."""
    if isinstance(node, ast.Lambda):
        return ast.walk(node)
    if isinstance(node, ast.IfExp):
        return node.body, node.orelse
    if isinstance(node, ast.Call):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        return [node.func, *(each.value if isinstance(each, ast.Starred) else each for each in given)]
    return () if isinstance(node, ast.keyword | ast.Starred) else ast.iter_child_nodes(node)


def _is_harmless(node: ast.AST, names: set[str], local: Iterable[str]) -> bool:
    if isinstance(node, ast.Call):
        chain = callee(node)[0]
        return chain[-1] in HARMLESS or (len(chain) == 1 and chain[0] in local)
    if isinstance(node, ast.Assign):
        return all(isinstance(each, ast.Name) or (chain_of(each) or ("",))[0] in names for each in node.targets)
    return isinstance(node, _LOOKING)


# --- what the scan of mentions also needs -----------------------------------------------------------


def running(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """What runs with these nodes: not what is in functions, only that they are made."""
    left = list(nodes)
    while left:
        node = left.pop()
        yield node
        if isinstance(node, FUNCTIONS):
            left += [*node.decorator_list, *node.args.defaults, *(each for each in node.args.kw_defaults if each)]
        elif not isinstance(node, ast.Lambda):
            left += ast.iter_child_nodes(node)


def arguments(node: ast.arguments) -> list[ast.arg]:
    rest = [each for each in (node.vararg, node.kwarg) if each is not None]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *rest]


def _given(node: ast.arguments) -> set[str]:
    """What a decorated thing can be in the function that gets it: what has `name=name` is as it was made."""
    positional = [*node.posonlyargs, *node.args]
    made = zip(reversed(positional), reversed(node.defaults), strict=False)
    names = {each.arg for each in (*positional, node.vararg) if each is not None}
    return names - {each.arg for each, default in made if isinstance(default, ast.Name)}


def callee(node: ast.AST) -> tuple[Chain, int]:
    """What is called, and after how many calls of what it returns."""
    depth = -1
    while isinstance(node, ast.Call):
        node, depth = node.func, depth + 1
    return chain_of(node) or ("<computed>",), depth


def chain_of(node: ast.AST) -> Chain | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        else:
            parts.clear()
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else None
