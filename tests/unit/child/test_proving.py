"""Mutants in forks, of a module made of everything that keeps old code alive.

A comment at the end of a line says what must become of every mutant of it.
"""

import re
from pathlib import Path
from typing import Any

from pytest_mcp.proof.mutants import mutants_of
from pytest_mcp.run.events import Event
from pytest_mcp.run.recordings import Tried
from tests.support.child import events_of

TRAPS = """\
    import functools
    import importlib
    import subprocess
    import sys

    REGISTRY = {}

    def register(function):
        REGISTRY[function.__name__] = function
        return function

    def doubled(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args) * 2  # killed
        return wrapper

    @register
    def registered(x):
        return x + 1  # killed

    @doubled
    def decorated(x):
        return x + 1  # killed

    alias = registered
    partial = functools.partial(lambda a, b: a - b, 5)  # killed untried
    first, second = (lambda x: x < 1), (lambda x: x < 2)  # untried

    def outer(k):
        def inner(x):
            y = k
            return x + y  # killed
        return inner

    held = outer(2)

    def losing(k):
        def inner(x):
            return x + k  # killed
        return inner

    loser = losing(3)

    class Thing:
        size = 4  # untried

        @property
        def area(self):
            return self.size * 2  # killed

        @staticmethod
        def static(x):
            return x - 1  # killed

        @classmethod
        def make(cls, x=7):  # untried
            return x - 1  # killed

        def method(self):
            self.value = 1  # killed
            return self

    bound = Thing().method

    @functools.lru_cache(None)
    def cached(n):
        return n * 2  # killed

    TABLE = [cached(1), cached(2)]  # untried
    cached(21)

    MEMO = {}

    def remembered(n):
        if n not in MEMO:  # killed
            MEMO[n] = n * 3  # killed untried
        return MEMO[n]  # killed

    remembered(1)

    def numbers():
        yield 1  # untried
        yield 2  # untried

    begun = numbers()
    next(begun)

    def counted(n):
        while n > 0:  # killed survived
            n -= 1  # killed
        return n == 0  # killed

    async def coroutine(x):
        return x + 1  # killed

    def reloaded():
        return 12  # killed

    def in_another_process():
        return 13  # unseen

    def run_elsewhere():
        code = "import traps; raise SystemExit(traps.in_another_process())"
        return subprocess.call([sys.executable, "-c", code]) - 0  # killed survived

    def weakly(x):
        return x > 5  # survived killed

    def never():
        return 1 + 1  # unseen

    class Empty(Exception):
        pass

    def raising(x):
        if x is None:  # killed
            raise Empty("nothing")  # killed
        return x  # survived
"""
TESTS = """\
    import asyncio
    import importlib
    import pytest
    import traps

    def test_registry(): assert traps.REGISTRY["registered"](1) == 2 and traps.alias(1) == 2
    def test_decorated(): assert traps.decorated(1) == 4
    def test_partial(): assert traps.partial(2) == 3
    def test_lambdas(): assert traps.first(1) is False and traps.second(1) is True
    def test_held(): assert traps.held(1) == 3
    def test_loser(): assert traps.loser(1) == 4
    def test_area(): assert traps.Thing().area == 8
    def test_static(): assert traps.Thing.static(1) == 0
    def test_make(): assert traps.Thing.make() == 6
    def test_bound(): assert traps.bound().value == 1
    def test_cached(): assert traps.cached(21) == 42
    def test_remembered(): assert traps.remembered(1) == 3 and traps.remembered(2) == 6
    def test_begun(): assert list(traps.begun) == [2]
    def test_counted(): assert traps.counted(3)
    def test_coroutine(): assert asyncio.run(traps.coroutine(1)) == 2
    def test_reloaded():
        assert importlib.reload(traps).reloaded() == 12
    def test_elsewhere(): assert traps.run_elsewhere() == 13
    def test_weakly(): assert traps.weakly(10)
    def test_raising():
        traps.raising(0)
        with pytest.raises(traps.Empty): traps.raising(None)
"""


def proof(source: str, path: str = "traps.py") -> tuple[list[Any], dict[str, Any]]:
    """All mutants of a file, and the job that tries them."""
    lines = range(1, source.count("\n") + 2)
    mutants = mutants_of(path, source, lines)
    job = [each.job(place) for place, each in enumerate(mutants)]
    known = {"lines": {path: f"1-{len(lines)}"}, "mutants": job, "most": 500, "first": []}
    return mutants, {**known, "seconds": 300.0, "times": 300.0, "limits": None}


def dedented(source: str) -> str:
    return re.sub(r"^    ", "", source, flags=re.MULTILINE)


def tried(events: list[Event]) -> dict[int, Tried]:
    return {each.number: each for each in events if isinstance(each, Tried)}


def test_no_mutant_is_judged_wrongly_in_a_module_made_of_traps(tmp_path: Path) -> None:
    source = dedented(TRAPS)
    mutants, job = proof(source)

    found = tried(events_of(tmp_path / "project", {"traps.py": TRAPS, "tests/test_traps.py": TESTS}, proof=job))

    rows = source.split("\n")
    wrong = [
        (rows[mutant.line - 1], mutant.after, found[place].outcome, found[place].why)
        for place, mutant in enumerate(mutants)
        if "# " in rows[mutant.line - 1]
        and found[place].outcome not in rows[mutant.line - 1].partition("# ")[2].split()
    ]
    assert wrong == []
