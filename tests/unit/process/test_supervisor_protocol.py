"""What server and supervisor write to each other, and the seconds that ending a run may take."""

import pytest

from pytest_mcp.process import supervisor_protocol as protocol


@pytest.mark.parametrize("said", [b"", b"[]", b"{}", b"1", b'{"kind": "go", "time_limit": 1}', b"{}{}"])
def test_what_is_no_answer_is_refused(said: bytes) -> None:
    with pytest.raises(ValueError, match=r"not a message|Expecting value|Extra data"):
        protocol.decode_answer(said)


def test_the_server_answers_within_five_seconds() -> None:
    steps = protocol.GRACE_SECONDS + protocol.ABORT_SECONDS + protocol.SWEEP_SECONDS + protocol.DRAIN_SECONDS

    assert steps < protocol.OVERTIME_SECONDS < 5


@pytest.mark.parametrize(
    ("before_the_deadline", "seconds"),
    [
        (240.0, protocol.UNHURRIED_SWEEP_SECONDS),
        (5.0, 5.0),
        (0.1, protocol.SWEEP_SECONDS),
        (0.0, protocol.SWEEP_SECONDS),
    ],
)
def test_processes_may_die_late_only_while_the_time_limit_has_not_come(
    before_the_deadline: float, seconds: float
) -> None:
    assert protocol.end_of_killing(100.0, 100.0 + before_the_deadline) == 100.0 + seconds
