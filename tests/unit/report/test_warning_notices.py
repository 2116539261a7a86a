"""Wording may change; that a sentence is there, and what it counts, may not."""

from typing import Any

import pytest

from pytest_mcp.report.warning_notices import MAX_CATEGORIES, SHOWN_MESSAGE, warning_notices
from pytest_mcp.run.events import Warned
from pytest_mcp.run.ledger import KEPT_WARNINGS
from tests.support.invented.records import discovery, execution, green
from tests.support.runs.shared_runs import Answers, on_each
from tests.support.workbench import Workbench

A = "test_a.py::a"
OTHER = Warned(message="old", category="UserWarning", when="runtest", filename="/project/a.py", lineno=3, id=A)
UNKNOWN_MARK = "Unknown pytest.mark.{} - is this a typo?  You can register custom marks to avoid this warning"
RAISED = "Exception in thread 1\n\nTraceback (most recent call last):\n  File\nValueError: boom\n\nEnable tracemalloc"


def warned(category: str, message: str = "x", **told: Any) -> Warned:
    return OTHER._replace(category=category, message=message, **told)


def sentences(*warnings: Warned, **asked: Any) -> list[str]:
    return warning_notices(execution([*warnings, *green(A)], **asked))


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
    (sentence,) = sentences(warned(category, message), warned(category, message, id="test_b.py::b"))

    assert sentence.startswith("2 ")
    assert shown in sentence
    assert A in sentence


def test_other_warnings_are_one_sentence_a_category_the_most_frequent_first() -> None:
    told = sentences(
        warned("RuntimeWarning", "overflow encountered"),
        warned("DeprecationWarning", "since 1.0\n  use  new()", lineno=7),
        warned("DeprecationWarning", "since 2.0\n  use  new()"),
        warned("DeprecationWarning", "gone soon"),
    )

    assert told == [
        "3 DeprecationWarning (2 different), first at a.py:7: 'since 1.0 use new()'",
        "1 RuntimeWarning, first at a.py:3: 'overflow encountered'",
    ]


def test_a_warning_from_outside_the_project_is_told_by_its_test_or_its_library() -> None:
    library = "/usr/lib/python3.12/json/decoder.py"

    assert sentences(OTHER._replace(filename=library)) == [f"1 UserWarning, first at {A}: 'old'"]
    assert sentences(OTHER._replace(filename=library, id=None)) == [
        "1 UserWarning, first at python3.12/json/decoder.py:3: 'old'"
    ]


def test_the_message_of_a_warning_is_cut_to_one_short_line() -> None:
    (sentence,) = sentences(OTHER._replace(message="long " * 100))

    assert sentence.endswith("...'")
    assert len(sentence.partition("a.py:3: ")[2]) == SHOWN_MESSAGE + len("''")


def test_warnings_of_further_categories_and_those_that_were_not_kept_are_counted() -> None:
    kinds = [warned(f"Kind{number}Warning") for number in range(MAX_CATEGORIES + 2)]

    *listed, more = sentences(*[OTHER] * KEPT_WARNINGS, *kinds[:4])
    *_, last = sentences(*kinds)

    assert listed == [f"{KEPT_WARNINGS} UserWarning, first at a.py:3: 'old'"]
    assert more == "4 more warning(s); detail full lists them."
    assert last == "2 more warning(s); detail full lists them."


def test_detail_full_lists_warnings_itself_but_a_discovery_never_does() -> None:
    assert sentences(OTHER, detail="full") == []
    assert warning_notices(discovery([OTHER], detail="full")) == ["1 UserWarning, first at a.py:3: 'old'"]


# --- with real projects ------------------------------------------------------------------------

FILES = {
    "test_marks.py": """
    import pytest

    @pytest.mark.slwo
    def test_a(): pass

    class TestNever:
        def __init__(self): pass
        def test_never(self): assert 0
    """,
    "test_raised.py": """
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
    """,
    "test_async.py": "async def test_a(): assert 0\n",
    "test_returns.py": "def test_a(): return 1 == 2\n",
}


async def run(bench: Workbench) -> Answers:
    bench.write(FILES)
    return {"execute": await bench.execute(), "discover": await bench.discover(), "shell": bench.shell().stdout}


answers = on_each(run)


def told(answers: Answers, text: str) -> list[str]:
    return [notice for notice in answers["execute"]["notices"] if text in notice]


def failed(answers: Answers) -> list[str]:
    return [test["node_id"] for test in answers["execute"]["tests"] if test["outcome"] == "failed"]


def test_marks_and_classes_that_pytest_does_not_know_what_to_do_with_are_told_in_both_tools(answers: Answers) -> None:
    (marks,), (classes,) = told(answers, "mark(s)"), told(answers, "('TestNever')")

    assert answers["discover"]["notices"] == [marks, classes]
    assert marks.startswith("1 mark(s)")
    assert "('slwo'); first at test_marks.py:3" in marks


def test_exceptions_and_coroutines_that_failed_no_test_are_told(answers: Answers) -> None:
    (coroutine,) = told(answers, "'fetch'")
    (thread,) = told(answers, "'ValueError: in a thread'")
    (unraisable,) = told(answers, "'ValueError: in del'")

    assert "test_await" in coroutine
    assert "test_thread" in thread
    assert "test_del" in unraisable
    assert not [node_id for node_id in failed(answers) if node_id.startswith("test_raised.py")]


def test_an_async_test_that_nothing_runs_fails_or_is_told(answers: Answers) -> None:
    """It fails from pytest 8.4 on; before, it was skipped with a warning."""
    assert len(told(answers, "1 async test(s)")) == ("test_async.py::test_a" not in failed(answers))


def test_a_test_that_returns_a_value_fails_or_is_told_as_soon_as_pytest_minds(answers: Answers) -> None:
    """It is let pass before pytest 7.2 and a failure from 8.4 on; between them there is a warning."""
    is_warned_of = "PytestReturnNotNoneWarning" in answers["shell"] and "test_returns.py::test_a" not in failed(answers)

    assert len(told(answers, "1 test(s) return")) == is_warned_of


async def test_other_warnings_are_told_instead_of_what_pytest_prints_of_them(bench: Workbench) -> None:
    source = "import warnings\ndef test_a():\n    for n in range(30): warnings.warn(f'old {n}')\n"
    bench.write({"test_a.py": source})

    answer = await bench.execute()
    full = await bench.execute(detail="full")

    assert (answer["notices"], answer["text_output"]) == (["30 UserWarning, first at test_a.py:3: 'old 0'"], "")
    assert (full["notices"], len(full["json_report"]["warnings"])) == ([], 30)
