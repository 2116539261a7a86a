"""Settings of pytest and coverage that run fewer tests or demand less."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LoweredSetting:
    file: str
    line: int
    what: str
    before: str
    after: str
    is_strong: bool


def lowered(before: Mapping[str, str | None], now: Mapping[str, str | None]) -> Iterator[LoweredSetting]:
    del before, now
    yield from ()
