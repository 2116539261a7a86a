"""`pytest-mcp discover` as a person or a script has it: what is printed, where, and the exit code."""

import json
import sys
from typing import Any

import anyio
import pytest

from tests.support.captured import captured
from tests.support.commands.terminals import Terminal, environment_of, piped, settings_of
from tests.support.workbench import Failure, Workbench, call

FILES = {
    "tests/test_a.py": """
        import pytest
        def test_one(): pass
        class TestThings:
            @pytest.mark.parametrize("word", ["a b", "c"])
            def test_two(self, word): pass
    """,
    "tests/deep/test_b.py": "def test_three(): pass\n",
}
BROKEN = {"test_broken.py": "import nowhere\n"}


def collected(bench: Workbench) -> list[str]:
    """The oracle."""
    printed = bench.shell("--collect-only", "-q", "--continue-on-collection-errors").stdout
    return [line for line in printed.splitlines() if "::" in line]


def test_into_a_pipe_goes_one_node_id_in_each_line_and_nothing_else(every_bench: Workbench) -> None:
    every_bench.write({**FILES, **BROKEN})

    done = piped(every_bench, "discover")

    assert done.stdout.splitlines() == collected(every_bench)
    assert "NOT COLLECTED test_broken.py:1" in done.stderr
    assert "note: 1 file(s) could not be collected" in done.stderr


def test_what_is_listed_can_be_run(bench: Workbench) -> None:
    bench.write(FILES)
    ours = [sys.executable, "-m", "pytest_mcp", *settings_of(bench)]
    pipeline = '"$@" discover | grep two | xargs -r -d "\\n" "$@" run'

    done = captured(["sh", "-c", pipeline, "sh", *ours], env=environment_of(bench))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith("passed: 2 passed in ")


@pytest.mark.parametrize(
    ("files", "typed"),
    [
        (FILES, []),
        ({}, []),
        (FILES, ["-k", "nothing"]),
        (BROKEN, []),
        ({**FILES, **BROKEN}, []),
        (FILES, ["--no-such-option"]),
        ({"pytest.ini": "[pytest]\naddopts = --no-such\n"}, []),
    ],
)
def test_the_exit_code_is_pytests_own(bench: Workbench, files: dict[str, str], typed: list[str]) -> None:
    bench.write(files)

    done = piped(bench, "discover", *typed)

    assert done.returncode == bench.shell("--collect-only", *typed).returncode, done.stderr


@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ([], {}),
        (
            ["--path=tests", "-m", "not slow", "-k", "two", "--detail=tests", "--max-tokens=500"],
            {"path": "tests", "markers": "not slow", "keywords": "two", "detail": "tests", "max_tokens": 500},
        ),
        (["--pattern=check_*.py", "--detail=full"], {"pattern": "check_*.py", "detail": "full"}),
        (["--path=nowhere"], {"path": "nowhere"}),
    ],
)
async def test_json_is_exactly_what_a_client_is_answered(
    bench: Workbench, typed: list[str], arguments: dict[str, Any]
) -> None:
    bench.write({**FILES, **BROKEN})

    done = await anyio.to_thread.run_sync(lambda: piped(bench, "discover", "--json", *typed))

    answer = await call("discover_tests", arguments, bench.config)
    expected = vars(answer) if isinstance(answer, Failure) else answer
    assert done.stdout == json.dumps(expected, ensure_ascii=False, separators=(",", ":")) + "\n"


def test_everything_is_listed_unless_less_is_asked_for(bench: Workbench) -> None:
    many = "import pytest\n@pytest.mark.parametrize('n', range(400))\ndef test_n(n): pass\n"
    names = "".join(f"def test_with_a_long_name_{n}(): pass\n" for n in range(400))
    bench.write({"test_many.py": many, "test_more.py": names})

    whole, parsed = piped(bench, "discover"), piped(bench, "discover", "--json")
    less = piped(bench, "discover", "--max-tokens=600")

    assert len(whole.stdout.splitlines()) == json.loads(parsed.stdout)["count"] == 800
    assert json.loads(parsed.stdout)["tests"] == []
    assert less.stdout.splitlines() == ["test_many.py", "test_more.py"]
    assert "Not everything is listed: " in less.stderr


def test_on_a_terminal_tests_stand_below_their_files(bench: Workbench) -> None:
    bench.write({**FILES, **BROKEN})

    with Terminal(bench, "discover") as terminal:
        code = terminal.end()

    rows = terminal.rows
    assert code == 2
    assert rows[: rows.index("")] == [
        "tests/deep/test_b.py (1)",
        "  test_three",
        "tests/test_a.py (3)",
        "  test_one",
        "  TestThings::test_two[a b]",
        "  TestThings::test_two[c]",
    ]
    assert rows[-2] == "4 tests"
