"""Wording may change; that a sentence is there, and what it counts, may not."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_mcp.events.ledger import KEPT_WARNINGS
from pytest_mcp.events.model import Warned
from pytest_mcp.report.notices.warnings import MANY_WARNINGS, of_run
from tests.support.records import execution, green
from tests.support.workbench import Workbench

A = "test_a.py::a"
OTHER = Warned(message="old", category="UserWarning", when="runtest", filename="/project/a.py", lineno=3, id=A)
UNKNOWN_MARK = "Unknown pytest.mark.{} - is this a typo?  You can register custom marks to avoid this warning"
RAISED = "Exception in thread 1\n\nTraceback (most recent call last):\n  File\nValueError: boom\n\nEnable tracemalloc"


def warned(category: str, message: str = "x", **told: Any) -> Warned:
    return replace(OTHER, category=category, message=message, **told)


def sentences(*warnings: Warned, **asked: Any) -> list[str]:
    return of_run(execution([*warnings, *green(A)], **asked))


def test_unknown_marks_are_named_once_each_with_the_first_place() -> None:
    marks = ["slwo", "slwo", "gpu"]

    (sentence,) = sentences(*(warned("PytestUnknownMarkWarning", UNKNOWN_MARK.format(mark), id=None) for mark in marks))

    assert sentence.startswith("2 mark(s)")
    assert "('slwo', 'gpu')" in sentence
    assert "a.py:3" in sentence
    assert "/project" not in sentence


@pytest.mark.parametrize(
    ("category", "message", "shown"),
    [
        ("PytestCollectionWarning", "cannot collect test class 'TestX' because it has a __init__", "'TestX'"),
        ("PytestReturnNotNoneWarning", "Expected None, but a returned 5", "return a value"),
        ("PytestUnhandledCoroutineWarning", "async def functions are not natively supported", "async"),
        ("RuntimeWarning", "coroutine 'fetch' was never awaited", "'fetch'"),
        ("PytestUnhandledThreadExceptionWarning", RAISED, "'ValueError: boom'"),
        ("PytestUnraisableExceptionWarning", RAISED, "'ValueError: boom'"),
    ],
)
def test_warnings_that_a_green_run_may_hide_are_told_one_sentence_a_kind(
    category: str, message: str, shown: str
) -> None:
    (sentence,) = sentences(OTHER, warned(category, message), warned(category, message, id="test_b.py::b"))

    assert sentence.startswith("2 ")
    assert shown in sentence
    assert A in sentence


def test_other_warnings_are_counted_when_they_are_many_and_not_listed_anyway() -> None:
    assert sentences(*[OTHER] * (MANY_WARNINGS - 1)) == []
    assert sentences(*[OTHER] * MANY_WARNINGS, detail="full") == []
    assert sentences(*[warned("RuntimeWarning", "overflow encountered")] * 3) == []

    (many,) = sentences(*[OTHER] * (KEPT_WARNINGS + 7))

    assert many.startswith(str(KEPT_WARNINGS + 7))


# --- with real projects ------------------------------------------------------------------------


@pytest.mark.anyio
async def test_marks_and_classes_that_pytest_does_not_know_what_to_do_with_are_told_in_both_tools(
    every_bench: Workbench,
) -> None:
    source = """
    import pytest

    @pytest.mark.slwo
    def test_a(): pass

    class TestNever:
        def __init__(self): pass
        def test_never(self): assert 0
    """
    every_bench.write({"test_a.py": source})

    executed, discovered = await every_bench.execute(), await every_bench.discover()

    marks, classes = executed["notices"]
    assert (executed["verdict"], discovered["notices"]) == ("passed", executed["notices"])
    assert marks.startswith("1 mark(s)")
    assert "('slwo'); first at test_a.py:3" in marks
    assert "('TestNever')" in classes


@pytest.mark.anyio
async def test_exceptions_and_coroutines_that_failed_no_test_are_told(every_bench: Workbench) -> None:
    source = """
    import gc, threading

    def fail(): raise ValueError("in a thread")

    class Resource:
        def __del__(self): raise ValueError("in del")

    async def fetch(): assert 0

    def test_thread():
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    def test_del():
        Resource()
        gc.collect()

    def test_await():
        fetch()
        gc.collect()
    """
    every_bench.write({"test_a.py": source})

    answer = await every_bench.execute()

    coroutine, thread, unraisable = answer["notices"]
    assert answer["verdict"] == "passed"
    assert ("'fetch'" in coroutine, "test_await" in coroutine) == (True, True)
    assert ("'ValueError: in a thread'" in thread, "test_thread" in thread) == (True, True)
    assert ("'ValueError: in del'" in unraisable, "test_del" in unraisable) == (True, True)


@pytest.mark.anyio
async def test_an_async_test_that_nothing_runs_fails_or_is_told(every_bench: Workbench) -> None:
    """It fails from pytest 8.4 on; before, it was skipped with a warning."""
    every_bench.write({"test_a.py": "async def test_a(): assert 0\n"})

    answer = await every_bench.execute()

    told = [notice for notice in answer["notices"] if notice.startswith("1 async test(s)")]
    assert bool(told) == (answer["verdict"] != "failed")


@pytest.mark.anyio
async def test_a_test_that_returns_a_value_fails_or_is_told_as_soon_as_pytest_minds(every_bench: Workbench) -> None:
    """It is let pass before pytest 7.2 and a failure from 8.4 on; between them there is a warning."""
    every_bench.write({"test_a.py": "def test_a(): return 1 == 2\n"})

    answer = await every_bench.execute()

    warned_of = "PytestReturnNotNoneWarning" in answer["text_output"] and answer["verdict"] == "passed"
    assert [notice[:16] for notice in answer["notices"]] == ["1 test(s) return"] * warned_of


@pytest.mark.anyio
async def test_many_other_warnings_are_counted(every_bench: Workbench) -> None:
    source = "import warnings\ndef test_a():\n    for n in range(30): warnings.warn(f'old {n}')\n"
    every_bench.write({"test_a.py": source})

    answer = await every_bench.execute()
    full = await every_bench.execute(detail="full")

    assert answer["notices"] == ["30 warnings; detail full lists them."]
    assert (full["notices"], len(full["json_report"]["warnings"])) == ([], 30)
