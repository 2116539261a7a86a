"""The entry point: `python -m pytest_mcp`, and the command `pytest-mcp`.

A client starts it in a project's folder, and a `json.py` there must not shadow the standard library's. So the current
folder is removed from sys.path before anything else is imported. Windows is refused here, before an import can fail.
"""

import os
import sys

if sys.platform == "win32":
    # For a person who tries it there, and for the log of a client that does.
    sys.stderr.write("pytest-mcp does not run on Windows itself; use WSL: install and start it in your distribution.\n")
    sys.exit(2)


def _remove_current_folder() -> None:
    """Remove the entry that `-m` adds without `-P`, and the one for an empty part of PYTHONPATH.

    `PYTHONPATH=$PYTHONPATH:/lib` has an empty part if the variable was not set; Python reads it as the current folder.
    """
    try:
        folder = os.getcwd()  # noqa: PTH109 - pathlib must not be imported yet
    except OSError:
        return
    named = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]  # noqa: PTH100
    needed = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.dirname(os.__file__)]  # noqa: PTH100, PTH120
    if folder not in (*named, *needed):
        sys.path[:] = [entry for entry in sys.path if entry not in ("", folder)]


_remove_current_folder()

from pytest_mcp.cli.main import main  # noqa: E402 - only after the lines above

if __name__ == "__main__":
    sys.exit(main())
