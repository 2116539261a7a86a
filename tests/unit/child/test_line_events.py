"""`child/line_events.py` against the standard library's own `trace`, on every Python that this machine has."""

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from tests.support.child import ours
from tests.support.child_scripts import VERSIONS, printed

line_events = ours("line_events")

SAMPLE = """
import contextlib, threading

def one_line(): return 1

def branches(n):
    total = 0
    for i in range(n):
        if i == 1:
            continue
        try:
            total += 10 // (i - 2)
        except ZeroDivisionError:
            total -= 1
        else:
            total += 1
    else:
        total += 5
    while total > 100:
        total -= 1
    return (
        total +
        n
    )

def generator():
    yield 1
    with contextlib.suppress(ValueError):
        yield 2
        raise ValueError
    never = [
        x for x in (1, 2)
        if x
    ]
    yield 3

class Thing:
    attribute = 1
    def __init__(self): self.x = lambda: 3
    @property
    def value(self):
        def inner():
            return self.x()
        return inner()
    def unused(self):
        return 4

def main():
    one_line()
    branches(4)
    branches(4)
    list(generator())
    for _ in range(3):
        Thing().value
    thread = threading.Thread(target=branches, args=(2,))
    thread.start()
    thread.join()
"""
# Prints the lines that each of three rounds records, and those that `trace` counts.
SCRIPT = """
import json, sys, trace
import line_events, sample
recorder = line_events.recorder(lambda name: name == sample.__file__, ())
rounds = []
for _ in range(3):
    recorder.take()
    assert recorder.resume()
    sample.main()
    recorder.pause()
    rounds.append(sorted({line for entry in recorder.take().values() for line in entry.lines}))
oracle = trace.Trace(trace=0, count=1)
oracle.runfunc(sample.main)
counted = sorted({line for file, line in oracle.results().counts if file == sample.__file__})
print(json.dumps([type(recorder).__name__, rounds, counted]))
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_the_recorded_lines_are_those_that_the_standard_library_counts(version: str, tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(SAMPLE, encoding="utf-8")

    how, rounds, counted = printed(version, SCRIPT, tmp_path)

    assert how == ("TraceFunction" if tuple(map(int, version.split("."))) < (3, 12) else "Monitoring")
    assert rounds == [counted] * 3


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[[str], dict[str, Any]]:
    def run(source: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compile(source, str(tmp_path / "code.py"), "exec"), names)
        return names

    return run


@pytest.fixture
def untraced() -> Iterator[None]:
    """Whatever traces this suite gets its trace function back."""
    before = sys.gettrace()
    sys.settrace(None)
    yield
    sys.settrace(before)


def tracer(tmp_path: Path, quiet: tuple[CodeType, ...] = ()) -> Any:
    return line_events.TraceFunction(lambda name: name == str(tmp_path / "code.py"), quiet)


def lines_of(recorder: Any) -> list[int]:
    return sorted(line for entry in recorder.take().values() for line in entry.lines)


@pytest.mark.usefixtures("untraced")
def test_nothing_is_recorded_while_a_failed_assertion_is_explained(
    tmp_path: Path, compiled: Callable[..., Any]
) -> None:
    """What runs afterwards is: a test may catch the failure, and try again until there is none."""
    names = compiled(
        "def show(value):\n    return repr(value)\nclass A:\n    def __repr__(self):\n        return 'A'\n"
    )
    recorder = tracer(tmp_path, (names["show"].__code__,))

    recorder.resume()
    names["show"](names["A"]())
    without = len(recorder.lines)
    repr(names["A"]())
    recorder.pause()

    assert (without, lines_of(recorder)) == (0, [5])


@pytest.mark.usefixtures("untraced")
def test_the_trace_function_of_somebody_else_stays_and_is_not_replaced(
    tmp_path: Path, compiled: Callable[..., Any]
) -> None:
    names = compiled("def f():\n    return 1\n")
    recorder, theirs = tracer(tmp_path), lambda *_: None

    sys.settrace(theirs)
    could = recorder.resume()
    names["f"]()
    recorder.pause()

    assert (could, sys.gettrace(), lines_of(recorder)) == (False, theirs, [])


@pytest.mark.usefixtures("untraced")
def test_code_that_replaces_the_trace_function_loses_its_trace_and_keeps_its_function(
    tmp_path: Path, compiled: Callable[..., Any]
) -> None:
    names = compiled("import sys\ndef f(theirs):\n    sys.settrace(theirs)\n    g()\ndef g():\n    pass\n")
    recorder, theirs = tracer(tmp_path), lambda *_: None

    recorder.resume()
    names["f"](theirs)
    is_whole = recorder.pause()

    assert (is_whole, sys.gettrace(), threading.gettrace(), lines_of(recorder)) == (False, theirs, None, [3, 4])


@pytest.mark.usefixtures("untraced")
def test_an_exception_leaves_traced_code_unchanged(tmp_path: Path, compiled: Callable[..., Any]) -> None:
    names = compiled("def f(n):\n    if n:\n        return f(n - 1)\n    raise KeyError(n)\n    return 1\n")
    recorder = tracer(tmp_path)

    recorder.resume()
    with pytest.raises(KeyError) as caught:
        names["f"](3)
    recorder.pause()

    assert (caught.value.args, len(caught.traceback), lines_of(recorder)) == ((0,), 5, [2, 3, 4])
