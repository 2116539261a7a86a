"""`child/outputs.py`: what failed processes printed and servers answered, read from an exception and nothing else."""

import subprocess
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.child import ours

outputs = ours("outputs")


def failed(output: Any, stderr: Any = None) -> subprocess.CalledProcessError:
    return subprocess.CalledProcessError(1, "program", output, stderr)


class Refused(Exception):
    def __init__(self, response: object) -> None:
        self.response = response


class Unread:
    """A response whose body would have to be fetched."""

    @property
    def _content(self) -> bytes:
        raise AssertionError("it was read")


class Hostile(Exception):
    @property
    def response(self) -> object:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (None, []),
        (failed("one\n\ntwo\n", b"gr\xff\xc3\xbcn"), ["stdout| one", "stdout| two", "stderr| gr\\xffün"]),
        (failed("x" * 1000), [f"stdout| {'x' * outputs.MAX_LINE}"]),
        (failed(7, ["no text"]), []),
        (Refused(SimpleNamespace(_content=b"no pen")), ["response| no pen"]),
        (Refused(Unread()), []),
        (Refused(None), []),
        (Hostile(), []),
    ],
    ids=["none", "both", "long", "no text", "response", "not yet read", "no response", "hostile"],
)
def test_what_an_exception_carries_is_told_in_lines_and_nothing_is_fetched(
    error: BaseException | None, lines: list[str]
) -> None:
    assert outputs.output_lines(error) == lines


def test_of_many_lines_the_last_are_told_and_the_others_counted() -> None:
    first, *lines = outputs.output_lines(failed("".join(f"line {number}\n" for number in range(20))))

    assert first == "stdout| [12 more lines above]"
    assert lines == [f"stdout| line {number}" for number in range(12, 20)]


@pytest.mark.parametrize("link", ["__cause__", "__context__"])
def test_exceptions_that_it_was_raised_from_are_asked_too_and_a_circle_ends(link: str) -> None:
    error, cause = ValueError("late"), failed("early")
    setattr(error, link, cause)
    told = outputs.output_lines(error)
    setattr(cause, link, error)

    assert told == ["stdout| early"]
    assert len(outputs.output_lines(error)) == outputs.MAX_CHAIN / 2
