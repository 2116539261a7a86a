"""The counts and their file: one entry for each row, from its last count."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Entry:
    """`estimate` is the server's, None if it has none; `printed` has the tokens of pytest's output by command."""

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
