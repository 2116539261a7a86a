"""The report of `pytest-mcp investigate`, with the most important line last, where a terminal stops scrolling."""

from pytest_mcp.investigation.result import (
    KINDS_IN_WORDS,
    BrokenBy,
    InvestigateResult,
    Kind,
    Polluter,
    Suspect,
    sides_of,
)
from pytest_mcp.terminal.colours import Colour, Lines, Painter, lines_of_notices, spaced
from pytest_mcp.text import safe_line

_COLOURS: dict[Kind, Colour] = {"passes": "green", "inconclusive": "yellow"}
_EFFECTS = {"fails_after": "Fails after:", "fails_without": "Fails without:"}


def report_lines(result: InvestigateResult, painter: Painter, *, again: str | None) -> Lines:
    """`again` is the command that runs the failure again."""
    return spaced(
        [
            [safe_line(f"{each.kind}  {each.node_id}") for each in result.tests],
            [safe_line(line) for line in result.evidence],
            _broken_by(result.broken_by, painter),
            _suspects(result.suspects, painter),
            *reversed([_difference(result, place, painter) for place in range(len(result.first_difference))]),
            [] if result.polluter is None else _polluter(result.polluter, painter),
            lines_of_notices(result.notices, painter),
            [f"To run the failure again: {safe_line(again)}"] if again else [],
            [_closing(result, painter)],
        ]
    )


def _difference(result: InvestigateResult, number: int, painter: Painter) -> Lines:
    """In the order in which an answer has it."""
    found, sides = result.first_difference[number], sides_of(result.kind)
    width = len(max(sides, key=len))
    place = f"{found.function} ({found.file}:{found.line})"
    is_given_else = any(part.what.endswith(" before") for part in found.differs)
    place += "" if sides.is_same_code or is_given_else else f", given the same as {sides.base}"
    lines = [f"  given {found.arguments}" if found.arguments else "  given nothing"]
    for part in found.differs:
        both = zip(sides, (part.base, part.now), strict=True)
        lines += [f"  {part.what}:", *(f"    {side:{width}}  {value}" for side, value in both)]
    lines += [f"  {found.parts_at}" if found.parts_at else ""]
    lines += [f"  called by {found.called_by}" if found.called_by else "", *(f"  so {step}" for step in found.then)]
    title = painter.paint("Another difference:" if number else "First difference:", "bold")
    return [f"{title} {safe_line(place)}", *(safe_line(line) for line in lines if line)]


def _broken_by(broken: BrokenBy | None, painter: Painter) -> Lines:
    if broken is None:
        return []
    files = [f"  {file}" for file in broken.files]
    skipped = [f"Skipped: {', '.join(broken.skipped)}"] if broken.skipped else []
    title = painter.paint("Broken by:", "bold")
    return [f"{title} {safe_line(f'{broken.commit} {broken.subject}')}", *map(safe_line, [*files, *skipped])]


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
