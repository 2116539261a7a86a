"""`investigation/suspects.py` and `child/line_tracing.py`, through real runs of a project with a planted bug."""

import pytest

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.changed.working_tree import Lines
from pytest_mcp.investigation.repetitions import run_once
from pytest_mcp.investigation.result import Suspect
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.investigation.suspects import LinesChanged, Suspected, find_suspects, suspects_of, traced
from pytest_mcp.process.job import Trace
from pytest_mcp.python import interpreter
from pytest_mcp.run.attempt import Deadline
from pytest_mcp.run.run import Run
from tests.support.waiting import PATIENCE
from tests.support.workbench import NEWEST, Workbench

# The bug is in line 11: a rate of 1 is no discount.
SHOP = """
def total(items):
    result = 0
    for item in items:
        result += item
    return result

def checked(rate):
    return min(rate, 1)

def discounted(price, rate):
    if checked(rate) > 1:
        return 0
    return price * rate

class Cart:
    def __init__(self, *items): self.items = items
    def __repr__(self): return "Cart(%s)" % ", ".join(map(str, self.items))
    def __eq__(self, other): return self.items == other.items
    def price(self, rate):
        return discounted(total(self.items), rate)
"""
TESTS = """
    import pytest, shop

    @pytest.fixture(scope="module")
    def cart():
        return shop.Cart(1, 2)

    def test_total(): assert shop.total([1, 2]) == 3
    def test_checked(): assert shop.checked(2) == 1
    def test_carts(cart): assert cart == shop.Cart(1, 2)
    def test_items(cart): assert cart.items == (1, 2)
    def test_price(): assert shop.Cart(4).price(2) == 0
    def test_other_price(): assert shop.Cart(4, 4).price(3) == 0
    def test_other_carts(cart): assert cart == shop.Cart(3)
"""


async def runner_of(bench: Workbench) -> Runner:
    chosen, *_ = [candidate async for candidate in interpreter.candidates(bench.config, bench.root)]
    return Runner(bench.config, chosen, Deadline.after(PATIENCE))


async def suspected(bench: Workbench, node_id: str, since_base: LinesChanged | None = None) -> Suspected:
    runner = await runner_of(bench)
    seen = await run_once(runner, node_id)
    return await find_suspects(runner, node_id, seen, everything=True, since_base=since_base)


def suspect(file: str, line: int, function: str, score: float) -> Suspect:
    return Suspect(file=file, line=line, function=function, score=score)


def lines_of(run: Run[ExecuteTests]) -> dict[str, dict[str, str]]:
    """For each test the functions of the source, with the ranges of their lines."""
    return {name: dict(event.code.get("shop.py", [])) for name, event in run.ledger.executed.items()}


async def test_a_planted_bug_is_the_first_suspect_by_the_lines_that_each_test_and_its_fixtures_ran(
    every_bench: Workbench,
) -> None:
    every_bench.write({"shop.py": SHOP, "tests/test_shop.py": TESTS, "conftest.py": ""})
    failing = ["tests/test_shop.py::test_price", "tests/test_shop.py::test_other_carts"]

    run = await traced(await runner_of(every_bench), failing, everything=True)
    found = suspects_of(run, failing[0], {})

    assert found[0] == suspect("shop.py", 11, "discounted", found[0].score)
    assert [each.function for each in found[1:]] == ["Cart.price", "checked", "Cart.__init__", "total"]
    assert 1 >= found[0].score > found[1].score >= found[-1].score > 0
    tests = {name.partition("::")[2]: functions for name, functions in lines_of(run).items()}
    assert tests["test_total"] == {"total": "2-5"}
    assert tests["test_price"] == {
        "Cart.__init__": "16",
        "Cart.price": "20",
        "total": "2-5",
        "discounted": "11,13",
        "checked": "8",
    }
    assert tests["test_items"] == {"Cart.__init__": "16"}
    # Not `__repr__`, which only pytest calls, to explain the failure.
    assert tests["test_other_carts"] == {"Cart.__init__": "16", "Cart.__eq__": "18"}


async def test_a_test_that_cannot_be_imported_has_the_chain_of_imports(every_bench: Workbench) -> None:
    prices = "def load():\n    return {}['pen']\nPEN = load()\n"
    tests = {"test_shop.py": "import shop\ndef test_a(): pass\n", "test_other.py": "def test_b(): pass\n"}
    every_bench.write({"shop.py": "import prices\n", "prices.py": prices, **tests})

    found = await suspected(every_bench, "test_shop.py::test_a")

    assert found.functions == (
        suspect("prices.py", 2, "load", 1.0),
        suspect("prices.py", 3, "<module>", 0.5),
        suspect("shop.py", 1, "<module>", 0.33),
    )


async def test_functions_that_ran_while_the_test_file_was_imported_are_suspects_too(bench: Workbench) -> None:
    made = "import shop\nMADE = shop.made(1)\ndef test_a(): assert MADE == 2\ndef test_b(): pass\n"
    bench.write({"shop.py": "def made(n):\n    return n\n", "test_shop.py": made})

    (found,) = (await suspected(bench, "test_shop.py::test_a")).functions

    assert (found.file, found.line, found.function) == ("shop.py", 2, "made")


async def test_of_equals_the_changed_function_is_first(bench: Workbench) -> None:
    source = "def one(n):\n    n += 0\n    return n\n\ndef two(n):\n    n += 0\n    return n\n"
    test = "import shop\nRUN = [shop.one, shop.two]\ndef test_a(): assert sum(f(1) for f in RUN) == 3\n"
    bench.write({"shop.py": source, "test_shop.py": test})

    async def since_base() -> Lines:
        return {"shop.py": frozenset({2})}

    without = await suspected(bench, "test_shop.py::test_a")
    found = await suspected(bench, "test_shop.py::test_a", since_base)

    assert [(each.function, each.line) for each in without.functions] == [("two", 6), ("one", 2)]
    assert [(each.function, each.line) for each in found.functions] == [("one", 2), ("two", 6)]


CALLS = "assert shop.discounted(shop.total([4]), 2) == 0"
# What a failing test does, and what is told instead of suspects.
UNTRACED = {
    "replaces the trace function": ("sys.settrace(lambda *_: None)\n    " + CALLS, "traces by itself"),
    "runs native code only": ("assert sorted([2, 1]) == [2, 1]", "no Python code of the project"),
    "passes when it is traced": ("assert sys.gettrace() or hasattr(sys, 'monitoring')", "did not fail when"),
    "fails otherwise when it is traced": (
        "assert not sys.gettrace(), 'traced'\n    assert 0",
        "something else happened: AssertionError: traced",
    ),
    "dies": ("os._exit(3)", "nothing was recorded: the process ended while it ran (exit code 3)"),
}


@pytest.mark.parametrize("name", UNTRACED)
async def test_a_failing_test_that_cannot_be_traced_has_no_suspects_and_a_reason(bench: Workbench, name: str) -> None:
    body, reason = UNTRACED[name]
    passing = "def test_before(): shop.total([1])\ndef test_behind(): shop.discounted(1, 1)\n"
    tests = f"import os, sys, shop\ndef test_bad():\n    {body}\n{passing}"
    bench.write({"shop.py": SHOP.partition("class ")[0], "test_shop.py": tests})

    found = await suspected(bench, "test_shop.py::test_bad")

    assert found.functions == ()
    assert reason in (found.problem or "")


async def test_a_recursion_without_end_has_suspects_and_tests_that_could_not_be_traced_do_not_count(
    bench: Workbench,
) -> None:
    source = "def deep(n):\n    return deeper(n)\ndef deeper(n):\n    return deep(n + 1)\ndef unrelated():\n    pass\n"
    traces = "    import sys\n    sys.settrace(lambda *_: None)\n    shop.unrelated()\n"
    tests = f"def test_0(): pass\ndef test_1(): pass\ndef test_2():\n{traces}"
    bench.write({"shop.py": source, "test_shop.py": f"import shop\ndef test_bad(): shop.deep(1)\n{tests}"})

    run = await traced(await runner_of(bench), ["test_shop.py::test_bad"], everything=False)

    assert {each.function for each in suspects_of(run, "test_shop.py::test_bad", {})} == {"deep", "deeper"}
    assert not run.ledger.executed["test_shop.py::test_2"].complete


@pytest.mark.parametrize(
    ("environment", "addopts"),
    [("plugins", "--cov=shop --cov-fail-under=99 -p no:randomly"), (NEWEST, "-n 2 --maxfail 1")],
)
async def test_coverage_workers_and_early_ends_of_the_project_are_turned_off(
    bench: Workbench, environment: str, addopts: str
) -> None:
    bench = bench.using(environment)
    bench.write({"shop.py": SHOP, "test_shop.py": TESTS, "pytest.ini": f"[pytest]\naddopts = {addopts}\n"})

    run = await traced(await runner_of(bench), ["test_shop.py::test_price"], everything=True)

    assert suspects_of(run, "test_shop.py::test_price", {})[0].function == "discounted"
    assert len(lines_of(run)) == 1 + TESTS.count("def test_")
    assert not (bench.root / ".coverage").exists()


async def test_somebody_elses_trace_function_stays_and_the_tests_keep_their_outcomes(bench: Workbench) -> None:
    conftest = "import sys\nCALLS = []\nsys.settrace(lambda *call: CALLS.append(call))\n"
    ending = "def pytest_unconfigure():\n    assert len(CALLS) > 99\n"
    bench.write({"shop.py": SHOP, "test_shop.py": TESTS, "conftest.py": conftest + ending})

    run = await traced(await runner_of(bench), ["test_shop.py::test_price"], everything=False)

    failed = {name.partition("::")[2] for name, test in run.ledger.tests.items() if test.outcome == "failed"}
    assert failed == {"test_price", "test_other_price", "test_other_carts"}
    assert run.ledger.hello is not None
    # Newer ones have `sys.monitoring`.
    is_new = tuple(map(int, run.ledger.hello.python.split("."))) >= (3, 12)
    assert {event.complete for event in run.ledger.executed.values()} == {is_new}
    assert run.ledger.returned is not None
    assert run.ledger.escaped is None


async def test_the_nearest_tests_run_first_and_few_parameter_sets_of_each(every_bench: Workbench) -> None:
    other = "import pytest\n{}\n@pytest.mark.parametrize('n', range(9))\ndef test_n(n): pass\ndef test_one(): pass\n"
    own = """
        import shop

        def test_same_file(): pass

        class TestPrice:
            def test_total(self): assert shop.total([1]) == 1
            def test_items(self): pass
            def test_nothing(self): pass
            def test_bad(self): assert shop.discounted(4, 2) == 0
    """
    imports = {"test_a.py": other.format("import json"), "test_b.py": other.format("from shop import discounted")}
    every_bench.write({"shop.py": SHOP, **imports, "test_c.py": own})

    run = await traced(await runner_of(every_bench), ["test_c.py::TestPrice::test_bad"], everything=True)

    assert [*run.ledger.tests] == [
        *(f"test_c.py::TestPrice::test_{name}" for name in ("total", "items", "bad", "nothing")),
        "test_c.py::test_same_file",
        *(f"test_b.py::test_{name}" for name in ("n[0]", "n[1]", "n[2]", "n[3]", "one")),
        *(f"test_a.py::test_{name}" for name in ("n[0]", "n[1]", "n[2]", "n[3]", "one")),
    ]


@pytest.mark.parametrize(("most_tests", "seconds", "others"), [(0, 60.0, 3), (2, 60.0, 5), (99, 0.0, 3)])
async def test_number_and_time_bound_the_others_but_not_the_failing_tests(
    bench: Workbench, most_tests: int, seconds: float, others: int
) -> None:
    """Two run before the failing tests, and pytest has prepared for the one behind them."""
    tests = "".join(f"def test_{n}(): pass\n" for n in range(20))
    bench.write({"test_a.py": tests, "test_b.py": "def test_bad(): assert 0\ndef test_bad_too(): assert 0\n"})
    failing = ["test_b.py::test_bad_too", "test_b.py::test_bad"]
    trace: Trace = {"failing": failing, "most_tests": most_tests, "seconds": seconds}

    run = await (await runner_of(bench)).run(None, trace=trace)

    assert [*run.ledger.tests][2:4] == failing
    assert len(run.ledger.tests) == others + len(failing)
