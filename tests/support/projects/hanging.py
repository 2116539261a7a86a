"""Projects that hang, with processes that do not end by themselves."""

from tests.support.protocol.hostile_server import HostileServer, within
from tests.support.waiting import PATIENCE

# Started by every project here: processes that will not go by themselves, one of them in another session.
STUBBORN = """
import os, pathlib, pytest, signal, subprocess, sys, time
SLEEPER = [sys.executable, "-c", "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"]

def hang():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(SLEEPER)
    subprocess.Popen(SLEEPER, start_new_session=True)
    pathlib.Path(__file__).with_name("there").touch()
    time.sleep(600)
"""
MOMENTS = {
    "collection": "hang()\ndef test_a(): pass\n",
    "a test": "def test_a(): hang()\n",
    "teardown": "@pytest.fixture\ndef slow():\n    yield\n    hang()\ndef test_a(slow): pass\n",
    "after the session": "import atexit\natexit.register(hang)\ndef test_a(): pass\n",
}


def hanging(server: HostileServer, source: str = MOMENTS["a test"]) -> str:
    """The id of a call that has reached the point where it hangs."""
    server.project({"test_a.py": f"{STUBBORN}\n{source}"})
    number = server.begin()
    within(PATIENCE, (server.root / "there").exists)
    assert server.leftovers()
    return number
