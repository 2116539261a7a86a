"""Scripts that use modules of the child, run by each Python that this machine has."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.environments import NoInterpreter, find_interpreter

CHILD = Path(__file__).parents[2] / "src" / "pytest_mcp" / "child"
OWN = "{}.{}".format(*sys.version_info)
VERSIONS = [OWN, "3.8", "3.12", "3.13"]


def printed(version: str, script: str, folder: Path) -> Any:
    """What the script prints as JSON. It is given the child's folder and this one as entries of its path."""
    try:
        python = Path(sys.executable) if version == OWN else find_interpreter(version)
    except NoInterpreter as error:
        pytest.skip(str(error))
    whole = f"import sys; sys.path[:0] = sys.argv[1:3]\n{script}"
    done = subprocess.run([python, "-c", whole, CHILD, folder], capture_output=True, text=True, check=False, cwd=folder)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)
