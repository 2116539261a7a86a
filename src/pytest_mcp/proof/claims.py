"""Assertions of every library in one form: an expression that must be true.

`assertEqual(a, b)` is `a == b`, `assert_allclose(a, b, rtol=1)` is `a == approx(b, rtol=1)`, and `not a == b` is
`a != b`. What cannot be translated stays the call that it is.
"""

import ast
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

# What a call that nobody knows must be named to count as an assertion.
_ASSERTING = re.compile(r"_*(?:assert|check|verify|expect|validate|ensure|compare)(?![a-z])|_*assert[A-Z]")
_EQUAL = re.compile(r"assert_?\w*?(?:[Ee]qual|[Cc]lose|identical|same)\w*")
_CLOSE = re.compile(r"\w*(?:[Cc]lose|[Aa]lmost)\w*")
_OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_COMPARING: Mapping[str, type[ast.cmpop]] = {
    "assertIs": ast.Is,
    "assertIsNot": ast.IsNot,
    "assertIn": ast.In,
    "assertNotIn": ast.NotIn,
    "assertNotEqual": ast.NotEq,
    "assertNotEquals": ast.NotEq,
    "assertGreater": ast.Gt,
    "assertLess": ast.Lt,
    "assertGreaterEqual": ast.GtE,
    "assertLessEqual": ast.LtE,
}
_NONE = {"assertIsNone": ast.Is, "assertIsNotNone": ast.IsNot}
_CALLED = {"assertIsInstance": "isinstance", "assertRegex": "search", "assertRaises": "raises"}
_SORTED = {"assertCountEqual", "assertItemsEqual"}
_RESULTS: Mapping[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_FALSE_NAMES = {"TYPE_CHECKING", "typing.TYPE_CHECKING"}
# Parts of a sequence of conditions that a person still reads.
MOST_SHOWN = 160
_NOTHING = object()


def one_line(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def last_name(node: ast.AST) -> str:
    """`raises` of `pytest.raises`, also of a call of it."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def keywords_of(call: ast.Call) -> dict[str, ast.expr]:
    return {each.arg: each.value for each in call.keywords if each.arg}


def is_asserting(call: ast.Call) -> bool:
    return bool(_ASSERTING.match(last_name(call))) or (last_name(call) == "fail" and not call.args[2:])


def claims_of(node: ast.expr) -> list[ast.expr]:
    """What an asserted expression or call says, conjunctions apart."""
    if isinstance(node, ast.Call):
        node = _translated(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return [_negated(node)]
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [claim for value in node.values for claim in claims_of(value)]
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        sides = [node.left, *node.comparators]
        return [ast.Compare(a, [op], [b]) for a, op, b in zip(sides, node.ops, sides[1:], strict=False)]
    return [node]


def _negated(node: ast.UnaryOp) -> ast.expr:
    inner = node.operand
    if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.Not):
        return inner.operand
    if isinstance(inner, ast.Compare) and len(inner.ops) == 1 and type(inner.ops[0]) in _OPPOSITE:
        return ast.Compare(inner.left, [_OPPOSITE[type(inner.ops[0])]()], inner.comparators)
    return node


def _translated(call: ast.Call) -> ast.expr:
    name, given = last_name(call), call.args
    if name in ("assertTrue", "assert_", "assertFalse") and given:
        (claim, *_) = claims = claims_of(given[0])
        whole = claim if len(claims) == 1 else given[0]
        return _negated(ast.UnaryOp(ast.Not(), whole)) if name == "assertFalse" else whole
    if name in _NONE and given:
        return ast.Compare(given[0], [_NONE[name]()], [ast.Constant(None)])
    if len(given) < 2:
        return call
    if name in _COMPARING:
        return ast.Compare(given[0], [_COMPARING[name]()], [given[1]])
    if name in _SORTED:
        return ast.Compare(_call("sorted", given[0]), [ast.Eq()], [_call("sorted", given[1])])
    if name in _CALLED:
        return _call(_CALLED[name], *(given[:2] if name != "assertRegex" else given[1::-1]))
    if _EQUAL.fullmatch(name) and "Not" not in name and "not" not in name.split("_"):
        return ast.Compare(given[0], [ast.Eq()], [_expected(call, name)])
    return call


def _expected(call: ast.Call, name: str) -> ast.expr:
    """The second argument, in `approx` if it is compared with a tolerance or with other options."""
    options = [each for each in call.keywords if each.arg not in ("msg", "err_msg", "verbose", "obj")]
    if not options and not _CLOSE.fullmatch(name):
        return call.args[1]
    return ast.Call(ast.Name("approx" if _CLOSE.fullmatch(name) else "alike"), [*call.args[1:]], options)


def _call(name: str, *given: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name), [*given], [])


def truth(node: ast.expr) -> bool | None:
    """Whether it is true or false whatever the program does; None: that depends."""
    match node:
        case ast.UnaryOp(ast.Not(), operand):
            known = truth(operand)
            return None if known is None else not known
        case ast.BoolOp(op, values):
            known_parts, deciding = [truth(value) for value in values], isinstance(op, ast.Or)
            return deciding if deciding in known_parts else None if None in known_parts else not deciding
        case ast.IfExp(test, body, orelse):
            known = truth(test)
            return truth(body if known else orelse) if known is not None else None
        case ast.Lambda() | ast.GeneratorExp() | ast.Tuple(elts=[_, *_]) | ast.List(elts=[_, *_]):
            return True
        case ast.NamedExpr(value=value):
            return truth(value)
        case ast.Compare(left, [op], [right]):
            return _compared(left, op, right)
    constant = _value(node)
    return None if constant is _NOTHING else bool(constant)


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
    if ast.unparse(left) == "__name__":
        return False if isinstance(op, ast.Eq) else None
    a, b = _value(left), _value(right)
    if type(op) not in _RESULTS or a is _NOTHING or b is _NOTHING:
        return None
    if ast.unparse(left) == "sys.version_info" and cast(tuple[int, ...], b) > (3, 8):
        return None
    try:
        return bool(_RESULTS[type(op)](a, b))
    except TypeError:
        return None


def _value(node: ast.expr) -> object:
    text = ast.unparse(node)
    if text == "sys.version_info":
        return tuple(sys.version_info[:3])
    if text in _FALSE_NAMES or text in ("dict()", "list()", "set()", "tuple()", "range(0)", "iter(())"):
        return ()
    try:
        return cast(object, ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return _NOTHING


def is_empty(node: ast.expr) -> bool:
    """Nothing to loop over: also a slice that can hold nothing."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        upper = node.slice.upper
        return isinstance(upper, ast.Constant) and upper.value == 0
    return truth(node) is False and not isinstance(node, ast.Compare)


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """Outermost first; what a lambda would call is not called here."""
    if isinstance(node, ast.Call):
        yield node
    for child in () if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node):
        yield from calls_in(child)
