"""`timing`: real runs of ten suites, each slow for another reason. pytest's own durations are the oracle."""

import re

import pytest

from tests.support.projects.slow_suites import SUITES, WORK
from tests.support.workbench import Workbench

MIXED = """\
import pytest, time

@pytest.fixture(scope="module", params=[1, 2])
def server(request):
    time.sleep(0.02)
    yield request.param
    time.sleep(0.03)

@pytest.fixture
def broken(server): raise ValueError

def test_passes(server): time.sleep(0.01)
def test_fails(server): assert not time.sleep(0.01)
def test_errs(broken): pass
@pytest.mark.skip
def test_skips(): pass
"""


@pytest.mark.parametrize("name", SUITES)
async def test_the_largest_saving_is_named(bench: Workbench, name: str) -> None:
    suite = SUITES[name]
    bench.write({"work.py": WORK, "conftest.py": "", **suite.files})

    answer = await bench.execute(timing=True, **({"workers": suite.workers} if suite.workers > 1 else {}))

    saving = answer["timing"]["saving"]
    assert [word for word in suite.says if word not in saving] == [], saving
    assert answer["timing"]["workers"] == (suite.workers if suite.workers > 1 else 0)


@pytest.mark.parametrize("environment", ["pytest-7.0", "pytest-9"])
async def test_sums_are_those_of_pytest_and_parts_are_the_whole(bench: Workbench, environment: str) -> None:
    bench.write({"test_a.py": MIXED})

    answer = await bench.using(environment).execute(timing=True, detail="full")

    timing, tests = answer["timing"], answer["json_report"]["tests"]
    parts = {part["name"]: part["seconds"] for part in timing["parts"]}
    for phase in ("setup", "call", "teardown"):
        of_pytest = {test["nodeid"]: test[phase]["duration"] for test in tests if phase in test}
        assert parts[phase] == pytest.approx(sum(of_pytest.values()), abs=0.001)
        ours = {test["node_id"]: test[phase] for test in timing["tests"]}
        assert all(ours[name] == pytest.approx(of_pytest[name], abs=0.001) for name in ours if name in of_pytest)
    assert sum(parts.values()) == pytest.approx(timing["seconds"], abs=0.005)
    (server,) = (fixture for fixture in timing["fixtures"] if fixture["name"] == "server")
    assert (server["scope"], server["calls"], server["place"]) == ("module", 2, "test_a.py:3")
    assert server["slowest"].startswith("test_a.py::test_")
    assert server["seconds"] >= server["sleeping"] >= 0.04
    assert server["teardown"] >= 0.06
    assert {sleep["name"]: sleep["calls"] for sleep in timing["sleeps"]} == {
        f"test_a.py:{line}": 2 for line in (5, 7, 12, 13)
    }


@pytest.mark.parametrize("environment", ["pytest-7.0", "pytest-9"])
async def test_a_fixture_is_not_charged_with_what_happens_between_the_test_and_its_teardown(
    bench: Workbench, environment: str
) -> None:
    plugin = "import time\ndef pytest_runtest_logreport(report): time.sleep(0.05)\n"
    source = (
        "import pytest, time\n@pytest.fixture\ndef slow():\n    time.sleep(0.01)\n    yield\n    time.sleep(0.01)\n"
    )
    bench.write({"conftest.py": plugin, "test_a.py": f"{source}def test_a(slow): pass\ndef test_b(slow): pass\n"})

    answer = await bench.using(environment).execute(timing=True)

    (slow,) = answer["timing"]["fixtures"]
    assert 0.02 <= slow["teardown"] < 0.1, slow


async def test_nothing_of_it_is_in_an_answer_that_was_not_asked_for_it(bench: Workbench) -> None:
    bench.write({"test_a.py": "import time\ndef test_a(): assert type(time.sleep).__name__.startswith('builtin')\n"})

    answer = await bench.execute()

    assert answer["verdict"] == "passed"
    assert "timing" not in answer


async def test_tests_find_what_is_measured_as_it_was(bench: Workbench) -> None:
    source = """
        import importlib, socket, subprocess, sys, time, traceback, warnings
        from unittest import mock
        import pytest

        def test_a_patched_sleep_is_not_measured():
            with mock.patch("time.sleep", autospec=True) as sleep:
                time.sleep(3)
            sleep.assert_called_once_with(3)

        def test_a_failing_import_has_no_frame_of_ours():
            with pytest.raises(ZeroDivisionError) as caught:
                import broken
            assert [each.name for each in traceback.extract_tb(caught.value.__traceback__)] == [
                "test_a_failing_import_has_no_frame_of_ours", "<module>"
            ]

        def test_a_warning_of_an_import_names_the_importing_line():
            with pytest.warns(DeprecationWarning) as caught:
                import deprecated
            assert caught[0].filename == __file__

        def test_processes_and_sockets_work():
            assert subprocess.run([sys.executable, "-c", "print(1)"], stdout=subprocess.PIPE).stdout == b"1\\n"
            one, other = socket.socketpair()
            other.sendall(b"abc")
            assert one.recv(3) == b"abc"
            one.close(); other.close()
    """
    bench.write(
        {
            "broken.py": "1 / 0\n",
            "deprecated.py": "import warnings\nwarnings.warn('old', DeprecationWarning, stacklevel=2)\n",
            "test_a.py": "\n".join(line[8:] for line in source.split("\n")),
        }
    )

    answer = await bench.execute(timing=True)

    assert answer["verdict"] == "passed", answer["tests"]
    assert answer["timing"]["sleeps"] == []


# What a function of Python in place of one of C breaks, and every replaced method of a class.
PARTICULAR = """\
import copy, inspect, pickle, socket, subprocess, time, types, weakref
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from unittest import mock
import pytest

class Retries: sleep = time.sleep

def test_bound(): assert Retries().sleep(0) is None
def test_kept():
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(time.sleep, protocol)) is time.sleep
        assert pickle._loads(pickle._dumps(time.sleep, protocol)) is time.sleep
    assert copy.copy(time.sleep) is copy.deepcopy(time.sleep) is weakref.ref(time.sleep)() is time.sleep
def test_pool():
    with ProcessPoolExecutor(1, get_context("spawn")) as pool: assert pool.submit(time.sleep, 0.01).result() is None
def test_spawn():
    process = get_context("spawn").Process(target=time.sleep, args=(0.01,))
    process.start(); process.join()
    assert process.exitcode == 0
def test_kind():
    assert isinstance(time.sleep, types.BuiltinFunctionType) and inspect.isbuiltin(time.sleep)
    assert not inspect.isfunction(time.sleep) and type(time.sleep).__name__ == "builtin_function_or_method"
    assert dir(time.sleep) == dir(time.time) and repr(time.sleep) == "<built-in function sleep>"
    assert (time.sleep.__module__, time.sleep.__qualname__, time.sleep.__self__) == ("time", "sleep", time)
    assert hash(time.sleep) == hash(time.sleep.__call__.__self__) and time.sleep == time.sleep.__call__.__self__
def test_signature():
    if time.sleep.__text_signature__: assert len(inspect.signature(time.sleep).parameters) == 1
    else: pytest.raises(ValueError, inspect.signature, time.sleep)
def test_attribute():
    with pytest.raises(AttributeError): time.sleep.calls = 1
def test_arguments():
    with pytest.raises(TypeError): time.sleep("a")
    with pytest.raises(TypeError): time.sleep(self=1)
def test_patched():
    with mock.patch("subprocess.Popen.communicate", autospec=True) as communicate:
        subprocess.Popen.communicate(1, input=b"", timeout=2)
        with pytest.raises(TypeError): subprocess.Popen.communicate(1, put=b"")
    assert list(inspect.signature(subprocess.Popen.wait).parameters) == ["self", "timeout"]
    assert inspect.signature(socket.getaddrinfo).parameters["port"].default is inspect.Parameter.empty
def test_inherited():
    with pytest.raises(AttributeError): del socket.socket.recv_into
"""


@pytest.mark.parametrize("environment", ["pytest-7.0", "pytest-9"])
async def test_every_test_has_the_outcome_that_it_has_unmeasured(bench: Workbench, environment: str) -> None:
    restored = "import time\ndef pytest_unconfigure(): assert type(time.sleep) is type(time.time)\n"
    bench.write({"conftest.py": restored, "test_a.py": PARTICULAR})

    for timing in (False, True):
        answer = await bench.using(environment).execute(timing=timing)

        assert (answer["verdict"], answer["summary"]["passed"]) == ("passed", 10), answer


async def test_a_test_that_is_stuck_in_a_wait_has_the_stack_of_its_own(bench: Workbench) -> None:
    bench.write({"test_a.py": "import time\ndef test_stuck():\n    time.sleep(60)\n"})

    failure = await bench.refused("execute_tests", timing=True, timeout=2)

    assert re.search(r"test_a\.py:3: in test_stuck", failure.message)
    assert "timing.py" not in failure.message


async def test_a_plugin_that_waits_before_pytest_is_configured_loads_and_is_named(bench: Workbench) -> None:
    plugin = "import time\ntime.sleep(0.5)\n"
    bench.write(
        {"pytest.ini": "[pytest]\naddopts = -p early\n", "early.py": plugin, "test_a.py": "def test_a(): pass\n"}
    )

    answer = await bench.execute(timing=True)

    assert answer["verdict"] == "passed"
    assert answer["timing"]["saving"].startswith("importing early takes")
