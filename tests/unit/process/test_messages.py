"""What server and supervisor write to each other."""

import pytest

from pytest_mcp.process.messages import (
    Answer,
    Go,
    Interrupt,
    NotStarted,
    decode_answer,
    decode_order,
    encode,
)

GO: Go = {"kind": "go", "time_limit": 1.5}
INTERRUPT: Interrupt = {"kind": "interrupt"}
NOT_STARTED: NotStarted = {"kind": "not_started", "message": "no such file", "errno": 2}


def test_a_message_is_one_line_and_comes_back_as_it_was() -> None:
    answer: Answer = NOT_STARTED

    assert encode(GO).count(b"\n") == 1
    assert [decode_order(encode(order)) for order in (GO, INTERRUPT)] == [GO, INTERRUPT]
    assert decode_answer(encode(answer)) == answer


@pytest.mark.parametrize("said", [b"", b"[]", b"{}", b"1", b'{"kind": "go", "time_limit": 1}', b"{}{}"])
def test_what_is_no_answer_is_refused(said: bytes) -> None:
    with pytest.raises(ValueError, match=r"not a message|Expecting value|Extra data"):
        decode_answer(said)
