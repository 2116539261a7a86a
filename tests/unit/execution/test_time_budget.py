"""The seconds that ending a run may take: one list for the supervisor and the server."""

import pytest

from pytest_mcp.execution import time_budget


def test_the_server_waits_for_every_step_that_the_supervisor_may_take_and_answers_within_five_seconds() -> None:
    steps = (
        time_budget.GRACE_SECONDS + time_budget.ABORT_SECONDS + time_budget.SWEEP_SECONDS + time_budget.DRAIN_SECONDS
    )

    assert steps < time_budget.OVERTIME_SECONDS < 5
    assert steps - time_budget.GRACE_SECONDS < time_budget.INTERRUPTION_SECONDS - time_budget.INTERRUPT_SECONDS


@pytest.mark.parametrize(
    ("before_the_deadline", "seconds"),
    [
        (240.0, time_budget.UNHURRIED_SWEEP_SECONDS),
        (5.0, 5.0),
        (0.1, time_budget.SWEEP_SECONDS),
        (0.0, time_budget.SWEEP_SECONDS),
    ],
)
def test_processes_may_die_late_only_while_the_time_limit_has_not_come(
    before_the_deadline: float, seconds: float
) -> None:
    assert time_budget.end_of_killing(100.0, 100.0 + before_the_deadline) == 100.0 + seconds
