"""Notices on `changed`: such an answer never reads like one about the whole suite."""

from dataclasses import replace

import pytest

from pytest_mcp.api.reach import Reach
from pytest_mcp.report.notices import changes, whole_run
from pytest_mcp.run.events import Deselected, Unreached
from tests.support.invented.records import discovery, green, session
from tests.support.invented.records import execution as executed

HUB = "src/click/__init__.py imports every module"
REACH = Reach("main", 5, ("a.py",), ("b.py",), hub=HUB)
ONE = green("a.py::test_a")


@pytest.mark.parametrize(
    ("reach", "told", "sentence"),
    [
        (
            REACH,
            [Unreached(949)],
            "changed since main: 1 of 950 tests can be reached (5 files changed); not a run of the whole suite.",
        ),
        (
            replace(REACH, changed=1),
            [Unreached(1)],
            "changed since main: 1 of 2 tests can be reached (1 file changed); not a run of the whole suite.",
        ),
        (
            replace(REACH, always=("tests/test_tool.py (starts processes)", "b.py (looks for files)")),
            [Unreached(3)],
            (
                "changed since main: 1 of 4 tests can be reached (5 files changed); not a run of the whole suite."
                " Every change reaches tests/test_tool.py (starts processes), b.py (looks for files)."
            ),
        ),
        (REACH, [Unreached(0)], f"changed since main: everything, because {HUB}."),
        (
            replace(REACH, reason="uv.lock changed, and any test may use it"),
            [Unreached(0)],
            "changed since main: everything, because uv.lock changed, and any test may use it.",
        ),
        (
            REACH,
            [],
            "changed since main: everything, because pytest-xdist's workers chose the tests themselves.",
        ),
    ],
)
def test_the_share_or_the_reason_is_said(reach: Reach, told: list[Unreached], sentence: str) -> None:
    assert changes.of_run(replace(executed([*ONE, *told]), reach=reach)) == [sentence]


def test_without_changed_nothing_is_said() -> None:
    assert changes.of_run(executed(ONE)) == []


def test_a_discovery_is_no_run() -> None:
    (sentence,) = changes.of_run(replace(discovery([*ONE, Unreached(3)]), reach=REACH))

    assert sentence.endswith("1 of 4 tests can be reached (5 files changed); not the whole suite.")


def test_tests_that_cannot_be_reached_are_not_said_to_be_deselected_by_the_project() -> None:
    run = executed(session(Deselected(7, None), Unreached(7), selected=0, exit_status=5), code=5, changed=True)

    found = whole_run.of_execution(replace(run, reach=REACH))

    assert found == ["changed since main: 0 of 7 tests can be reached (5 files changed); not a run of the whole suite."]
