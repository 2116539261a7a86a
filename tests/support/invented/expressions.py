"""Pieces of marker and keyword expressions, and what pytest and we say of the whole."""

from _pytest.mark.expression import Expression

from pytest_mcp import text
from pytest_mcp.api.expressions import ExpressionError, checked

NAMES = ["a", "test_x", "not_", "True", "None", "x::y", "p[1-b]", "a.b", "a\\b", "+", "日本", "ª", "__debug__", "if"]
VALUES = ["1", "-1", "007", "²", "٣", "-٣", "-", "True", "None", "'s'", '"s t"', "''", "'\\'", "1.5", "word", "Ⅷ"]
GLUE = ["and", "or", "not", "(", ")", "=", ",", " ", "\t", "'", '"', "!", "$", "\n", "\x00", "\u200b", "\u3000"]
PIECES = [*NAMES, *VALUES, *GLUE]


def pytest_takes(expression: str) -> bool:
    try:
        Expression.compile(expression)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def we_take(expression: str, *, arguments: bool = True) -> bool:
    try:
        checked(expression, arguments=arguments)
    except ExpressionError:
        return False
    return True


def is_ours_to_refuse(expression: str) -> bool:
    """Blank, or with characters nobody sees, or the one word that argparse takes out of every option's value."""
    return (
        not expression.strip(" \t") or text.safe(expression) != expression or "\n" in expression or expression == "--"
    )
