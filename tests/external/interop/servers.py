"""Our server on a wire: the command for a client that starts it itself, or the address of one that is running."""

import re
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.waiting import PATIENCE

# The one place that says which Python starts the server.
PYTHON = sys.executable
# The same as a command without arguments.
PROGRAM = Path(PYTHON).with_name("pytest-mcp")


def command(root: Path, python: Path, *flags: str) -> list[str]:
    return [PYTHON, "-m", "pytest_mcp", f"--root={root}", f"--python={python}", *flags]


@contextmanager
def serving(root: Path, python: Path, *flags: str) -> Iterator[str]:
    """The address of a server on HTTP, which ends with the block."""
    started = [*command(root, python, *flags), "--http", "0"]
    with subprocess.Popen(started, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        try:
            yield _address(server)
        finally:
            server.terminate()


def _address(server: "subprocess.Popen[str]") -> str:
    assert server.stderr is not None
    ready, _, _ = select.select([server.stderr], [], [], PATIENCE)
    said = server.stderr.readline() if ready else "nothing"
    found = re.search(r"http://\S+", said)
    assert found, f"the server should say where it listens, and says {said}"
    return found[0]
