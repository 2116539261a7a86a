"""Projects with plugins that many projects have: the real ones, in an environment of their own."""

import pytest

from tests.support.git import commit_all
from tests.support.workbench import Workbench

MODULE = "def one(x):\n    if x:\n        return 1\n    return 2\n"
TESTS = "import mod\ndef test_one(): assert mod.one(1) == 1\ndef test_two(): assert mod.one(0) == 2\n"
# As pytest-instafail does: it prints failures as they happen, if its option is set when pytest is configured.
INSTAFAIL = """
def pytest_addoption(parser): parser.addoption("--instafail", default=True)
def pytest_configure(config): config.at_once = config.option.instafail
def pytest_terminal_summary(terminalreporter, config):
    if config.at_once: terminalreporter.write_line("failed at once")
"""


@pytest.fixture
def plugins(bench: Workbench) -> Workbench:
    return bench.using("plugins")


async def test_the_seed_that_repeats_a_failed_run_is_told(plugins: Workbench) -> None:
    plugins.write({"pytest.ini": "[pytest]\naddopts = -p no:cov\n", "test_a.py": "def test_a(): assert 0\n"})

    shuffled = await plugins.execute(verbosity=-2)
    plugins.write({"test_a.py": "def test_a(): assert 1, 'fine'\n"})
    passed = await plugins.execute()

    (sentence,) = shuffled["notices"]
    option = sentence.partition("`python -m pytest ")[2].partition("`")[0]
    assert f"Using {option}\n" in plugins.shell(option).stdout
    assert passed["notices"] == []


IN_ADDOPTS = {"pytest.ini": "[pytest]\naddopts = -p no:randomly --cov=mod --cov-fail-under=90\n"}
IN_COVERAGE = {
    "pytest.ini": "[pytest]\naddopts = -p no:randomly --cov=mod\n",
    ".coveragerc": "[report]\nfail_under = 90\n",
}


@pytest.mark.parametrize("settings", [IN_ADDOPTS, IN_COVERAGE], ids=["addopts", "coverage"])
@pytest.mark.parametrize("environment", ["plugins", "coverage-5", "coverage-7"])
async def test_a_coverage_threshold_is_a_notice_where_a_part_of_the_tests_is_selected(
    bench: Workbench, environment: str, settings: dict[str, str]
) -> None:
    cov = bench.using(environment)
    cov.write({**settings, "mod.py": MODULE, "test_a.py": TESTS})

    part = await cov.execute(node_ids=["test_a.py::test_one"], color=True)

    assert (part["verdict"], part["exit_code"]) == ("passed", 0)
    assert "not reached. Total coverage: " in part["notices"][0]
    assert "ran only a part of the tests" in part["notices"][0]


async def test_a_coverage_threshold_that_is_reached_is_not_told(plugins: Workbench) -> None:
    plugins.write({**IN_ADDOPTS, "mod.py": MODULE, "test_a.py": TESTS})

    for answer in (await plugins.execute(), await plugins.execute(path="test_a.py")):
        assert (answer["verdict"], answer["notices"]) == ("passed", [])


@pytest.mark.parametrize("workers", [None, 2])
async def test_a_coverage_threshold_is_a_notice_only_if_a_call_or_a_change_leaves_out_tests(
    bench: Workbench, workers: int | None
) -> None:
    cov = bench.using("coverage-7")
    other = {"other.py": "x = 1\n", "test_b.py": "import other\ndef test_b(): assert other.x\n"}
    cov.write({**IN_ADDOPTS, "mod.py": MODULE, "test_a.py": TESTS.partition("def test_two")[0], **other})
    commit_all(cov.root)

    cov.write({"other.py": "x = 2\n"})
    part = await cov.execute(changed=True, workers=workers)
    cov.write({"mod.py": MODULE + "\n"})
    everything = [await cov.execute(**asked, workers=workers) for asked in ({"changed": True}, {"keywords": "test"})]

    assert (part["verdict"], part["summary"]["passed"]) == ("passed", 1)
    assert any("ran only a part of the tests" in notice for notice in part["notices"])
    for answer in everything:
        assert (answer["verdict"], answer["exit_code"], answer["summary"]["passed"]) == ("failed", 1, 2)


LOOP = """
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtestloop(session):
    yield
    session.testsfailed += 1
"""
FINISH = """
def pytest_sessionfinish(session):
    session.exitstatus = 1
"""
UNCONFIGURE = """
import os

def pytest_unconfigure():
    print("FAIL Required test coverage of 90% not reached. Total coverage: 75.00%", flush=True)
    os._exit(1)
"""
EXIT = """
import atexit
import os

atexit.register(os._exit, 1)
"""


@pytest.mark.parametrize("conftest", [LOOP, FINISH, UNCONFIGURE, EXIT], ids=["loop", "finish", "unconfigure", "exit"])
async def test_whatever_else_fails_a_run_below_its_coverage_threshold_fails_it(
    plugins: Workbench, conftest: str
) -> None:
    plugins.write({**IN_ADDOPTS, "mod.py": MODULE, "test_a.py": TESTS, "conftest.py": conftest})

    part = await plugins.execute(node_ids=["test_a.py::test_one"])

    assert part["verdict"] == "failed"


async def test_the_whole_suite_of_a_member_fails_below_its_coverage_threshold(plugins: Workbench) -> None:
    member = {**IN_ADDOPTS, "mod.py": MODULE, "test_a.py": TESTS.partition("def test_two")[0]}
    plugins.write({f"packages/beta/{name}": text for name, text in member.items()})

    assert (await plugins.execute(path="packages/beta"))["verdict"] == "failed"
    assert (await plugins.execute(path="packages/beta/test_a.py"))["verdict"] == "passed"


async def test_headers_of_plugins_are_told_only_to_who_wants_more_than_usual(bench: Workbench) -> None:
    hook = "def pytest_report_header(): return 'database: 14.2'\n"
    bench.write({"conftest.py": hook + INSTAFAIL, "test_a.py": "def test_a(): pass\n"})

    usual, verbose = await bench.execute(), await bench.execute(verbosity=1)
    full = await bench.execute(detail="full")

    assert usual["text_output"] == ""
    assert "database: 14.2" in verbose["text_output"]
    assert "database: 14.2" in full["text_output"]
    assert "failed at once" in full["text_output"]
