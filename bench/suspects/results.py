"""What was measured, and the file that keeps it: one entry for each bug."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Entry:
    """`rank` is the place of the function with the bug among the suspects; None if it is not among them.

    `plain` and `traced` are the seconds of the same tests, without and with tracing.
    """

    date: str
    library: str
    file: str
    function: str
    node_id: str
    failing: int
    tests: int
    rank: int | None
    suspects: tuple[str, ...]
    plain: float
    traced: float

    @property
    def ratio(self) -> float | None:
        """None if there is nothing to compare: the tests could not be imported."""
        return self.traced / self.plain if self.plain else None


_SHAPE = TypeAdapter(dict[str, Entry])


def load(file: Path = FILE) -> dict[str, Entry]:
    return _SHAPE.validate_json(file.read_bytes()) if file.exists() else {}


def save(entries: dict[str, Entry], file: Path = FILE) -> None:
    file.write_bytes(_SHAPE.dump_json(dict(sorted(entries.items())), indent=2) + b"\n")
