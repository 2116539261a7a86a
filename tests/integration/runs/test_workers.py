"""With `workers`, pytest-xdist runs the tests in several processes; the answer is that of one process."""

from typing import Any

import pytest

from tests.support.workbench import Workbench

# Every kind of test, outcome, output and selection that an answer has a place for.
MANY_KINDS = {
    "pytest.ini": "[pytest]\naddopts = --doctest-modules\nmarkers = slow\n",
    "conftest.py": """
import pytest

def pytest_collection_modifyitems(config, items):
    dropped = [item for item in items if item.name == "test_dropped"]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item.name != "test_dropped"]

@pytest.fixture
def broken():
    yield 1
    raise RuntimeError("teardown")

@pytest.fixture(scope="class")
def shared(request):
    request.cls.numbers = []
    yield
    print("closing", request.cls.numbers)
""",
    "pkg.py": 'def twice(n):\n    """\n    >>> twice(2)\n    5\n    """\n    return n * 2\n',
    "test_kinds.py": """
import logging, sys, unittest, warnings
import pytest
import pkg

warnings.warn("seen while collecting", UserWarning)

@pytest.mark.parametrize("n", range(7))
def test_numbers(n, record_property):
    record_property("object", "x" * n)
    print("number", n)
    assert pkg.twice(n) != 8

def test_long(): assert list(range(60)) == list(range(30)) + [0] + list(range(31, 60))
def test_text(): assert "one\\ntwo\\nthree" == "one\\n2\\nthree"
def test_attributes(): assert {"a": [1, 2, {"b": 3}], "c": 1} == {"a": [1, 2, {"b": 4}], "d": 1}
def test_chain():
    try:
        {}["missing"]
    except KeyError as error:
        raise ValueError("bad\\nsecond line") from error
def test_exits(): sys.exit(3)
def test_no_trace(): pytest.fail("plainly", pytrace=False)
def test_skips(): pytest.skip("later")
@pytest.mark.xfail(reason="known", strict=False)
def test_xfails(): assert 0
@pytest.mark.xfail(reason="known", strict=True)
def test_xpasses(): pass
def test_without_fixture(nowhere): pass
def test_breaks_down(broken): assert broken == 2
def test_teardown_only(broken): pass
def test_output(capsys):
    print("printed"); sys.stderr.write("told"); logging.getLogger("a").warning("logged %s", 1)
    with capsys.disabled():
        pass
    assert 0
def test_warns():
    warnings.warn("while running", DeprecationWarning)
def test_strange_name_of_a_value():
    class Odd:
        def __repr__(self): raise RuntimeError("no repr")
    assert Odd() == 1
def test_dropped(): assert 0
@pytest.mark.slow
def test_slow(): assert 0

class TestShared:
    @pytest.mark.usefixtures("shared")
    def test_one(self): self.numbers.append(1); assert 0
    @pytest.mark.usefixtures("shared")
    def test_two(self): pass

class TestUnit(unittest.TestCase):
    def setUp(self): self.n = 1
    def test_equal(self): self.assertEqual(self.n, 2, "not two")
    def test_subtests(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertNotEqual(n, 1)
    @unittest.skip("unit")
    def test_skipped(self): pass
""",
    "test_skips_itself.py": "import pytest\npytest.skip('not here', allow_module_level=True)\n",
    "sub/test_more.py": "import warnings\ndef test_more(tmp_path):\n    warnings.warn('more', UserWarning)\n    raise OSError(2, 'no')\n",
}


def plain(value: Any) -> Any:
    """An answer without what two runs of the same tests never share: times, processes, the fixtures of xdist."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        left_out = ("duration", "created", "text_output", "omitted")
        process = ("created", "msecs", "relativeCreated", "thread", "process", "processName", "taskName")
        return {key: plain(each) for key, each in value.items() if key not in left_out + process}
    return value


def answer_of(given: dict[str, Any]) -> Any:
    notices = [notice for notice in given["notices"] if "workers" not in notice]
    return plain({**given, "notices": notices})


@pytest.mark.anyio
async def test_workers_give_the_answer_of_one_process(every_bench: Workbench) -> None:
    every_bench.write(MANY_KINDS)

    for detail in ("auto", "full"):
        alone = await every_bench.execute(detail=detail, markers="not slow", max_tokens=100_000)
        parallel = await every_bench.execute(detail=detail, markers="not slow", max_tokens=100_000, workers=2)

        assert answer_of(parallel) == answer_of(alone)
        assert "Ran on 2 workers." in parallel["notices"]
        if detail == "auto":
            assert parallel["text_output"].partition(" in ")[0] == alone["text_output"].partition(" in ")[0]
