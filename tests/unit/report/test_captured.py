"""Tracebacks in what was captured: told as those of failures are."""

from typing import Any

import pytest

from pytest_mcp.report import failures, rendering
from pytest_mcp.report.example_style import ExampleStyle
from tests.support.invented.records import ledger, raised

NODE = "tests/test_cart.py::test_total"
TEST = ("tests/test_cart.py:7", "test_total", "assert total(cart) == 3")
SOURCE = ("src/shop/cart.py:12", "total", "return sum(cart)")

LOGGED = """\
ERROR    app:app.py:875 Exception on /items/7 [GET]
Traceback (most recent call last):
  File "/project/.venv/lib/python3.12/site-packages/flask/app.py", line 1511, in wsgi_app
    response = self.full_dispatch_request()
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "/project/.venv/lib/python3.12/site-packages/flask/app.py", line 902, in dispatch_request
    return self.ensure_sync()
  File "/project/src/shop/cart.py", line 12, in total
    return sum(cart)
           ^^^^^^^^^
KeyError: 7
INFO     app:app.py:9 done"""


def captured(
    text: str, cause: str = "AssertionError: assert 500 == 404", *frames: Any, root: str = "/project"
) -> list[str]:
    told = raised(cause, *(frames or (TEST,)), node_id=NODE, sections=[["Captured log call", text]])
    (record,) = ledger(told).completed
    lines = rendering.render(failures.failure_of(record, root), ExampleStyle(captured=2000)).split("\n")
    return lines[lines.index("Captured log call:") + 1 :]


def test_a_traceback_in_the_log_is_told_like_any_other() -> None:
    assert captured(LOGGED) == [
        "ERROR    app:app.py:875 Exception on /items/7 [GET]",
        "Traceback (most recent call last):",
        "... 2 frames in site-packages/flask",
        "src/shop/cart.py:12: in total",
        "    return sum(cart)",
        "KeyError: 7",
        "INFO     app:app.py:9 done",
    ]


def test_a_path_outside_the_root_stays_absolute() -> None:
    assert "/project/src/shop/cart.py:12: in total" in captured(LOGGED, root="/pro")


def test_a_traceback_in_the_log_that_is_the_one_of_the_failure_is_not_told_again() -> None:
    assert captured(LOGGED, "KeyError: 7", TEST, SOURCE) == [
        "ERROR    app:app.py:875 Exception on /items/7 [GET]",
        "[the traceback of KeyError is the one above]",
        "INFO     app:app.py:9 done",
    ]


def test_the_same_words_from_another_place_are_another_traceback() -> None:
    assert "KeyError: 7" in captured(LOGGED, "KeyError: 7", TEST, ("src/shop/cart.py:13", "total", "return 0"))


def test_another_way_to_the_same_place_is_another_traceback() -> None:
    by_cache = LOGGED.replace("line 902, in dispatch_request", "line 3, in by_cache").replace(
        '.venv/lib/python3.12/site-packages/flask/app.py", line 3', 'src/shop/cache.py", line 3'
    )
    by_network = ("src/shop/network.py:3", "by_network", "return self.ensure_sync()")

    assert "src/shop/cache.py:3: in by_cache" in captured(by_cache, "KeyError: 7", TEST, by_network, SOURCE)


SYNTAX_ERROR = """\
Traceback (most recent call last):
  File "app.py", line 3, in read
    exec(text)
  File "conf.cfg", line 1
    x = = 1
        ^
SyntaxError: invalid syntax"""
OTHER_LINES = "Traceback (most recent call last):\n  the vital information\nend"
CUT_OFF = LOGGED.partition("KeyError")[0].rstrip()


@pytest.mark.parametrize("text", ["Traceback (most recent call last):", CUT_OFF, SYNTAX_ERROR, OTHER_LINES])
def test_a_traceback_that_is_cut_off_or_has_other_lines_is_told_as_it_is(text: str) -> None:
    assert captured(text) == text.split("\n")


@pytest.mark.parametrize(
    ("printed", "is_left_out"),
    [("before\n│ pen  \n│ ink  \nafter", True), (repr("│ pen  \n│ ink  \n"), True), ("something else", False)],
)
def test_output_with_a_compared_text_is_left_out_since_its_differing_part_is_shown(
    printed: str, is_left_out: bool
) -> None:
    text = "AssertionError: assert 'x' == 'y'\n  line 2, character 6:\n  - '│ ink '\n  + '│ ink  '"
    told = raised(text, TEST, node_id=NODE, sections=[["Captured stdout call", printed]])
    (record,) = ledger(told).completed

    assert ("Captured" not in rendering.render(failures.failure_of(record), ExampleStyle())) == is_left_out
    assert "Captured" in rendering.render(failures.failure_of(record), ExampleStyle(captured=None))


def test_what_is_shown_of_a_long_stream_does_not_begin_with_empty_lines() -> None:
    assert captured("x" * 3000 + "\n\n\nthe last words") == ["[... 3 lines left out ...]", "the last words"]
