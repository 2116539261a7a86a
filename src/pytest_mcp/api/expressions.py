"""The grammar of pytest's `-k` and `-m`, so that a bad expression is refused before anything starts.

    expression: or_expr EOF
    or_expr:    and_expr ("or" and_expr)*
    and_expr:   not_expr ("and" not_expr)*
    not_expr:   "not" not_expr | "(" or_expr ")" | name [ "(" argument ("," argument)* ")" ]
    argument:   name "=" (string | integer | True | False | None)

Deep and long expressions that pytest accepts but then fails on (its own parser recurses, and so does Python's
compiler) are refused by limits. Only `-m` takes arguments, from pytest 8.3 on.
"""

import keyword
import re
from collections.abc import Iterator
from typing import NamedTuple

from pytest_mcp import text

MAX_LENGTH = 4096
MAX_DEPTH = 50
MAX_TERMS = 200
# Python refuses to read longer integers from text (its guard against quadratic time).
MAX_DIGITS = 100

_TOKEN = re.compile(r"[ \t]*+([\w:+\-.\[\]\\/]++|[()]|\Z)")
_VALUE = rf"""'[^'\\]*+'|"[^"\\]*+"|(?:True|False|None|-?\d{{1,{MAX_DIGITS}}})(?=[ \t,)])"""
_ARGUMENT = re.compile(rf"[ \t]*+[(,][ \t]*+(\w++)[ \t]*+=[ \t]*+(?:{_VALUE})[ \t]*+(?=[,)])")
_END = "end of expression"


class ExpressionError(ValueError):
    """pytest would not accept the expression; `column` is 1-based."""

    def __init__(self, column: int, why: str) -> None:
        super().__init__(f"at column {column}: {why}")
        self.column = column


class _Token(NamedTuple):
    kind: str
    value: str
    column: int

    def unlike(self, expected: str) -> ExpressionError:
        return ExpressionError(
            self.column, f"expected {expected}; got {'the name ' * (self.kind == 'name')}{self.value}"
        )


def checked(expression: str, *, arguments: bool) -> str:
    """The expression; raises ExpressionError unless pytest's parser accepts it. One pass without recursion."""
    _check_text(expression)
    # `enclosing` holds, for every open parenthesis, how many `not` stand before it.
    want_operand, enclosing, negations, terms = True, list[int](), 0, 0
    for token in _tokens(expression, arguments=arguments):
        match want_operand, token.kind:
            case True, "not":
                negations += 1
            case True, "(":
                enclosing.append(negations)
                negations = 0
            case True, "name":
                terms += 1
                want_operand = False
            case False, "and" | "or":
                want_operand, negations = True, 0
            case False, ")" if enclosing:
                negations = enclosing.pop()
            case False, "end" if not enclosing:
                pass
            case _:
                raise token.unlike("not, ( or a name" if want_operand else f"and, or{' or )' if enclosing else ''}")
        _check_size(token.column, len(enclosing) + sum(enclosing) + negations, terms)
    return expression


def _check_size(column: int, depth: int, terms: int) -> None:
    if depth > MAX_DEPTH:
        raise ExpressionError(column, f"nested deeper than {MAX_DEPTH}")
    if terms > MAX_TERMS:
        raise ExpressionError(column, f"more than {MAX_TERMS} names")


def _check_text(expression: str) -> None:
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(MAX_LENGTH + 1, f"longer than {MAX_LENGTH} characters")
    if not text.is_plain(expression.replace("\t", " ")):
        raise ExpressionError(1, "control characters and invisible characters are not allowed")
    if not expression.strip():
        raise ExpressionError(1, "is blank; leave the parameter out to select everything")
    if expression == "--":
        # argparse takes this value for its own separator, even joined to an option with =.
        raise ExpressionError(1, "-- is not a valid name")


def names(expression: str) -> list[str]:
    """The names in an expression that was checked, without those of arguments."""
    return [token.value for token in _tokens(expression, arguments=True) if token.kind == "name"]


def _tokens(expression: str, *, arguments: bool) -> Iterator[_Token]:
    """Operators, parentheses, names and the end. The arguments of a name are checked here, and are no token."""
    position, word = 0, "("
    while word:
        match = _TOKEN.match(expression, position)
        if match is None:
            at = len(expression) - len(expression[position:].lstrip(" \t"))
            raise ExpressionError(at + 1, f"unexpected character {expression[at]!r}; join names with and, or, not")
        word, position = match[1], match.end()
        is_name = word not in ("and", "or", "not", "(", ")", "")
        yield _Token("name" if is_name else word or "end", word or _END, match.start(1) + 1)
        if arguments and is_name and expression[position:].lstrip(" \t").startswith("("):
            position = _end_of_arguments(expression, position)


def _end_of_arguments(expression: str, position: int) -> int:
    taken = {"__debug__"}  # the one identifier that cannot be assigned in Python
    while match := _ARGUMENT.match(expression, position):
        name, position = match[1], match.end()
        if not name.isidentifier() or keyword.iskeyword(name) or name in taken:
            raise ExpressionError(match.start(1) + 1, f"{name} cannot be the name of an argument here")
        taken.add(name)
        if expression[position] == ")":
            return position + 1
    values = "a quoted string without backslashes, an integer, True, False or None"
    raise ExpressionError(position + 1, f"expected name=value, where a value is {values}, then , or )")
