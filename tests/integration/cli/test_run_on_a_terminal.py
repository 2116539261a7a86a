"""`pytest-mcp run` on a terminal, in a pipe and interrupted: what is printed, and what is left."""

import json
import re
import signal
import subprocess
import sys

import anyio
import pytest

from pytest_mcp.cli.local_call import TEARING_DOWN
from tests.support.commands.terminals import Terminal, environment_of, piped, remains, settings_of
from tests.support.projects.sources import ENDLESS, MIXED
from tests.support.waiting import processes_in, until
from tests.support.workbench import Workbench

TEARDOWN = """
    import time
    import pytest

    def test_bad(): assert 1 == 2

    @pytest.fixture
    def resource():
        yield
        open("torn down", "w").close()
        {teardown}

    def test_endless(resource):
        open("ready", "w").close()
        time.sleep(600)

    def test_never(): pass
"""

WAITING = """
    import os, time

    def test_bad(): assert [1] == [2]

    def test_waiting():
        while not os.path.exists("seen"): time.sleep(0.01)

    def test_after(): pass
"""


def test_into_a_pipe_goes_plain_text_unless_colour_is_forced_or_typed(bench: Workbench) -> None:
    bench.write({"test_a.py": MIXED})

    plain = piped(bench, "run", TERM="xterm")
    forced = piped(bench, "run", FORCE_COLOR="1")
    typed = piped(bench, "run", "--color")
    contradicted = piped(bench, "run", FORCE_COLOR="1", NO_COLOR="1")

    assert not {"\x1b", "\r"} & {*plain.stdout, *plain.stderr, *contradicted.stdout}
    assert re.search("\x1b\\[1;31mfailed: ", forced.stdout)
    assert re.search("\x1b\\[1;31mfailed: ", typed.stdout)


def test_what_tests_say_cannot_move_the_cursor(bench: Workbench) -> None:
    bench.write(
        {
            "test_odd.py": """
            import pytest
            ODD = "\\x1b[2J\\r\\x07\\u202e \\x9b31m"
            @pytest.mark.parametrize("it", [1], ids=["漢字\\t"])
            def test_odd(it):
                print(ODD)
                raise ValueError(ODD)
            @pytest.mark.skip(reason=ODD)
            def test_skipped(): pass
            """
        }
    )

    said = piped(bench, "run", "--color", "--detail=full").stdout

    assert "\\x1b[2J\\x0d\\x07\\u202e" in said
    assert not set("\r\x07\u202e\x9b") & set(said)
    assert "\x1b" not in re.sub("\x1b\\[[0-9;]*m", "", said)


def test_an_output_that_cannot_say_everything_says_what_it_can(bench: Workbench) -> None:
    bench.write({"test_a.py": "def test_a(): assert 'ü' == 'ö'\n"})

    done = piped(bench, "run", PYTHONIOENCODING="ascii")

    assert done.returncode == 1
    assert "assert '\\xfc' == '\\xf6'" in done.stdout


def test_a_reader_that_has_seen_enough_changes_nothing(bench: Workbench) -> None:
    bench.write({"test_a.py": MIXED})
    command = [sys.executable, "-m", "pytest_mcp", *settings_of(bench), "run"]

    with subprocess.Popen(
        command, env=environment_of(bench), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()

    assert process.returncode == 1
    assert said.startswith(b"FAILED test_a.py::test_bad - ")


def test_on_a_terminal_one_line_tells_how_far_it_is_and_is_gone_in_the_end(bench: Workbench) -> None:
    bench.write({"test_a.py": WAITING})
    one_of_three = re.compile(r"\x1b\[31m\[=+> +\]  1/3  1 failed  [\d.]+ s  test_a.py\x1b\[0m$")

    with Terminal(bench, "run") as terminal:
        terminal.until(lambda: any(map(one_of_three.match, terminal.drawn)))
        (bench.root / "seen").touch()
        code = terminal.end()

    assert code == 1
    assert not any("/3" in row for row in terminal.rows)
    assert [row for row in terminal.rows if row][-1].startswith("failed: 1 failed, 2 passed in ")
    assert "\x1b[31mE   " in terminal.text


@pytest.mark.parametrize("how", ["a key", "SIGTERM"])
def test_an_interruption_ends_everything_and_tells_what_had_finished(bench: Workbench, how: str) -> None:
    bench.write({"test_a.py": ENDLESS})

    with Terminal(bench, "run") as terminal:
        terminal.until(lambda: (bench.root / "ready").exists() and terminal.drawn and "1/3" in terminal.drawn[-1])
        if how == "a key":
            terminal.press(b"\x03")
        else:
            terminal.process.send_signal(signal.SIGTERM)
        code = terminal.end()

    assert code == 2
    assert processes_in(bench.root) == []
    assert remains(bench) == []
    assert "FAILED test_a.py::test_bad" in terminal.rows
    assert terminal.rows[-2].startswith("incomplete: 1 failed, 1 cut off, 1 not run in ")
    assert [row for row in terminal.rows if "::test_endless" in row] == ["running: test_a.py::test_endless"]
    assert f"pytest execution failed: interrupted ({'SIGINT' if how == 'a key' else how})" in terminal.rows
    assert "was killed" not in terminal.text
    assert "Traceback" not in terminal.text


def test_an_interrupted_script_gets_a_clients_error_and_a_test_that_swallows_it_was_still_running(
    bench: Workbench,
) -> None:
    stuck = """
    import pathlib, time
    def test_stuck():
        try:
            pathlib.Path('ready').touch()
            time.sleep(600)
        except: pass
    def test_after(): pass
    """
    bench.write({"test_a.py": stuck})
    command = [sys.executable, "-m", "pytest_mcp", *settings_of(bench), "run", "--json"]

    with subprocess.Popen(command, env=environment_of(bench), stdout=subprocess.PIPE, text=True) as process:
        anyio.run(until, (bench.root / "ready").exists)
        process.send_signal(signal.SIGINT)
        answer = json.loads(process.communicate()[0])

    partial = answer["data"]["partial"]
    assert process.returncode == 2
    assert (answer["code"], answer["data"]["error_type"]) == (-32000, "interrupted")
    assert processes_in(bench.root) == []
    assert (partial["running"], partial["not_run"]) == (["test_a.py::test_stuck"], 1)


def test_after_a_key_fixtures_are_torn_down_and_a_failure_was_shown_when_it_happened(bench: Workbench) -> None:
    bench.write({"test_a.py": TEARDOWN.format(teardown="")})

    with Terminal(bench, "run") as terminal:
        terminal.until((bench.root / "ready").exists)
        terminal.until(lambda: "FAILED test_a.py::test_bad - AssertionError: assert 1 == 2" in terminal.rows)
        terminal.press(b"\x03")
        code = terminal.end()

    assert code == 2
    assert (bench.root / "torn down").exists()
    assert TEARING_DOWN in terminal.rows
    assert terminal.rows[-2].startswith("incomplete: 1 failed, 1 cut off, 1 not run in ")
    assert (processes_in(bench.root), remains(bench)) == ([], [])


def test_a_second_key_ends_a_teardown_that_takes_too_long(bench: Workbench) -> None:
    bench.write({"test_a.py": TEARDOWN.format(teardown="time.sleep(600)")})

    with Terminal(bench, "run") as terminal:
        terminal.until((bench.root / "ready").exists)
        terminal.press(b"\x03")
        terminal.until((bench.root / "torn down").exists)
        terminal.press(b"\x03")
        code = terminal.end()

    assert code == 2
    assert terminal.rows[-2].startswith("incomplete: 1 failed, 1 cut off, 1 not run in ")
    assert (processes_in(bench.root), remains(bench)) == ([], [])
