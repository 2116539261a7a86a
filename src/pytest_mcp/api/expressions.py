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
from dataclasses import dataclass

from pytest_mcp import text

MAX_LENGTH = 4096
MAX_DEPTH = 50
MAX_TERMS = 200
# Python refuses to read longer integers from text (its guard against quadratic time).
MAX_DIGITS = 100

_WORD = re.compile(r"(?::?\w|:|\+|-|\.|\[|\]|\\|/)+")
_INTEGER = re.compile(r"-?(\d+)")
_OPERATORS = frozenset({"and", "or", "not"})
_CONSTANTS = frozenset({"True", "False", "None"})
_END = "end of expression"


class ExpressionError(ValueError):
    """pytest would not accept the expression; `column` is 1-based."""

    def __init__(self, column: int, why: str) -> None:
        super().__init__(f"at column {column}: {why}")
        self.column = column


@dataclass(frozen=True)
class _Token:
    kind: str
    value: str
    column: int

    @property
    def shown(self) -> str:
        return f"the name {self.value}" if self.kind == "name" else self.kind


def check(expression: str, *, arguments: bool) -> None:
    """Raise ExpressionError unless pytest's parser accepts this expression.

    One pass without recursion. `want_operand` tells which half of the grammar we are in; `enclosing`
    holds, for every open parenthesis, how many `not` stand before it.
    """
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(MAX_LENGTH + 1, f"longer than {MAX_LENGTH} characters")
    if not text.is_plain(expression.replace("\t", " ")):
        raise ExpressionError(1, "control characters and invisible characters are not allowed")
    if expression == "--":
        # argparse takes this value for its own separator, even joined to an option with =.
        raise ExpressionError(1, "-- is not a valid name")
    tokens = _tokens(expression)
    token = previous = next(tokens)
    if token.kind == _END:
        raise ExpressionError(1, "is blank; leave the parameter out to select everything")
    want_operand, enclosing, negations, terms = True, list[int](), 0, 0
    while want_operand or enclosing or token.kind != _END:
        if want_operand:
            if token.kind == "not":
                negations += 1
            elif token.kind == "(":
                enclosing.append(negations)
                negations = 0
            elif token.kind == "name":
                terms += 1
                want_operand = False
            else:
                raise ExpressionError(token.column, f"expected not, ( or a name; got {token.shown}")
        elif token.kind == "(" and previous.kind == "name" and arguments:
            token = _end_of_arguments(tokens)
        elif token.kind in ("and", "or"):
            want_operand, negations = True, 0
        elif token.kind == ")" and enclosing:
            negations = enclosing.pop()
        else:
            raise ExpressionError(token.column, f"expected and, or{' or )' if enclosing else ''}; got {token.shown}")
        if len(enclosing) + sum(enclosing) + negations > MAX_DEPTH:
            raise ExpressionError(token.column, f"nested deeper than {MAX_DEPTH}")
        if terms > MAX_TERMS:
            raise ExpressionError(token.column, f"more than {MAX_TERMS} names")
        previous, token = token, next(tokens)


def names(expression: str) -> list[str]:
    """The names in an expression that was checked, without those of arguments."""
    found: list[str] = []
    previous, in_arguments = "", False
    for token in _tokens(expression):
        if token.kind in ("(", ")"):
            in_arguments = token.kind == "(" and previous == "name"
        elif token.kind == "name" and not in_arguments:
            found.append(token.value)
        previous = token.kind
    return found


def _end_of_arguments(tokens: Iterator[_Token]) -> _Token:
    """Read `name=value, …)` and return the closing parenthesis."""
    taken = {"__debug__"}  # the one identifier that cannot be assigned in Python
    while True:
        name = next(tokens)
        if name.kind != "name":
            raise ExpressionError(name.column, f"expected the name of an argument; got {name.kind}")
        if not name.value.isidentifier() or keyword.iskeyword(name.value) or name.value in taken:
            raise ExpressionError(name.column, f"{name.value} cannot be the name of an argument here")
        taken.add(name.value)
        equal = next(tokens)
        if equal.kind != "=":
            raise ExpressionError(equal.column, f"expected =; got {equal.kind}")
        _check_value(next(tokens))
        separator = next(tokens)
        if separator.kind == ")":
            return separator
        if separator.kind != ",":
            raise ExpressionError(separator.column, f"expected , or ); got {separator.kind}")


def _check_value(token: _Token) -> None:
    if token.kind == "string":
        return
    number = _INTEGER.fullmatch(token.value)
    if token.kind == "name" and (token.value in _CONSTANTS or (number and len(number.group(1)) <= MAX_DIGITS)):
        return
    raise ExpressionError(token.column, "a value is a quoted string, an integer, True, False or None")


def _tokens(expression: str) -> Iterator[_Token]:
    position = 0
    while position < len(expression):
        character, column = expression[position], position + 1
        if character in " \t":
            position += 1
        elif character in "()=,":
            yield _Token(character, character, column)
            position += 1
        elif character in "'\"":
            end = expression.find(character, position + 1)
            if end < 0:
                raise ExpressionError(column, f"the closing {character} is missing")
            if "\\" in expression[position:end]:
                raise ExpressionError(column, "a quoted string cannot contain a backslash")
            yield _Token("string", expression[position : end + 1], column)
            position = end + 1
        else:
            match = _WORD.match(expression, position)
            if match is None:
                raise ExpressionError(column, f"unexpected character {character!r}; join names with and, or, not")
            word = match.group()
            yield _Token(word if word in _OPERATORS else "name", word, column)
            position = match.end()
    yield _Token(_END, "", len(expression) + 1)
