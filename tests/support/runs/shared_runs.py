"""One project that is written and run once, for all tests of a module that look at its answers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
import pytest

from tests.support.workbench import PYTESTS, Workbench

Answers = dict[str, Any]


def on_each(
    run: Callable[[Workbench], Awaitable[Answers]], environments: Sequence[str] = PYTESTS
) -> Callable[..., Answers]:
    """A fixture of the module: what this function returns for an empty project, once per pytest."""

    @pytest.fixture(scope="module", params=environments)
    def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Answers:
        root = tmp_path_factory.mktemp("shared") / "project"
        root.mkdir()
        return anyio.run(run, Workbench(root, request.param))

    return answers
