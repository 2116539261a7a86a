"""Projects with plugins that many projects have: the real ones, in an environment of their own."""

import pytest

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


@pytest.mark.anyio
async def test_the_seed_that_repeats_a_failed_run_is_told(plugins: Workbench) -> None:
    plugins.write({"pytest.ini": "[pytest]\naddopts = -p no:cov\n", "test_a.py": "def test_a(): assert 0\n"})

    shuffled = await plugins.execute(verbosity=-2)
    plugins.write({"test_a.py": "def test_a(): assert 1, 'fine'\n"})
    passed = await plugins.execute()

    (sentence,) = shuffled["notices"]
    option = sentence.partition("`python -m pytest ")[2].partition("`")[0]
    assert f"Using {option}\n" in plugins.shell(option).stdout
    assert passed["notices"] == []


@pytest.mark.anyio
async def test_a_missed_coverage_threshold_is_quoted_and_a_part_of_the_tests_is_called_one(plugins: Workbench) -> None:
    ini = "[pytest]\naddopts = -p no:randomly --cov=mod --cov-fail-under={}\n"
    plugins.write({"pytest.ini": ini.format(90), "mod.py": MODULE, "test_a.py": TESTS})

    whole = await plugins.execute()
    part = await plugins.execute(node_ids=["test_a.py::test_one"], color=True)

    assert (whole["verdict"], whole["notices"]) == ("passed", [])
    assert part["verdict"] == "failed"
    (sentence,) = part["notices"]
    assert "'Required test coverage of 90% not reached. Total coverage: 75.00%'" in sentence
    assert "only a part" in sentence


@pytest.mark.anyio
async def test_a_threshold_that_the_whole_suite_misses_is_not_blamed_on_the_selection(plugins: Workbench) -> None:
    ini = "[pytest]\naddopts = -p no:randomly --cov=mod --cov-fail-under=90\n"
    plugins.write({"pytest.ini": ini, "mod.py": MODULE, "test_a.py": TESTS.partition("def test_two")[0]})

    answer = await plugins.execute()

    (sentence,) = answer["notices"]
    assert "Required test coverage" in sentence
    assert "part" not in sentence
    assert "[100%]" not in answer["text_output"]


@pytest.mark.anyio
async def test_headers_of_plugins_are_told_only_to_who_wants_more_than_usual(bench: Workbench) -> None:
    hook = "def pytest_report_header(): return 'database: 14.2'\n"
    bench.write({"conftest.py": hook + INSTAFAIL, "test_a.py": "def test_a(): pass\n"})

    usual, verbose = await bench.execute(), await bench.execute(verbosity=1)
    full = await bench.execute(detail="full")

    assert usual["text_output"] == ""
    assert "database: 14.2" in verbose["text_output"]
    assert "database: 14.2" in full["text_output"]
    assert "failed at once" in full["text_output"]
