"""How tests start the server: its command line, the SDK's parameters for it, and one that serves on HTTP."""

import re
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mcp import StdioServerParameters

from tests.support.waiting import PATIENCE

# The one place that says which Python starts the server.
PYTHON = sys.executable
# The same as a command without arguments.
PROGRAM = Path(PYTHON).with_name("pytest-mcp")


def command(root: Path, python: Path | None = None, *flags: str) -> list[str]:
    chosen = [] if python is None else [f"--python={python}"]
    return [PYTHON, "-m", "pytest_mcp", f"--root={root}", *chosen, *flags]


def parameters(
    root: Path, python: Path, *flags: str, environment: Mapping[str, str] | None = None
) -> StdioServerParameters:
    """For a client of the SDK, which starts the server itself. It waits for no server of another test."""
    program, *arguments = command(root, python, *flags)
    return StdioServerParameters(
        command=program, args=arguments, env={"PYTEST_MCP_NO_SHARE": "1", **(environment or {})}
    )


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
    assert found, f"the server should print its address, but printed {said}"
    return found[0]
