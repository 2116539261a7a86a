"""The seconds that ending a run may take: one list for the supervisor and the server."""

from pytest_mcp import overtime


def test_the_server_waits_for_every_step_that_the_supervisor_may_take_and_answers_within_five_seconds() -> None:
    steps = overtime.GRACE_SECONDS + overtime.ABORT_SECONDS + overtime.SWEEP_SECONDS + overtime.DRAIN_SECONDS

    assert steps < overtime.OVERTIME_SECONDS < 5
