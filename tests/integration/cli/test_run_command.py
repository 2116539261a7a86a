"""`pytest-mcp run` as a person or a script has it: what is printed, where, and the exit code."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.commands.preloaded import typed
from tests.support.commands.terminals import environment_of, piped, settings_of
from tests.support.projects.sources import MIXED
from tests.support.workbench import Failure, Workbench, call

FINE = "def test_fine(): pass\n"

# What pytest has an exit code for: the project, and what is typed.
SITUATIONS: dict[str, tuple[dict[str, str], list[str]]] = {
    "everything passes": ({"test_a.py": FINE}, []),
    "tests fail": ({"test_a.py": MIXED}, []),
    "there are no tests": ({"test_a.py": "\n"}, []),
    "none is selected": ({"test_a.py": FINE}, ["-k", "nothing"]),
    "a file cannot be imported": ({"test_a.py": FINE, "test_b.py": "import nowhere\n"}, []),
    "a conftest cannot be imported": ({"test_a.py": FINE, "conftest.py": "import nowhere\n"}, []),
    "a test does not exist": ({"test_a.py": FINE}, ["test_a.py::test_nowhere"]),
    "a file does not exist": ({"test_a.py": FINE}, ["test_b.py"]),
    "an option does not exist": ({"test_a.py": FINE}, ["--no-such-option"]),
    "the configuration is wrong": ({"test_a.py": FINE, "pytest.ini": "[pytest]\naddopts = --no-such\n"}, []),
    "a test leaves pytest": ({"test_a.py": "import pytest\ndef test_a(): pytest.exit('enough')\n"}, []),
    "pytest itself breaks": ({"test_a.py": FINE, "conftest.py": "def pytest_collection_modifyitems(): 1 / 0\n"}, []),
}

COUNTED = ("everything passes", "tests fail", "a file cannot be imported")


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_exit_code_and_the_counts_of_the_last_line_are_pytests_own(bench: Workbench, situation: str) -> None:
    files, typed = SITUATIONS[situation]
    bench.write(files)

    done = piped(bench, "run", *typed)

    oracle = bench.shell(*typed)
    assert done.returncode == oracle.returncode, done.stderr
    if situation in COUNTED:
        assert counted(done.stdout.splitlines()[-1]) == counted(oracle.stdout.splitlines()[-1])


def counted(line: str) -> dict[str, int]:
    return {
        name.removesuffix("s"): int(number)
        for number, name in re.findall(r"(\d+) ([a-z]+)", line.rpartition(" in ")[0])
    }


def without_timings(answer: Any) -> Any:
    """An answer without what is different each time."""
    if isinstance(answer, dict):
        return {
            key: None if key in ("duration", "created") else without_timings(value) for key, value in answer.items()
        }
    if isinstance(answer, list):
        return [without_timings(entry) for entry in answer]
    return re.sub(r"[\d.]+s\b", "", answer) if isinstance(answer, str) else answer


CALLS: dict[str, tuple[dict[str, str], list[str], dict[str, Any]]] = {
    "failures": ({"test_a.py": MIXED}, [], {}),
    "everything": ({"test_a.py": MIXED}, ["--detail", "full", "--color"], {"detail": "full", "color": True}),
    "every parameter": (
        {"tests/check_a.py": MIXED},
        [
            *["--path", "tests", "--pattern=check_*.py", "-m", "not slow", "-k", "bad", "--detail=tests"],
            *["--max-tokens=900", "--verbosity", "-1", "--no-failfast", "--maxfail", "9", "--show-capture"],
            *["--no-color", "--timeout=50", "tests/check_a.py::test_bad"],
        ],
        {
            "path": "tests",
            "pattern": "check_*.py",
            "markers": "not slow",
            "keywords": "bad",
            "detail": "tests",
            "max_tokens": 900,
            "verbosity": -1,
            "failfast": False,
            "maxfail": 9,
            "show_capture": True,
            "color": False,
            "timeout": 50,
            "node_ids": ["tests/check_a.py::test_bad"],
        },
    ),
    "a bad parameter": ({}, ["--path=..", "--maxfail=0"], {"path": "..", "maxfail": "0"}),
    "a usage error": ({"pytest.ini": "[pytest]\naddopts = --no-such\n"}, [], {}),
}


@pytest.mark.parametrize("name", CALLS)
async def test_json_is_exactly_what_a_client_is_answered(bench: Workbench, name: str) -> None:
    files, typed, arguments = CALLS[name]
    bench.write(files)

    done = await anyio.to_thread.run_sync(lambda: piped(bench, "run", "--json", *typed))

    answer = await call("execute_tests", arguments, bench.config)
    expected = vars(answer) if isinstance(answer, Failure) else answer
    assert done.stdout.count("\n") == 1
    # As text, so that the order of the keys counts too.
    assert json.dumps(without_timings(json.loads(done.stdout))) == json.dumps(without_timings(expected))


def test_the_account_goes_to_standard_output_and_a_refusal_to_standard_error(bench: Workbench) -> None:
    bench.write({"test_a.py": MIXED})

    done, refused = piped(bench, "run"), piped(bench, "run", "--maxfail", "none", "-k", "a and")

    assert (done.returncode, done.stdout.splitlines()[-1][:7]) == (1, "failed:")
    assert done.stderr.splitlines()[0] == "FAILED test_a.py::test_bad - AssertionError: assert 1 == 2"
    assert (refused.returncode, refused.stdout) == (4, "")
    assert refused.stderr.startswith("--keywords: at column 6: ")
    assert "maxfail: " in refused.stderr


def test_the_last_lines_tell_how_to_run_the_failures_again_and_it_works(bench: Workbench) -> None:
    odd = """
    import pytest
    @pytest.mark.parametrize("word", ["it's $HOME; `ls`", "fine"])
    def test_odd(word): assert word == "fine"
    """
    bench.write({"odd names/test_a.py": MIXED, "odd names/test_odd.py": odd})
    said = piped(bench, "run", "--path", "odd names").stdout

    command, *arguments = shlex.split(re.findall(r"(?m)^To run the failures again: (.*)$", said)[0])
    again = typed(*arguments, cwd=Path("/"), env=environment_of(bench))

    assert command == "pytest-mcp"
    assert again.returncode == 1
    assert counted(again.stdout.splitlines()[-1]) == {"failed": 3, "error": 1}


def test_the_operators_sizes_of_answers_hold_for_calls_and_their_ceiling_for_a_person_too(bench: Workbench) -> None:
    bench.write({f"test_{n}.py": f"def test_fails(): assert list(range({n}, 99)) == [3] * 80\n" for n in range(12)})

    usual = piped(bench, "run", "--json")
    small = piped(bench, "--max-tokens=500", "run", "--json")
    above = piped(bench, "--most-tokens=1000", "run", "--json", "--max-tokens=1001")
    person = piped(bench, "--most-tokens=1000", "run")

    assert len(small.stdout) < len(usual.stdout)
    assert "from 500 to 1000 (the operator's limit)" in json.loads(above.stdout)["message"]
    assert (above.returncode, person.returncode) == (4, 1)


def test_the_operators_time_limit_and_that_of_the_run_do_not_meet(bench: Workbench) -> None:
    bench.write({"test_slow.py": "import time\ndef test_slow(): time.sleep(600)\n"})

    own = piped(bench, "--timeout=50", "run", "--timeout=1")
    operators = piped(bench, "--timeout=1", "run")
    too_long = piped(bench, "--max-timeout=5", "run", "--timeout=6")
    behind = piped(bench, "run", "--max-timeout=5", "--timeout=6")

    assert (own.returncode, operators.returncode) == (2, 2)
    assert "exceeded timeout of 1 seconds" in own.stderr
    assert "exceeded timeout of 1 seconds" in operators.stderr
    assert too_long.returncode == behind.returncode == 4
    assert "from 1 to 5 (the operator's limit)" in too_long.stderr
    assert behind.stderr == too_long.stderr


def test_settings_may_stand_behind_the_command_and_words_and_options_in_any_order(bench: Workbench) -> None:
    bench.write({"test_a.py": MIXED, "test_b.py": FINE, "test_c.py": FINE})
    words = ["run", "test_a.py", "-k", "fine", f"--root={bench.root}", "test_b.py", "-x", "--python", str(bench.python)]

    done = typed(*words, cwd=Path("/"), env=environment_of(bench, PYTEST_MCP_ROOT="/nowhere"))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("passed: 2 passed, 4 deselected in ")


def test_the_sdk_is_not_imported(bench: Workbench) -> None:
    bench.write({"test_a.py": FINE})
    command = [sys.executable, "-X", "importtime", "-m", "pytest_mcp", *settings_of(bench), "run"]

    done = subprocess.run(command, env=environment_of(bench), capture_output=True, encoding="utf-8", check=False)

    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert done.returncode == 0
    assert "pydantic" in imported
    assert not {"mcp", "mcp_types"} & imported


def test_a_bug_of_ours_is_no_failure_of_a_test(bench: Workbench) -> None:
    bug = """
import sys
from pytest_mcp.cli.main import main
from pytest_mcp.python import interpreter
interpreter.candidates = lambda *_: 1 / 0
sys.exit(main())
"""
    command = [sys.executable, "-c", bug, *settings_of(bench), "run"]

    done = subprocess.run(command, env=environment_of(bench), capture_output=True, encoding="utf-8", check=False)

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("Internal server error: ZeroDivisionError")
    assert done.stderr.rstrip().endswith("ZeroDivisionError: division by zero")
