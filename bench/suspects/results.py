"""What was measured, and the file that keeps it: one entry for each case."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

FILE = Path(__file__).with_name("results.json")
# Ends the name of a case whose suspects are measured: the same bug has its first difference under its own name.
NO_BASE = " without a base"


@dataclass(frozen=True)
class Entry:
    """`place` is that of the first faulty scope among those that are `named`; None if it is not among them.

    `plain` and `traced` are seconds: of CPU of the whole process where runs are compared, else of the tests alone.
    """

    date: str
    kind: str
    library: str
    holdout: bool
    faulty: tuple[str, ...]
    named: tuple[str, ...]
    place: int | None
    plain: float
    traced: float
    # Why nothing is named.
    problem: str | None = None
    # The words of a first difference: whether they have a faulty scope at all, and the changed line; how many tokens.
    is_named: bool = False
    is_line: bool = False
    tokens: int = 0
    # Of tests, until the commit that broke it was known.
    runs: int = 0

    @property
    def ratio(self) -> float | None:
        """None if there is nothing to compare: the tests could not be imported, or traced."""
        return self.traced / self.plain if self.plain and self.traced else None


_SHAPE = TypeAdapter(dict[str, Entry])


def load(file: Path = FILE) -> dict[str, Entry]:
    return _SHAPE.validate_json(file.read_bytes()) if file.exists() else {}


def save(entries: dict[str, Entry], file: Path = FILE) -> None:
    kept = _SHAPE.dump_json(dict(sorted(entries.items())), indent=1, exclude_defaults=True)
    # Whole or not at all: another measurement may read it.
    new = file.with_suffix(".new")
    new.write_bytes(kept + b"\n")
    new.replace(file)
