"""What is shown of suspects. How they are found is tested on real runs."""

from pathlib import Path

import anyio
import pytest

from pytest_mcp.changed.differences import Lines
from pytest_mcp.config.model import Options, configure
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.investigation.suspects import in_time, suspects_of
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run.attempt import Deadline
from pytest_mcp.run.events import Executed
from pytest_mcp.text import LONGEST_NAME
from tests.support.invented.records import execution, one_test, phase, session
from tests.support.waiting import PATIENCE

TEST = "test_shop.py::test_it"


def test_names_that_the_child_tells_are_one_line_of_limited_length() -> None:
    """A test can give a code object any name, and write records itself."""
    executed = Executed(TEST, {"shop\x1b[31m.py" + 9_999 * "y": [["price\n" + 9_999 * "x", "1-3"]]}, [], complete=True)

    (found,) = suspects_of(execution(session(one_test(TEST, phase(TEST)), executed, selected=1)), TEST, {})

    assert max(len(found.file), len(found.function)) <= 2 * LONGEST_NAME
    assert "\n" not in found.function
    assert "\x1b" not in found.file


@pytest.mark.anyio
async def test_git_that_hangs_does_not_outlast_the_deadline(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("PEN = 1\n", encoding="utf-8")
    config = configure(Options(root=str(tmp_path)), {})

    async def hanging() -> Lines:
        await anyio.sleep_forever()
        return {}

    runner = Runner(config, Candidate(Path("python"), ""), Deadline.after(0))

    with anyio.fail_after(PATIENCE):
        found = await in_time(runner, hanging)

    assert found == {}
