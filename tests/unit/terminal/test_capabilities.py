"""What the output streams can show."""

import io
import os

import pytest

from pytest_mcp.terminal import capabilities


@pytest.mark.parametrize(
    ("environment", "capable", "asked", "colours"),
    [
        ({}, True, None, True),
        ({}, False, None, False),
        ({"NO_COLOR": "1"}, True, None, False),
        ({"NO_COLOR": ""}, True, None, True),
        ({"FORCE_COLOR": "1"}, False, None, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, None, False),
        ({"NO_COLOR": "1"}, False, True, True),
        ({"FORCE_COLOR": "1"}, True, False, False),
    ],
)
def test_what_is_typed_counts_most_then_what_forbids_then_what_forces(
    environment: dict[str, str], capable: bool, asked: bool | None, colours: bool
) -> None:
    assert capabilities.has_colours(environment, capable=capable, asked=asked) is colours


@pytest.mark.parametrize(("kind", "capable"), [("xterm-256color", True), ("dumb", False), ("", False), (None, False)])
def test_a_line_can_be_drawn_again_on_a_terminal_that_says_what_it_is(kind: str | None, capable: bool) -> None:
    master, slave = os.openpty()

    with os.fdopen(master), os.fdopen(slave, "w", encoding="utf-8") as stream:
        environment = {} if kind is None else {"TERM": kind}

        assert capabilities.is_capable(stream, environment) is capable
        # A new terminal has no size yet.
        assert capabilities.width(stream) == 80


def test_what_is_no_terminal_shows_text_alone_and_has_the_usual_width() -> None:
    stream = io.StringIO()

    assert not capabilities.is_capable(stream, {"TERM": "xterm"})
    assert capabilities.width(stream) == 80
    assert capabilities.is_in_foreground(stream)
