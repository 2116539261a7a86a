"""Sources of projects that more than one test file runs."""

from pathlib import Path

# One test for each outcome.
ZOO = """
    import unittest
    import pytest

    def test_passes(): pass

    def test_fails():
        print("seen on stdout")
        assert [1, 2, 3] == [1, 2, 4]

    @pytest.mark.skip(reason="not today")
    def test_skipped(): pass

    @pytest.mark.xfail(reason="known bug")
    def test_xfails(): assert 0

    def test_xfails_on_the_way(): pytest.xfail("gave up")

    @pytest.mark.xfail
    def test_xpasses(): pass

    @pytest.mark.xfail(strict=True, reason="must not pass")
    def test_xpasses_strictly(): pass

    @pytest.fixture
    def broken(): raise ValueError("no fixture")

    def test_setup_fails(broken): pass

    def test_asks_for_a_fixture_that_is_not_there(nowhere): pass

    @pytest.fixture
    def leaky():
        yield
        raise RuntimeError("no teardown")

    def test_teardown_fails(leaky): pass

    def test_call_and_teardown_fail(leaky): assert 1 == 2

    class TestOuter:
        class TestInner:
            @pytest.mark.parametrize("value", ["a b", "c/d", "::e", "[f]", "--co", "g\\nh", "日本"])
            def test_parameters(self, value): pass

    class TestUnit(unittest.TestCase):
        def test_method(self): self.assertEqual(1, 1)

        @unittest.skip("unit skip")
        def test_skipped(self): pass
"""
# Each step waits for a file, so that a test decides how far the run gets.
SLOW_STEPS = """
    import pathlib, pytest, time
    HERE = pathlib.Path(__file__).parent

    def wait_for(name):
        while not (HERE / name).exists(): time.sleep(0.01)

    @pytest.mark.parametrize("step", range(4))
    def test_step(step):
        (HERE / f"at{step}").touch()
        wait_for(f"go{step}")
        assert step != 1
"""
# Each test tells when it begins and ends, and how many others are between the two at that moment.
COUNTING = """
    import os, pathlib, time, pytest
    HERE = pathlib.Path(__file__).parent

    @pytest.mark.parametrize("n", range(200))
    def test_n(n):
        with open(HERE / "order", "a") as order: order.write(f"{n}\\n")
        mine = HERE / "running" / str(n)
        mine.touch()
        with open(HERE / "seen", "a") as seen: seen.write(f"{len(list(mine.parent.iterdir()))}\\n")
        while not (HERE / "go").exists(): time.sleep(0.01)
        mine.unlink()
"""

# Of every outcome one, or two.
MIXED = """
    import pytest

    def test_fine(): pass
    def test_bad(): assert 1 == 2
    def test_bad_too(): raise ValueError("no luck")
    @pytest.mark.skip(reason="no printer here")
    def test_skipped(): pass
    @pytest.fixture
    def broken(): raise OSError("no database")
    def test_needs_it(broken): pass
"""
# A test that never ends, with a process that would like to outlive it; and one before it, and one after it.
ENDLESS = """
    import subprocess, sys, time

    def test_bad(): assert 1 == 2

    def test_endless():
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        open("ready", "w").close()
        time.sleep(600)

    def test_never(): pass
"""


def numbers_in(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().splitlines()] if file.exists() else []
