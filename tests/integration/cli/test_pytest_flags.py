"""The flags of pytest on `pytest-mcp run`: they do what somebody who knows pytest expects."""

import subprocess
from xml.etree import ElementTree as ET

import pytest

from tests.support.commands.preloaded import typed
from tests.support.commands.terminals import environment_of, settings_of
from tests.support.workbench import Workbench

SUITE = """
    import pytest

    def helper(x):
        assert x == 2

    def test_fine(): print("seen on stdout")

    def test_bad(): helper(1)

    @pytest.mark.xfail
    def test_expected(): assert 0

    @pytest.mark.xfail
    def test_surprising(): pass
"""


def run(bench: Workbench, *words: str, stdin: str = "", **variables: str) -> "subprocess.CompletedProcess[str]":
    where = {"cwd": bench.root, "env": environment_of(bench, **variables)}
    return typed(*settings_of(bench), "run", *words, stdin=stdin, **where)  # type: ignore[arg-type]


@pytest.fixture
def suite(bench: Workbench) -> Workbench:
    bench.write({"tests/test_a.py": SUITE, "tests/test_b.py": "def test_other(): pass\n"})
    return bench


def counts(done: "subprocess.CompletedProcess[str]") -> str:
    return done.stdout.splitlines()[-1].partition(" in ")[0]


def test_one_run_with_many_flags(suite: Workbench) -> None:
    """-s, --tb, --durations, --junitxml and annotations in one run, and then what --lf makes of its failure."""
    flags = ["-s", "--tb=short", "--durations=3", "--junitxml", "out/junit.xml"]

    done = run(suite, *flags, GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(suite.root.parent))
    again = run(suite, "--lf", "-qn0")

    lines = done.stdout.splitlines()
    report = ET.parse(suite.root / "out/junit.xml").getroot()
    assert lines[0] == (
        f"::error file={suite.root.name}/tests/test_a.py,line=4,"
        "title=tests/test_a.py%3A%3Atest_bad::AssertionError: assert 1 == 2"
    )
    assert any("seen on stdout" in line for line in lines)
    assert any("slowest 3 durations" in line for line in lines)
    assert lines.count("tests/test_a.py:4: in helper") == 1
    assert counts(done) == "failed: 1 failed, 2 passed, 1 xfailed, 1 xpassed"
    assert [len(report.findall(f".//{name}")) for name in ("testcase", "failure")] == [5, 1]
    assert counts(again) == "failed: 1 failed"
    assert "The command line chooses tests by what failed last time (--lf)" in again.stdout


def test_v_lists_every_test_and_tb_no_shows_no_traceback(suite: Workbench) -> None:
    done = run(suite, "-v", "--tb=no", "--ff")

    assert "passed tests/test_b.py::test_other" in done.stdout.splitlines()
    assert "FAILED tests/test_a.py::test_bad" in done.stdout.splitlines()
    assert "helper" not in done.stdout


def test_q_lists_only_failures_also_without_tracebacks(suite: Workbench) -> None:
    done = run(suite, "-q", "--tb=no", "--no-header")

    listed = [line.split(" ")[0] for line in done.stdout.splitlines() if "::" in line and "pytest-mcp" not in line]
    assert listed == ["FAILED"]
    assert [line.split(" ")[0] for line in done.stderr.splitlines()] == ["FAILED"]


@pytest.mark.parametrize(("typed", "is_coloured"), [("yes", True), ("no", False)])
def test_colours_are_chosen_as_in_pytest(suite: Workbench, typed: str, is_coloured: bool) -> None:
    assert ("\x1b[" in run(suite, f"--color={typed}").stdout) is is_coloured


def test_a_dash_reads_ids_from_stdin(suite: Workbench) -> None:
    done = run(suite, "-", "tests/test_b.py", stdin="tests/test_a.py::test_fine\n\n")
    nothing = run(suite, "-")

    assert counts(done) == "passed: 2 passed"
    assert (nothing.returncode, nothing.stderr) == (4, "pytest-mcp: There are no node ids on stdin.\n")


def test_p_is_refused_in_one_sentence_and_other_refusals_use_the_words_of_the_command_line(suite: Workbench) -> None:
    plugin, path = run(suite, "-p", "no:cacheprovider"), run(suite, "tests/nowhere/test_x.py", "--maxfail=0")

    assert (plugin.returncode, path.returncode) == (4, 4)
    assert "set `-p` in addopts" in plugin.stderr.splitlines()[0]
    lists = "`pytest-mcp discover` lists what there is"
    assert path.stderr.splitlines() == [
        f"tests/nowhere/test_x.py: does not exist in the project root {suite.root}; {lists}",
        '--maxfail: must be a whole number from 1 to 100000 (received "0")',
    ]


@pytest.mark.parametrize("words", [["-n", "x"], ["--durations", "-1"], ["--tb=fancy"]])
def test_a_value_that_pytest_would_refuse_is_a_usage_error(suite: Workbench, words: list[str]) -> None:
    assert run(suite, *words).returncode == 4


def test_an_unknown_flag_is_answered_with_the_nearest_and_without_the_usage(suite: Workbench) -> None:
    done = run(suite, "--fialfast")

    assert done.returncode == 4
    assert done.stderr == (
        "pytest-mcp run: error: unrecognized arguments: --fialfast; did you mean --failfast?\n"
        "See pytest-mcp run --help.\n"
    )
