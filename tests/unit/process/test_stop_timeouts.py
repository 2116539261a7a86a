"""The seconds that ending a run may take: one list for the supervisor and the server."""

import pytest

from pytest_mcp.process import stop_timeouts


def test_the_server_waits_for_every_step_that_the_supervisor_may_take_and_answers_within_five_seconds() -> None:
    steps = (
        stop_timeouts.GRACE_SECONDS
        + stop_timeouts.ABORT_SECONDS
        + stop_timeouts.SWEEP_SECONDS
        + stop_timeouts.DRAIN_SECONDS
    )

    assert steps < stop_timeouts.OVERTIME_SECONDS < 5
    assert steps - stop_timeouts.GRACE_SECONDS < stop_timeouts.INTERRUPTION_SECONDS - stop_timeouts.INTERRUPT_SECONDS


@pytest.mark.parametrize(
    ("before_the_deadline", "seconds"),
    [
        (240.0, stop_timeouts.UNHURRIED_SWEEP_SECONDS),
        (5.0, 5.0),
        (0.1, stop_timeouts.SWEEP_SECONDS),
        (0.0, stop_timeouts.SWEEP_SECONDS),
    ],
)
def test_processes_may_die_late_only_while_the_time_limit_has_not_come(
    before_the_deadline: float, seconds: float
) -> None:
    assert stop_timeouts.end_of_killing(100.0, 100.0 + before_the_deadline) == 100.0 + seconds
