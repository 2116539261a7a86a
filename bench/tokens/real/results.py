"""What was measured on the real bugs, and the file that keeps it: one entry for each mutant and for each pair."""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from bench.tokens.real.evidence import Share

FILE = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Other:
    """Another tool's text: what it costs, and which of the same lines it has."""

    tokens: int
    evidence: Share


@dataclass(frozen=True)
class Entry:
    """`evidence` are `E` lines of our examples, `differing` what differs in their comparisons: how many we show.

    `shows_fault` says whether the first example goes through the faulty file; None where no failure does.
    """

    date: str
    versions: str
    library: str
    failing: int
    tokens: int
    groups: int
    examples: int
    cuts: int
    evidence: Share
    differing: Share
    shows_fault: bool | None
    others: dict[str, Other]
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Two bugs of one library at once. `merged` are the groups that hold failures of both; `untold` are failures
    whose group is not told.
    """

    library: str
    groups: int
    merged: tuple[str, ...]
    untold: int


@dataclass(frozen=True)
class Results:
    mutants: dict[str, Entry] = field(default_factory=dict)
    pairs: dict[str, Pair] = field(default_factory=dict)


_SHAPE = TypeAdapter(Results)


def load(file: Path = FILE) -> Results:
    return _SHAPE.validate_json(file.read_bytes()) if file.exists() else Results()


def save(results: Results, file: Path = FILE) -> None:
    file.write_bytes(_SHAPE.dump_json(results, indent=2) + b"\n")
