"""What is added to an answer may raise or hang; the call only loses it, and one sentence says so."""

import threading
from collections.abc import Callable, Iterator

import anyio
import pytest

from pytest_mcp.process.additions import awaited, collected, made, spared
from pytest_mcp.process.background import in_thread


@pytest.fixture
def hang() -> Iterator[Callable[[], str]]:
    released = threading.Event()
    yield lambda: str(released.wait())
    released.set()


def fail() -> str:
    raise ValueError


async def test_what_raises_or_takes_too_long_is_left_out_and_told_in_one_sentence(hang: Callable[[], str]) -> None:
    with collected() as left_out:
        assert made("page", hang, instead="nothing", seconds=0.01) == "nothing"
        assert await awaited("coverage", in_thread(fail), instead="nothing") == "nothing"
        await awaited("progress", anyio.sleep_forever(), instead=None, seconds=0.01)
        with spared("notices"):
            raise SystemExit

    (notice,) = left_out.notices
    reasons = {"page": "took longer than 0.01 s", "coverage": "ValueError"}
    assert left_out.reasons == reasons | {"progress": "took longer than 0.01 s", "notices": "SystemExit"}
    assert all(f"{name} ({why})" in notice for name, why in left_out.reasons.items())


async def test_a_thread_of_a_call_notes_what_it_loses_for_this_call_alone() -> None:
    with collected() as one:
        await in_thread(lambda: made("page", fail, instead=""))
    with collected() as other:
        pass

    assert (list(one.reasons), list(other.reasons)) == (["page"], [])


async def test_a_cancelled_call_is_cancelled() -> None:
    with collected() as left_out, anyio.move_on_after(0.01) as scope:
        await awaited("progress", anyio.sleep_forever(), instead=None)

    assert scope.cancelled_caught
    assert left_out.notices == []
