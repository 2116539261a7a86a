"""The program: `python -m pytest_mcp`, and the command `pytest-mcp`.

A client starts it in a project's folder, and that one's `json.py` must not be taken for Python's. So before anything
else is imported, the current folder goes from the places where Python looks.
"""

import os
import sys


def _leave_out_current_folder() -> None:
    """Take out what `-m` puts there without `-P`, and an empty entry of PYTHONPATH.

    `PYTHONPATH=$PYTHONPATH:/lib` has one where the variable was not set before; Python reads it as the current folder.
    """
    try:
        folder = os.getcwd()  # noqa: PTH109 - pathlib is not to be imported yet
    except OSError:
        return
    named = [os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]  # noqa: PTH100
    needed = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))), os.path.dirname(os.__file__)]  # noqa: PTH100, PTH120
    if folder not in (*named, *needed):
        sys.path[:] = [entry for entry in sys.path if entry not in ("", folder)]


_leave_out_current_folder()

from pytest_mcp.cli.main import main  # noqa: E402 - not before the line above

if __name__ == "__main__":
    sys.exit(main())
