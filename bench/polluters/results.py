"""What was measured, and the file that keeps it: one entry for each planted test."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Entry:
    """`broken` is how many tests of the suite the leak breaks, `victim` the one that was investigated.

    `found` are the tests that the answer names, `runs` how many runs were started to find them.
    """

    date: str
    library: str
    leak: str
    target: str
    tests: int
    broken: int
    planted: str
    victim: str
    kind: str
    found: tuple[str, ...]
    runs: int
    seconds: float

    @property
    def is_right(self) -> bool:
        return self.kind == "order_dependent" and self.found == (self.planted,)


_SHAPE = TypeAdapter(dict[str, Entry])


def load(file: Path = FILE) -> dict[str, Entry]:
    return _SHAPE.validate_json(file.read_bytes()) if file.exists() else {}


def save(entries: dict[str, Entry], file: Path = FILE) -> None:
    file.write_bytes(_SHAPE.dump_json(dict(sorted(entries.items())), indent=2) + b"\n")
