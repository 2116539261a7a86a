"""What is said where each process of a run may use only so much memory."""

from dataclasses import replace

import pytest

from pytest_mcp.report.notices import memory
from pytest_mcp.run.events import InternalFault
from tests.support.invented.records import execution, one_test, phase, session, uncollected

LIMIT = 512 * 1024**2
NAMED = "the operator allows each process of a run 512M (--max-memory)"


@pytest.mark.parametrize(
    "message",
    [
        "MemoryError",
        "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.28 TiB for an array",
        "OSError: [Errno 12] Cannot allocate memory",
        "RuntimeError: can't start new thread",
    ],
)
def test_failures_for_lack_of_memory_are_counted_with_the_limit(message: str) -> None:
    failed = one_test("test_a.py::test_one", phase(message=message))
    run = execution(session(failed, one_test("test_a.py::test_two", phase(message="ValueError: no")), selected=2))

    assert memory.of_run(replace(run, max_memory=LIMIT)) == [f"1 failure(s) for lack of memory: {NAMED}."]
    assert memory.of_run(run) == []


def test_an_exception_that_followed_from_it_counts_and_a_file_that_could_not_be_imported_too() -> None:
    chain = [["cause", None, ["MemoryError"], []], [None, None, ["ValueError: no image"], []]]
    failed = one_test("test_a.py::test_one", phase(message="ValueError: no image", chain=chain))
    run = execution([uncollected(error_type="MemoryError"), *session(failed, selected=1)])

    assert memory.of_run(replace(run, max_memory=LIMIT)) == [f"2 failure(s) for lack of memory: {NAMED}."]


def test_the_end_of_a_process_is_explained_only_where_memory_can_be_the_cause() -> None:
    run = replace(execution([], code=None), max_memory=LIMIT)
    ends = {
        "signal": replace(run, exit=replace(run.exit, signal="SIGSEGV")),
        "words": replace(run, exit=replace(run.exit, stderr="terminate called after throwing 'std::bad_alloc'")),
        "killed": replace(run, exit=replace(run.exit, signal="SIGKILL")),
        "exited": replace(run, exit=replace(run.exit, code=3)),
        "internal": replace(execution([InternalFault("MemoryError")]), max_memory=LIMIT),
    }

    told = {name for name, ended in ends.items() if memory.of_end(ended)}

    assert told == {"signal", "words", "internal"}
    assert memory.of_end(ends["signal"]) == [f"It may have needed more memory: {NAMED}."]
    assert memory.of_end(replace(ends["signal"], max_memory=None)) == []
