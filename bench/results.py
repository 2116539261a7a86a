"""The measured values and their file: one entry for each row, from its last measurement."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from bench.rounds import Spread

FILE = Path(__file__).with_name("results.json")
Unit = Literal["s", "MB"]


@dataclass(frozen=True)
class Figure:
    """One variant of a row. If a row has several sizes of suites, there is one for each, perhaps with a ratio."""

    of: str
    unit: Unit
    rounds: int
    spread: Spread
    size: int | None = None
    ratio: Spread | None = None


@dataclass(frozen=True)
class Measurement:
    """`result` is compared with the goal: a ratio, or a difference in the unit of the figures."""

    figures: tuple[Figure, ...]
    result: Spread | None = None


@dataclass(frozen=True)
class Entry:
    date: str
    machine: str
    measurement: Measurement


Results = dict[str, Entry]
_SHAPE = TypeAdapter(Results)


def load(file: Path = FILE) -> Results:
    return _SHAPE.validate_json(file.read_bytes()) if file.exists() else {}


def save(results: Results, file: Path = FILE) -> None:
    file.write_bytes(_SHAPE.dump_json(results, indent=2) + b"\n")
