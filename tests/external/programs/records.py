"""What was seen of each program, and the file that keeps it: one entry for each, whenever that was run last."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from tests.support.paths import ROOT

FILE = ROOT / "docs" / "clients.json"


@dataclass(frozen=True)
class Seen:
    """One call: what the server said, and what the model was shown of it."""

    # Of an error; None for a result.
    code: int | None
    # Which parts of the answer the model was shown.
    parts: tuple[str, ...]
    # Characters of the text block, or of the error as JSON.
    said: int
    shown: int


@dataclass(frozen=True)
class Wait:
    """How long the program waited for an answer; None if it still did after `tried` seconds."""

    tried: int
    seconds: int | None


@dataclass(frozen=True)
class Entry:
    version: str
    date: str
    # The version of the protocol that it asks for first, and with which method.
    protocol: str
    opening: str
    hands_on_variables: bool
    # Until the model has searched for them.
    hides_tools: bool
    # Tools that it runs without permission when nobody is there to be asked.
    runs_unasked: tuple[str, ...]
    # By the name of the call; then again, with errors as results.
    calls: dict[str, Seen]
    calls_with_results: dict[str, Seen]
    # Without a word from the server in between, and with progress every second.
    silent: Wait | None = None
    talking: Wait | None = None


Entries = dict[str, Entry]
_SHAPE = TypeAdapter(Entries)


def load(file: Path = FILE) -> Entries:
    return _SHAPE.validate_json(file.read_bytes()) if file.exists() else {}


def save(entries: Entries, file: Path = FILE) -> None:
    file.write_bytes(_SHAPE.dump_json(entries, indent=2) + b"\n")
