"""`--max-memory`: what a test that uses up its memory does to itself, and not to others."""

from typing import Any

import pytest

from tests.support.workbench import Failure, Workbench, call, succeeded

LIMIT = 128 * 1024**2
NAMED = "the operator allows each process of a run 128M (--max-memory)"
FILLING = """
import unittest
import pytest

def test_one_large_value():
    bytearray(10**11)

def test_after_it():
    assert len(bytearray(50_000_000))

@pytest.mark.parametrize("piece", [lambda n: bytes(1000), float, lambda n: bytes(10**6), str])
def test_until_nothing_is_left(piece):
    kept = []
    while True:
        kept.append(piece(len(kept)))

@pytest.fixture
def everything():
    return [bytes(500) for _ in iter(int, 1)]

def test_in_a_fixture(everything):
    pass

class TestOld(unittest.TestCase):
    def test_in_a_case(self):
        kept = []
        while True:
            kept.append(bytes(100))

def test_the_last_one():
    pass
"""
TOLD = """
import os, resource, subprocess, sys
ASK = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA)[0])"

def test_limits():
    own = resource.getrlimit(resource.RLIMIT_DATA)[0]
    below = subprocess.run([sys.executable, "-c", ASK], capture_output=True, check=True).stdout
    lines = open(f"/proc/{os.getppid()}/limits").read().splitlines()
    above = next(line for line in lines if line.startswith("Max data size")).split()[3]
    assert (own, int(below), above) == ({limit}, {limit}, "unlimited")
"""


async def limited(bench: Workbench, tool: str = "execute_tests", **arguments: Any) -> dict[str, Any] | Failure:
    return await call(tool, arguments, bench.config._replace(max_memory=LIMIT))


@pytest.mark.parametrize("workers", [None, 2])
async def test_a_test_that_fills_memory_fails_with_its_own_error_and_the_others_run(
    generation_bench: Workbench, workers: int | None
) -> None:
    generation_bench.write({"test_filling.py": FILLING})

    result = succeeded(await limited(generation_bench, workers=workers))

    summary = result["summary"]
    assert (summary["total"], summary["passed"], summary["failed"], summary["errors"]) == (9, 2, 6, 1)
    causes = [test["message"] for test in result["tests"] if test["outcome"] in ("failed", "error")]
    assert set(causes) == {"MemoryError"}
    assert f"7 failure(s) for lack of memory: {NAMED}." in result["notices"]


async def test_the_limit_is_that_of_the_child_and_of_what_it_starts_and_not_of_the_supervisor(bench: Workbench) -> None:
    bench.write({"test_told.py": TOLD.replace("{limit}", str(LIMIT))})

    explained = succeeded(await limited(bench, "explain_environment"))

    assert succeeded(await limited(bench))["verdict"] == "passed"
    assert explained["notices"] == ["Each process of a run may use 128M of memory (--max-memory)."]


async def test_without_the_setting_nothing_is_limited_or_said(bench: Workbench) -> None:
    bench.write(
        {"test_told.py": TOLD.replace("{limit}", "-1"), "test_error.py": "def test_error():\n    raise MemoryError\n"}
    )

    result = await bench.execute()

    assert (result["summary"]["passed"], result["summary"]["failed"]) == (1, 1)
    assert result["notices"] == []
    assert (await bench.explain())["notices"] == []


async def test_a_process_that_dies_of_it_is_a_crash_that_names_the_limit(bench: Workbench) -> None:
    source = (
        "import os\ndef test_a():\n    try:\n        bytearray(10**11)\n    except MemoryError:\n        os.abort()\n"
    )
    bench.write({"test_a.py": source})

    failure = await limited(bench)

    assert isinstance(failure, Failure)
    assert failure.data["error_type"] == "crash"
    assert failure.message.splitlines()[:2] == [
        "pytest subprocess terminated with signal SIGABRT",
        f"It may have needed more memory: {NAMED}.",
    ]


async def test_a_module_that_needs_more_cannot_be_collected_and_the_limit_is_named(bench: Workbench) -> None:
    bench.write({"test_a.py": "LARGE = bytearray(10**11)\n"})

    result = succeeded(await limited(bench))
    found = succeeded(await limited(bench, "discover_tests"))

    assert [error["error_type"] for error in result["collection_errors"]] == ["MemoryError"]
    for answer in (result, found):
        assert f"1 failure(s) for lack of memory: {NAMED}." in answer["notices"]
