"""Runs of one test in a row: a letter for each, and above it a bar as high as the run took long.

Pure: results in, HTML out. Which runs are shown is decided in `past` and `investigation`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pytest_mcp.page.template import Markup, fill, short

# Of a bar and the step to the next one, as the template's viewBox counts.
WIDTH, STEP = 8, 10
HIGHEST, LOWEST = 20.0, 2.0
# The classes of page.css that have colours.
_KINDS = {"P": "passed", "F": "failed", "R": "failed", "E": "error", "C": "error", "H": "error", "S": "skipped"}
_MEANINGS = {
    "P": "passed",
    "F": "failed",
    "R": "passed only when a plugin repeated it",
    "E": "error",
    "C": "its file could not be collected",
    "H": "still running when its time was over",
    "S": "skipped",
    "?": "no outcome",
}


class Result(NamedTuple):
    letter: str
    # None if it is not known.
    seconds: float | None


def row(name: str, words: str, results: Sequence[Result]) -> Markup:
    return fill(
        "strip.html",
        name=short(name),
        words=words,
        box=f"0 0 {STEP * len(results)} {HIGHEST:.0f}",
        width=f"{len(results)}ch",
        bars=_bars(results),
        letters="".join(result.letter for result in results),
    )


def legend(rows: Sequence[Sequence[Result]]) -> str:
    """What the letters in these rows mean."""
    seen = {result.letter for results in rows for result in results}
    return ", ".join(f"{letter} {meaning}" for letter, meaning in _MEANINGS.items() if letter in seen)


def _bars(results: Sequence[Result]) -> list[Markup]:
    longest = max((result.seconds or 0.0 for result in results), default=0.0)
    return [_bar(place, result, longest) for place, result in enumerate(results)]


def _bar(place: int, result: Result, longest: float) -> Markup:
    share = (result.seconds or 0.0) / longest if longest else 0.0
    height = max(LOWEST, HIGHEST * share)
    kind = _KINDS.get(result.letter, "unknown")
    return fill("strip_bar.html", kind=kind, x=f"{STEP * place}", y=f"{HIGHEST - height:.1f}", height=f"{height:.1f}")
