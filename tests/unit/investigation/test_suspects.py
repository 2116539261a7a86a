"""What is shown of suspects. How they are found is tested on real runs."""

from pytest_mcp.events.spectrum import Executed
from pytest_mcp.investigation.suspects import of_run
from pytest_mcp.text import LONGEST_NAME
from tests.support.records import execution, one_test, phase, session

TEST = "test_shop.py::test_it"


def test_names_that_the_child_tells_are_one_line_of_limited_length() -> None:
    """A test can give a code object any name, and write records itself."""
    executed = Executed(TEST, {"shop\x1b[31m.py" + 9_999 * "y": [["price\n" + 9_999 * "x", "1-3"]]}, [], complete=True)

    (found,) = of_run(execution(session(one_test(TEST, phase(TEST)), executed, selected=1)), TEST, {})

    assert max(len(found.file), len(found.function)) <= 2 * LONGEST_NAME
    assert "\n" not in found.function
    assert "\x1b" not in found.file
