"""`cli/loading.py`, in a Python of its own: modules that are imported already cannot be imported otherwise."""

import subprocess
import sys

SOURCE = """
from pytest_mcp.cli.loading import loading
with loading():
    import pydantic
    class Order(pydantic.BaseModel): number: int
from pydantic.plugin import _loader
print(_loader.get_plugins(), Order(number="1").number, _loader.PYDANTIC_ENTRY_POINT_GROUP)
"""


def test_plugins_are_not_looked_for_and_all_else_of_their_loader_is_the_real_one() -> None:
    done = subprocess.run([sys.executable, "-c", SOURCE], capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("() 1 pydantic\n", "")
