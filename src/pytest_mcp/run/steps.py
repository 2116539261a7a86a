"""How far a call of several runs is: the number of its steps so far, and the last of them in words. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Steps:
    finished: int
    words: str
    # Nobody knows how many there will be.
    selected: None = None
