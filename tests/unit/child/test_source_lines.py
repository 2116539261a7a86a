"""What was really raised where pytest wraps it into an error of its own."""

from importlib import import_module

import pytest

source_lines = import_module("pytest_mcp.child.source_lines")


def test_an_exception_of_the_project_is_itself_whatever_it_was_raised_from() -> None:
    error = RuntimeError("config invalid")
    error.__cause__ = ValueError("port")

    assert source_lines.broken_conftest(error) == (None, error)


def test_an_error_of_pytest_stands_for_what_it_was_raised_from() -> None:
    error, cause = pytest.Collector.CollectError("cannot import"), ValueError("port")
    assert source_lines.broken_conftest(error) == (None, error)

    error.__cause__ = cause
    assert source_lines.broken_conftest(error) == (None, cause)


def test_a_syntax_error_that_no_parser_raised_is_where_it_was_raised() -> None:
    with pytest.raises(SyntaxError) as raised:
        raise SyntaxError("bad")
    raised.value.filename = 5  # type: ignore[assignment]

    assert source_lines.line_of(raised.value, __file__) == raised.traceback[0].lineno + 1
