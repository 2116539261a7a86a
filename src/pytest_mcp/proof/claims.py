"""Assertions of every library in one form: an expression that must be true.

`assertEqual(a, b)` is `a == b`, `assert_allclose(a, b, rtol=1)` is `a == approx(b, rtol=1)`, and `not a == b` is
`a != b`. What cannot be translated stays the call that it is.
"""

import ast
import builtins
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy

RAISING = {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex", "deprecated_call"}
# What a call that nobody knows must be named to count as an assertion.
_ASSERTING = re.compile(r"_*(?:assert|check|verify|expect|validate|ensure|compare)(?![a-z])|_*assert[A-Z]")
_EQUAL = re.compile(r"assert_?(?!.*[Nn]ot)\w*?(?:[Ee]qual|[Cc]lose|identical|same)\w*")
_CLOSE = ("close", "almost")
# What does not tell a comparison what to overlook.
_WORDS_ONLY = {"msg", "err_msg", "verbose", "obj"}
_FORMS = """assertTrue A; assert_ A; assertFalse not A; assertIsNone A is None; assertIsNotNone A is not None;
assertIs A is B; assertIsNot A is not B; assertIn A in B; assertNotIn A not in B; assertNotEqual A != B;
assertGreater A > B; assertLess A < B; assertGreaterEqual A >= B; assertLessEqual A <= B;
assertIsInstance isinstance(A, B); assertRegex search(B, A); assertCountEqual sorted(A) == sorted(B)"""
_TRANSLATED = {name: form for name, _, form in (each.strip().partition(" ") for each in _FORMS.split(";"))}
_OPPOSITE: Mapping[type[ast.cmpop], type[ast.cmpop]] = {ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn}
_OPPOSITE = {**_OPPOSITE, **{b: a for a, b in _OPPOSITE.items()}}
_MOST_SHOWN = 160
_COMMON = {*dir(builtins), "self", "cls", "pytest", "np", "pd"}


def one_line(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def last_name(node: ast.AST | None) -> str:
    """`raises` of `pytest.raises`, also of a call of it."""
    if isinstance(node, ast.Call):
        return last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """What is called and looked at; nothing that every test has."""
    found = {last_name(each) for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)}
    return found - _COMMON


def words_in(node: ast.AST) -> set[str]:
    """With what is written out."""
    return names_in(node) | {repr(each.value) for each in ast.walk(node) if isinstance(each, ast.Constant)}


def keywords_of(call: ast.Call) -> dict[str, ast.expr]:
    return {each.arg: each.value for each in call.keywords if each.arg}


def asserts(call: ast.Call) -> bool:
    return bool(_ASSERTING.match(last_name(call))) or (last_name(call) == "fail" and not call.args[2:])


def claims_of(node: ast.expr) -> list[ast.expr]:
    """What an asserted expression or call says, conjunctions apart."""
    match node:
        case ast.Call():
            form = _translated(node)
            return [node] if form is node else claims_of(form)
        case ast.UnaryOp(ast.Not(), ast.Call() as call) if (form := _translated(call)) is not call:
            return claims_of(ast.UnaryOp(ast.Not(), form))
        case ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), inner)):
            return claims_of(inner)
        case ast.UnaryOp(ast.Not(), ast.Compare(left, [op], others)) if type(op) in _OPPOSITE:
            return [ast.Compare(left, [_OPPOSITE[type(op)]()], others)]
        case ast.BoolOp(ast.And(), values):
            return [claim for value in values for claim in claims_of(value)]
        case ast.Compare(left, ops, others) if len(ops) > 1:
            sides = [left, *others]
            return [ast.Compare(a, [op], [b]) for a, op, b in zip(sides, ops, sides[1:], strict=False)]
        case ast.Compare(left, [ast.Is() | ast.Eq()], [ast.Constant(True)]) if isinstance(left, ast.Compare):
            return claims_of(left)
    return [node]


def _translated(call: ast.Call) -> ast.expr:
    name, given = last_name(call), call.args
    form = "A == B" if _EQUAL.fullmatch(name) else _TRANSLATED.get(name, "")
    values = dict(zip("AB", given, strict=False))
    if not form or len(values) < 1 + ("B" in form):
        return call
    options = [each for each in call.keywords if each.arg not in _WORDS_ONLY]
    is_close = any(word in name.lower() for word in _CLOSE)
    if form == "A == B" and (options or is_close):
        values["B"] = ast.Call(ast.Name("approx" if is_close else "alike"), given[1:], options)
    return filled(ast.parse(form, mode="eval").body, values)


class _Replaced(ast.NodeTransformer):
    """Inside f-strings nothing is replaced."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._values.get(node.id, node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node


def filled(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    replaced = _Replaced(values).visit(deepcopy(node))
    assert isinstance(replaced, ast.expr)
    return replaced


def truth(node: ast.expr) -> bool | None:
    """Whether it is true or false whatever the program does; None: that depends."""
    match node:
        case ast.UnaryOp(ast.Not(), operand):
            known = truth(operand)
            return None if known is None else not known
        case ast.BoolOp(op, values):
            parts, deciding = [truth(value) for value in values], isinstance(op, ast.Or)
            return deciding if deciding in parts else None if None in parts else not deciding
        case ast.IfExp(test, body, orelse) if (known := truth(test)) is not None:
            return truth(body if known else orelse)
        case ast.Lambda() | ast.GeneratorExp() | ast.Tuple(elts=[_, *_]) | ast.List(elts=[_, *_]):
            return True
        case ast.Call() if ast.unparse(node) in ("dict()", "list()", "set()", "tuple()", "range(0)"):
            return False
    try:
        return bool(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return None


def calls_in(node: ast.AST) -> Iterator[ast.Call]:
    """Outermost first; what a lambda would call is not called here."""
    if isinstance(node, ast.Call):
        yield node
    for child in () if isinstance(node, ast.Lambda) else ast.iter_child_nodes(node):
        yield from calls_in(child)
