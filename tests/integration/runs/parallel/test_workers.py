"""With `workers`, pytest-xdist runs the tests in several processes; the answer is that of one process."""

import re
from functools import partial
from typing import Any

import anyio
import pytest

from tests.support.waiting import processes_in, until
from tests.support.workbench import PYTESTS, Failure, Workbench, call, succeeded

TEST = "def test_a(): pass\n"
# Every kind of test, outcome, output and selection that an answer has a place for.
MANY_KINDS = {
    # By scope, so that the fixtures of a class are torn down where one process does it.
    "pytest.ini": "[pytest]\naddopts = --doctest-modules --dist=loadscope\nmarkers = slow\n",
    "conftest.py": """
import pytest

def pytest_collection_modifyitems(config, items):
    dropped = [item for item in items if item.name == "test_dropped"]
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = [item for item in items if item.name != "test_dropped"]

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport():
    outcome = yield
    outcome.get_result().cannot_be_sent = object()

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
import logging, sys, threading, unittest, warnings
import pytest
import pkg

warnings.warn("seen while collecting", UserWarning)

@pytest.mark.parametrize("n", range(7))
def test_numbers(n, record_property):
    record_property("cannot be sent", -(10 ** 12))
    record_property("neither", object if n else {n})
    print("number", n)
    assert pkg.twice(n) != 8

def test_long(): assert list(range(60)) == list(range(30)) + [0] + list(range(31, 60))
def test_long_output():
    for letter in "abcdef": print(letter * 50_000)
    assert 0
def test_thread(): assert threading.current_thread() is threading.main_thread()
def test_text(): assert "one\\ntwo\\nthree" == "one\\n2\\nthree"
def test_attributes(): assert {"a": [1, 2, {"b": 3}], "c": 1} == {"a": [1, 2, {"b": 4}], "d": 1}
def test_chain():
    try:
        {}["missing"]
    except KeyError as error:
        raise ValueError("bad\\nsecond line") from error
def test_exits(): sys.exit(3)
def test_no_utf_8(): raise ValueError("\\udcff")
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
    "sub/test_more.py": "import warnings\ndef test_more():\n    warnings.warn('more')\n    raise OSError(2, 'no')\n",
}


# What two runs of the same tests never share, besides times: addresses, and how much a plugin says is done.
VOLATILE = re.compile(r"0x[0-9a-f]+|\[ *\d+%\]")
OF_A_PROCESS = ("created", "msecs", "relativeCreated", "thread", "process", "processName", "taskName")


def plain(value: Any) -> Any:
    if isinstance(value, str):
        return VOLATILE.sub("", value)
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items() if key not in ("duration", *OF_A_PROCESS)}
    return value


def comparable(answer: dict[str, Any]) -> Any:
    """In full, `text_output` is all that pytest prints, and xdist prints more; otherwise only its time differs.

    On a busy machine a worker may exit so late that it is ended, and a notice rightly says so.
    """
    notices = [notice for notice in answer["notices"] if not re.match(r"Ran on|\d process\(es\) that the run", notice)]
    text = "" if answer["json_report"] else answer["text_output"].rpartition(" in ")[0]
    return plain({**answer, "notices": notices, "text_output": text, "omitted": None})


async def alone_and_parallel(bench: Workbench, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return await bench.execute(**arguments), await bench.execute(**arguments, workers=2)


@pytest.mark.parametrize("asked", [{"detail": "full", "markers": "not slow"}, {"keywords": "not numbers"}])
async def test_workers_give_the_answer_of_one_process(every_bench: Workbench, asked: dict[str, str]) -> None:
    every_bench.write(MANY_KINDS)

    alone, parallel = await alone_and_parallel(every_bench, **asked)

    assert comparable(parallel) == comparable(alone)
    assert "Ran on 2 workers." in parallel["notices"]
    assert "deselected" in parallel["text_output"]


async def test_files_that_cannot_be_collected_count_once_and_no_test_runs(bench: Workbench) -> None:
    bench.write({"test_a.py": TEST, "test_b.py": "import nowhere\n", "test_c.py": "1 / 0\n", "test_d.py": "def (:\n"})

    alone, parallel = await alone_and_parallel(bench)

    assert comparable(parallel) == comparable(alone)
    assert (parallel["exit_code"], parallel["summary"]["errors"]) == (2, 3)


async def test_named_tests_that_options_leave_out_and_a_package_from_elsewhere_are_reported(bench: Workbench) -> None:
    elsewhere = bench.root.parent / "elsewhere" / "shop"
    elsewhere.mkdir(parents=True)
    (elsewhere / "__init__.py").touch()
    source = f"import sys\ndef test_a():\n    sys.path.insert(0, {str(elsewhere.parent)!r})\n    import shop\n"
    bench.write({"pytest.ini": "[pytest]\naddopts = -k 'not b'\n", "src/shop/__init__.py": "", "test_a.py": source})
    bench.write({"test_b.py": "def test_b(): pass\n"})

    alone, parallel = await alone_and_parallel(bench, node_ids=["test_a.py::test_a", "test_b.py::test_b"])

    assert comparable(parallel) == comparable(alone)
    assert [notice.partition(" ")[0] for notice in parallel["notices"][:2]] == ["'shop'", "Named"]
    assert parallel["verdict"] == "incomplete"


async def test_ids_do_not_have_the_groups_of_xdist(bench: Workbench) -> None:
    mark = "@pytest.mark.xdist_group('g')\n"
    source = f"import pytest\n{mark}def test_a(): assert 0\n{mark}@pytest.mark.parametrize('n', ['a@b'])\n"
    source += "def test_b(n): pass\ndef test_c(): pass\n"
    bench.write({"pytest.ini": "[pytest]\naddopts = --dist=loadgroup\n", "test_a.py": source})

    ids = ["test_a.py::test_a", "test_a.py::test_b[a@b]", "test_a.py::test_c"]

    answer = await bench.execute(workers=2, detail="full", node_ids=ids)

    assert (answer["verdict"], answer["notices"]) == ("failed", ["Ran on 2 workers."])
    assert [test["node_id"] for test in answer["tests"]] == ids
    assert [test["nodeid"] for test in answer["json_report"]["tests"]] == ids


async def test_the_call_decides_on_workers_whatever_the_addopts_say(bench: Workbench) -> None:
    """And in each worker a test finds nothing of pytest-mcp."""
    source = """
import os, sys
def test_one():
    assert os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1") == os.environ["EXPECTED"]
    assert not [path for path in (*sys.path, *sys.path_importer_cache) if "pytest_mcp" in path]
    ours = [name for name, module in sys.modules.items() if "pytest_mcp" in str(getattr(module, "__file__", ""))]
    assert ours == []
"""
    addopts = "-n3 --dist=loadfile --maxprocesses=3"
    bench.write({"pytest.ini": f"[pytest]\naddopts = {addopts}\n", "test_a.py": source})

    for workers in (1, 2):
        bench.write({"conftest.py": f"import os\nos.environ['EXPECTED'] = '{workers}'\n"})
        answer = await bench.execute(workers=workers)

        assert (answer["verdict"], answer["tests"][0]["message"]) == ("passed", None)


async def test_a_run_that_failfast_stops_has_the_exit_code_of_one_process(bench: Workbench) -> None:
    many = "import pytest\n@pytest.mark.parametrize('n', range(40))\ndef test_b(n): pass\n"
    bench.write({"test_a.py": "def test_a(): assert 0\n", "test_b.py": many})

    answer = await bench.execute(workers=2, failfast=True)

    assert (answer["verdict"], answer["exit_code"], answer["summary"]["failed"]) == ("failed", 1, 1)


async def test_what_each_worker_was_doing_is_reported_when_the_run_is_interrupted(bench: Workbench) -> None:
    """As at a time limit: the controller gets SIGINT, here from a test as soon as both workers are busy."""
    source = """
import functools, os, pathlib, signal, time
def hang(begin): begin(); time.sleep(600)
def test_one():
    hang(pathlib.Path("one").touch)
def test_two():
    while not pathlib.Path("one").exists(): pass
    hang(functools.partial(os.kill, os.getppid(), signal.SIGINT))
"""
    bench.write({"test_a.py": source})

    failure = await bench.using(PYTESTS[0]).refused("execute_tests", workers=2)

    assert failure.data["error_type"] == "interrupted"
    assert sorted(failure.data["partial"]["running"]) == ["test_a.py::test_one", "test_a.py::test_two"]
    lines = failure.message.splitlines()
    for name, line in (("test_one", 4), ("test_two", 7)):
        start = lines.index(f"running: test_a.py::{name}")
        assert lines[start + 1 : start + 3] == [
            f"stack| test_a.py:{line}: in {name}",
            "stack| test_a.py:2: in hang",
        ]


async def test_tests_that_no_worker_is_left_to_run_are_counted_and_never_green(bench: Workbench) -> None:
    source = "import os, pytest\n@pytest.mark.parametrize('n', range(20))\ndef test_dies(n): os._exit(3)\n"
    bench.write({"pytest.ini": "[pytest]\naddopts = --max-worker-restart=0\n", "test_a.py": source})

    answer = await call("execute_tests", {"workers": 2}, bench.config)

    if isinstance(answer, Failure):
        # xdist sent tests to a worker whose end it had not seen yet: a race of its own, which ends its session.
        assert (answer.data["error_type"], "cannot send" in answer.message) == ("pytest_internal", True)
        return
    assert (answer["verdict"], answer["summary"]["failed"]) == ("failed", 2)
    assert "18 of 20 selected tests did not run" in answer["notices"][0]
    assert any("2 worker process(es) died" in notice for notice in answer["notices"])


async def test_a_conftest_that_only_workers_cannot_import_is_an_error_that_quotes_it(bench: Workbench) -> None:
    conftest = "import os\nif 'PYTEST_XDIST_WORKER' in os.environ: raise RuntimeError('no database')\n"
    bench.write({"pytest.ini": "[pytest]\naddopts = --max-worker-restart=0\n", "conftest.py": conftest})
    bench.write({"test_a.py": TEST})

    failure = await bench.refused("execute_tests", workers=2)

    assert failure.data["error_type"] == "crash"
    assert "RuntimeError: no database" in failure.message.splitlines()[0]
    assert "workers: 1" in failure.message


async def test_workers_that_collect_different_tests_are_an_error_that_names_one(bench: Workbench) -> None:
    source = "import os, pytest\n@pytest.mark.parametrize('n', [os.getpid()])\ndef test_a(n): pass\n"
    bench.write({"test_a.py": source})

    failure = await bench.refused("execute_tests", workers=2)

    assert failure.data["error_type"] == "usage_error"
    assert re.search(r"different tests \(test_a\.py::test_a\[\d+\] is not in all", failure.message)
    assert "workers: 1" in failure.message


async def test_without_our_plugin_in_its_workers_a_run_still_reports_outcomes(bench: Workbench) -> None:
    source = (
        "import pytest\ndef test_a(): assert [1] * 40 == [2] * 40\ndef test_b(): pass\ndef test_c(): pytest.skip('x')\n"
    )
    bench.write({"conftest.py": "def pytest_configure_node(node): node.workerinput.pop('pytest_mcp', None)\n"})
    bench.write({"test_a.py": source})

    answer = await bench.execute(workers=2, detail="tests")

    assert [test["outcome"] for test in answer["tests"]] == ["failed", "passed", "skipped"]
    assert answer["tests"][0]["message"].startswith("AssertionError: assert [1, 1, 1")
    assert answer["verdict"] == "failed"


async def test_without_xdist_workers_are_an_error_with_the_line_that_installs_it(bench: Workbench) -> None:
    lacking = bench.using("demo")
    lacking.write({"test_a.py": TEST})

    failure = await lacking.refused("execute_tests", workers=2)

    assert failure.data["error_type"] == "environment"
    assert failure.message.splitlines()[1] == f"fix: {lacking.python} -m pip install pytest-xdist"
    assert (await lacking.execute(workers=1))["verdict"] == "passed"


async def test_a_project_that_does_not_load_xdist_has_no_workers_unless_it_loads_it_as_a_module(
    bench: Workbench,
) -> None:
    bench.write({"pytest.ini": "[pytest]\naddopts = -p no:xdist\n", "test_a.py": TEST})

    failure = await bench.refused("execute_tests", workers=2)

    assert failure.data["error_type"] == "usage_error"
    assert "-p no:xdist" in failure.message
    assert (await bench.execute(workers=1))["verdict"] == "passed"
    bench.write({"pytest.ini": "[pytest]\naddopts = -p no:xdist -p xdist.plugin\n"})
    assert (await bench.execute(workers=2))["notices"][0] == "Ran on 2 workers."


async def test_a_cancelled_run_leaves_no_worker(bench: Workbench) -> None:
    source = "import pathlib, time\ndef test_{0}():\n    pathlib.Path('{0}').touch()\n    time.sleep(600)\n"
    bench.write({f"test_{name}.py": source.format(name) for name in ("a", "b")})

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(bench.execute, workers=2))
        await until(lambda: all((bench.root / name).exists() for name in ("a", "b")))
        busy = len(processes_in(bench.root))
        tasks.cancel_scope.cancel()

    assert busy >= 3
    await until(lambda: not processes_in(bench.root))


# --- addopts that ask for workers --------------------------------------------------------------


async def test_workers_of_the_projects_own_addopts_report_counts_and_messages(every_bench: Workbench) -> None:
    every_bench.write(
        {
            "pytest.ini": "[pytest]\naddopts = -n2\n",
            "tests/test_a.py": "import pytest\n@pytest.mark.parametrize('n', range(6))\ndef test_a(n): assert n != 4\n",
            "tests/test_b.py": "import pytest\ndef test_skips(): pytest.skip('later')\ndef test_gone(nowhere): pass\n",
        }
    )

    answer = await every_bench.execute(detail="tests")

    summary = answer["summary"]
    assert (summary["passed"], summary["failed"], summary["skipped"], summary["errors"]) == (5, 1, 1, 1)
    assert [test["message"] for test in answer["tests"]].count("AssertionError: assert 4 != 4") == 1
    assert answer["verdict"] == "failed"
    # On a busy machine a worker or pytest itself may exit so late that it is killed, and a notice rightly says so.
    assert [notice for notice in answer["notices"] if "killed" not in notice] == []


@pytest.mark.parametrize(("addopts", "allowed", "expected"), [("-n auto", 3, 3), ("-nauto --maxprocesses=2", 3, 2)])
async def test_auto_in_addopts_means_as_many_workers_as_there_are_cores_for(
    every_bench: Workbench, addopts: str, allowed: int, expected: int
) -> None:
    source = f"import os\ndef test_a(): assert os.environ['PYTEST_XDIST_WORKER_COUNT'] == '{expected}'\n"
    settings = {"PYTEST_XDIST_AUTO_NUM_WORKERS": "9"}
    every_bench.write({"pytest.ini": f"[pytest]\naddopts = {addopts}\n", "test_a.py": source})
    config = every_bench.config._replace(
        max_workers=allowed, environment={**every_bench.config.environment, **settings}
    )

    answer = succeeded(await call("execute_tests", {}, config))

    assert (answer["verdict"], answer["tests"][0]["message"]) == ("passed", None)


async def test_a_crashed_xdist_worker_fails_its_test_by_name(bench: Workbench) -> None:
    source = TEST + "import os\ndef test_dies(): os._exit(3)\ndef test_after(): pass\n"
    bench.write({"pytest.ini": "[pytest]\naddopts = -n1\n", "test_a.py": source})

    answer = await bench.execute(detail="tests")

    outcomes = {test["node_id"]: test["outcome"] for test in answer["tests"]}
    assert outcomes["test_a.py::test_dies"] == "failed"
    assert answer["verdict"] == "failed"


async def test_an_id_that_is_not_there_is_refused_under_xdist_even_if_its_file_is_named_too(bench: Workbench) -> None:
    bench.write({"pytest.ini": "[pytest]\naddopts = -n1\n", "test_a.py": "def test_a(): pass\n"})

    failure = await bench.refused("execute_tests", node_ids=["test_a.py", "test_a.py::test_gone"])

    assert (failure.code, failure.data["field"]) == (-32602, "node_ids.1")


async def test_what_has_finished_is_known_though_pytest_is_killed_before_another_test_starts(bench: Workbench) -> None:
    """Each of the two workers has one test, and the controller says what it has been told: a start, then an end."""
    told = """
        import os, pathlib, pytest
        def tell(nodeid, what):
            if "PYTEST_XDIST_WORKER" not in os.environ: pathlib.Path(nodeid[-1] + what).touch()
        @pytest.hookimpl(trylast=True)
        def pytest_runtest_logstart(nodeid): tell(nodeid, "_starts")
        @pytest.hookimpl(trylast=True)
        def pytest_runtest_logfinish(nodeid): tell(nodeid, "_ends")
    """
    tests = """
        import os
        def wait(path):
            while not os.path.exists(path): pass
        def test_a(): wait("b_starts")
        def test_b(): wait("a_ends"); os.kill(os.getppid(), 9)
    """
    bench.write({"conftest.py": told, "test_a.py": tests})

    failure = await bench.refused("execute_tests", workers=2)

    partial = failure.data["partial"]
    assert (partial["summary"]["passed"], partial["running"]) == (1, ["test_a.py::test_b"])
