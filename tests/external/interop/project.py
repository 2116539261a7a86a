"""The project that every client runs, and the steps that it takes with it."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

FILES = {
    "test_fine.py": "def test_fine(): pass\n",
    "test_bad.py": """
        def test_bad():
            price = 3
            assert price == 4, "too cheap"
        """,
    "test_stuck.py": """
        import time
        def test_stuck(): time.sleep(3600)
        """,
    "test_steps.py": """
        import pytest, time
        @pytest.mark.parametrize("number", range(3))
        def test_step(number): time.sleep(0.5)
        """,
    "test_cancelled.py": """
        import os, pathlib, time
        def test_cancelled():
            pathlib.Path(__file__).with_name("begun").write_text(str(os.getpid()))
            time.sleep(600)
        """,
    # What was cancelled must be gone while the same server lives, so a run of the same server looks.
    "test_gone.py": """
        import os, pathlib, pytest, time
        def test_gone():
            process = int(pathlib.Path(__file__).with_name("begun").read_text())
            end = time.monotonic() + 10
            with pytest.raises(ProcessLookupError):
                while time.monotonic() < end:
                    os.kill(process, 0)
                    time.sleep(0.02)
        """,
}


@dataclass(frozen=True)
class Step:
    name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    tool: str = "execute_tests"
    # The call is cancelled as soon as this file is there.
    until: str | None = None


def steps(root: Path, *, cancelling: bool) -> list[dict[str, Any]]:
    """In the words of a driver."""
    taken = [
        Step("explained", tool="explain_environment"),
        Step("discovered", tool="discover_tests"),
        Step("passed", {"path": "test_fine.py"}),
        Step("failed", {"path": "test_bad.py"}),
        Step("refused", {"path": "nowhere", "maxfail": 0}),
        Step("timed out", {"path": "test_stuck.py", "timeout": 3}),
        Step("followed", {"path": "test_steps.py"}),
    ]
    if cancelling:
        cancelled = Step("cancelled", {"path": "test_cancelled.py"}, until=str(root / "begun"))
        taken += [cancelled, Step("gone", {"path": "test_gone.py"})]
    return [asdict(step) for step in taken]
