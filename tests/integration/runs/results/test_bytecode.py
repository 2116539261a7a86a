"""No code is run that is not in the files, and no cache is left that would make a plain pytest do so."""

import os
import time
from pathlib import Path

import pytest

from pytest_mcp.process.spare import Spare
from pytest_mcp.python import interpreter
from tests.support.runs.standby import execute
from tests.support.waiting import until
from tests.support.workbench import NEWEST, PYTESTS, Workbench

# Which number each file must hold stands in one that nobody caches.
PROJECT = {
    "lib.py": "NUMBER = 1\n",
    "conftest.py": """
        import pytest
        NUMBER = 1
        @pytest.fixture
        def number(): return NUMBER
    """,
    "test_numbers.py": """
        import pathlib
        import lib
        NUMBER = 1
        EXPECTED = int(pathlib.Path(__file__).with_name("expected").read_text())
        def test_module(): assert lib.NUMBER == EXPECTED
        def test_test_module(): assert NUMBER == EXPECTED
        def test_conftest(number): assert number == EXPECTED
    """,
}
SOURCES = tuple(PROJECT)
# One that keeps the time of a test module in its cache; later ones keep a hash.
TIMED = "pytest-8.4"
# The flags of a cache that is valid by time and size.
BY_TIME = bytes(4)


def edit(root: Path, number: int, moment: int) -> None:
    """The same size as before, and the same second, whatever the clock says."""
    for name in SOURCES:
        path = root / name
        before, text = path.stat(), path.read_text()
        path.write_text(text.replace(f"NUMBER = {3 - number}\n", f"NUMBER = {number}\n"))
        assert path.stat().st_size == before.st_size
        os.utime(path, (moment, moment))
    (root / "expected").write_text(str(number))


def caches(root: Path) -> dict[str, int]:
    """Each cache with the file that it is: one that is written again is another file."""
    return {path.name: path.stat().st_ino for path in root.rglob("__pycache__/*.pyc")}


def doubtful(root: Path) -> list[str]:
    """Caches that another edit within the second of the last one would make stale."""
    return [
        path.name
        for path in root.rglob("__pycache__/*.pyc")
        for source in [root / (path.name.partition(".")[0] + ".py")]
        if path.stat().st_mtime <= source.stat().st_ctime + 1 and path.read_bytes()[4:8] == BY_TIME
    ]


def is_settled(root: Path) -> bool:
    return all(time.time() > (root / name).stat().st_ctime + 3 for name in SOURCES)


@pytest.mark.parametrize("environment", PYTESTS)
async def test_two_edits_of_one_size_in_one_second_are_both_seen(bench: Workbench, environment: str) -> None:
    """The first call starts anew, the others in a child that was started ahead."""
    bench = bench.using(environment)
    bench.write(PROJECT)
    moment = int(time.time())

    async with (spare := Spare(wanted=True, fingerprint=interpreter.state)).kept():
        for number in (1, 2, 1):
            edit(bench.root, number, moment)
            result = await execute(bench, spare)
            assert (result.verdict, result.summary.passed) == ("passed", 3), result

    assert doubtful(bench.root) == []


# Code that the guard of the run's own imports does not see: of another interpreter, and outside the root.
UNGUARDED = """
    import subprocess, sys
    sys.path.insert(0, {folder!r})
    import outside
    def test_outside_the_root(): assert outside.NUMBER == 2
    def test_in_another_interpreter():
        done = subprocess.run([sys.executable, "-c", "import lib; print(lib.NUMBER)"], capture_output=True, text=True)
        assert done.stdout == "2\\n"
"""


async def test_an_edit_is_seen_in_other_interpreters_and_outside_the_root(bench: Workbench) -> None:
    folder = bench.root.parent / "outside"
    folder.mkdir()
    bench.write({"test_a.py": UNGUARDED.format(folder=str(folder))})
    moment = int(time.time())
    passed = []

    for number in (1, 2):
        for source in (bench.root / "lib.py", folder / "outside.py"):
            source.write_text(f"NUMBER = {number}\n")
            os.utime(source, (moment, moment))
        passed.append((await bench.execute())["summary"]["passed"])

    assert passed == [0, 2]


@pytest.mark.parametrize("workers", ["", "-n1"])
async def test_stale_caches_that_others_left_are_not_used_and_removed(bench: Workbench, workers: str) -> None:
    bench = bench.using(TIMED)
    bench.write({**PROJECT, "pytest.ini": f"[pytest]\naddopts = {workers}\n"})
    moment = int(time.time())
    edit(bench.root, 1, moment)
    bench.shell("-q", "-n0")
    edit(bench.root, 2, moment)
    assert bench.shell("-q", "-n0").returncode == 1, "no cache is stale"

    answer = await bench.execute()

    assert (answer["verdict"], answer["summary"]["passed"]) == ("passed", 3)
    assert doubtful(bench.root) == []
    assert bench.shell("-q", "-n0").returncode == 0


@pytest.mark.parametrize("environment", [TIMED, NEWEST])
async def test_sources_that_rest_are_cached_once_and_the_caches_are_used(bench: Workbench, environment: str) -> None:
    """Also by a discovery, which writes nothing else."""
    bench = bench.using(environment)
    bench.write({**PROJECT, "expected": "1"})
    await until(lambda: is_settled(bench.root))
    sources = set(bench.root.rglob("*"))

    await bench.discover()
    first = caches(bench.root)
    added = set(bench.root.rglob("*")) - sources
    await bench.execute()
    bench.shell("--collect-only", "-q")

    assert {name.partition(".")[0] + ".py" for name in first} == set(SOURCES)
    assert caches(bench.root) == first
    assert {path.name for path in added} == {"__pycache__", *first}
