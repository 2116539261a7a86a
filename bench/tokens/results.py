"""What was counted, and the file that keeps it: one entry for each row, whenever that was counted last."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Entry:
    """`estimate` is the server's own, None where it makes none; `printed` is what pytest's words cost, by way."""

    date: str
    versions: str
    answer: int
    estimate: int | None
    printed: dict[str, int]
    complaints: tuple[str, ...] = ()


Results = dict[str, Entry]
_SHAPE = TypeAdapter(Results)


def load(file: Path = FILE) -> Results:
    return _SHAPE.validate_json(file.read_bytes()) if file.exists() else {}


def save(results: Results, file: Path = FILE) -> None:
    file.write_bytes(_SHAPE.dump_json(results, indent=2) + b"\n")
