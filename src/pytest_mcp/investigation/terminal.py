"""The report of `pytest-mcp investigate`, with the most important line last, where a terminal stops scrolling."""

from pytest_mcp.investigation.result import KINDS_IN_WORDS, InvestigateResult, Kind, Polluter, Suspect
from pytest_mcp.terminal.colours import Colour, Lines, Painter, lines_of_notices, spaced
from pytest_mcp.text import safe_line

_COLOURS: dict[Kind, Colour] = {"passes": "green", "inconclusive": "yellow"}
_EFFECTS = {"fails_after": "Fails after:", "fails_without": "Fails without:"}


def report_lines(result: InvestigateResult, painter: Painter, *, again: str | None) -> Lines:
    """`again` is the command that runs the failure again."""
    return spaced(
        [
            [safe_line(line) for line in result.evidence],
            _suspects(result.suspects, painter),
            [] if result.polluter is None else _polluter(result.polluter, painter),
            lines_of_notices(result.notices, painter),
            [f"To run the failure again: {safe_line(again)}"] if again else [],
            [_closing(result, painter)],
        ]
    )


def _suspects(suspects: list[Suspect], painter: Painter) -> Lines:
    if not suspects:
        return []
    places = [f"  {each.file}:{each.line} in {each.function} ({each.score:.2f})" for each in suspects]
    return [painter.paint("Suspects:", "bold"), *map(safe_line, places)]


def _polluter(polluter: Polluter, painter: Painter) -> Lines:
    return [painter.paint(_EFFECTS[polluter.effect], "bold"), *(f"  {safe_line(name)}" for name in polluter.node_ids)]


def _closing(result: InvestigateResult, painter: Painter) -> str:
    kind = painter.paint(KINDS_IN_WORDS[result.kind], "bold", _COLOURS.get(result.kind, "red"))
    return f"{kind}; confidence {safe_line(result.confidence)}"
