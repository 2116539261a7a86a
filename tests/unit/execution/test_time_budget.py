"""The seconds that ending a run may take: one list for the supervisor and the server."""

from pytest_mcp.execution import time_budget


def test_the_server_waits_for_every_step_that_the_supervisor_may_take_and_answers_within_five_seconds() -> None:
    steps = (
        time_budget.GRACE_SECONDS + time_budget.ABORT_SECONDS + time_budget.SWEEP_SECONDS + time_budget.DRAIN_SECONDS
    )

    assert steps < time_budget.OVERTIME_SECONDS < 5
    assert steps - time_budget.GRACE_SECONDS < time_budget.INTERRUPTION_SECONDS - time_budget.INTERRUPT_SECONDS
