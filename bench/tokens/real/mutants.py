"""The bugs that every run measures, and the file that keeps them; `search` has found them once."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from bench.tokens.real.mutation import Edit

FILE = Path(__file__).with_name("mutants.json")


@dataclass(frozen=True, order=True)
class Mutant:
    """`failing` is the number of failed tests when it was found, or of files that could not be imported."""

    library: str
    version: str
    file: str
    edit: Edit
    failing: int

    @property
    def name(self) -> str:
        return f"{self.library}-{Path(self.file).stem}-{self.edit.line}"


_SHAPE = TypeAdapter(list[Mutant])


def load(file: Path = FILE) -> list[Mutant]:
    return _SHAPE.validate_json(file.read_bytes()) if file.exists() else []


def save(mutants: list[Mutant], file: Path = FILE) -> None:
    file.write_bytes(_SHAPE.dump_json(mutants, indent=2) + b"\n")
