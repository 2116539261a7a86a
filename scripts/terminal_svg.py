"""Draw the lines of a terminal as one animated SVG, in which they appear one after the other.

Each line has the moment at which it appears. A viewer without animation, or with reduced motion, shows all lines.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

COLUMN = 8.4
LINE = 19
MARGIN = 16
# The title bar with its three dots.
BAR = 26
BACKGROUND = "#14181f"
# Visible on a dark page.
BORDER = "#3d4550"
COLOURS = {
    "text": "#d7dce2",
    "faint": "#8b95a1",
    "red": "#f2777a",
    "green": "#8cc265",
    "yellow": "#e5b567",
    "blue": "#6aa9f0",
}


@dataclass(frozen=True)
class Span:
    text: str
    colour: str = "text"
    bold: bool = False


@dataclass(frozen=True)
class Line:
    spans: tuple[Span, ...]
    # In seconds from the beginning; lines of the moment 0 are always there.
    at: float = 0.0


def draw(lines: Sequence[Line], *, columns: int, seconds: float, title: str) -> str:
    """`seconds` is how long it takes until it begins again."""
    width, height = columns * COLUMN + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN + BAR
    moments = {at: f"m{number}" for number, at in enumerate(sorted({line.at for line in lines if line.at}))}
    texts = "".join(_line(line, number, moments.get(line.at)) for number, line in enumerate(lines))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">'
        f"<title>{escape(title)}</title><style>{_style(moments, seconds)}</style>"
        f'<rect x=".5" y=".5" width="{width - 1:.0f}" height="{height - 1}" rx="8"'
        f' fill="{BACKGROUND}" stroke="{BORDER}"/>{_bar()}{texts}</svg>\n'
    )


def _style(moments: dict[float, str], seconds: float) -> str:
    font = 'text{font:14px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre}'
    played = "".join(
        f"@keyframes {name}{{0%{{opacity:0}}{100 * at / seconds:.2f}%{{opacity:1}}}}"
        f".{name}{{animation:{name} {seconds:.1f}s step-end infinite}}"
        for at, name in moments.items()
    )
    return f"{font}{played}@media(prefers-reduced-motion:reduce){{g{{animation:none!important}}}}"


def _bar() -> str:
    return "".join(
        f'<circle cx="{MARGIN + 4 + 18 * index}" cy="{MARGIN + 2}" r="5" fill="{COLOURS[colour]}"/>'
        for index, colour in enumerate(("red", "yellow", "green"))
    )


def _line(line: Line, number: int, moment: str | None) -> str:
    y = MARGIN + BAR + (number + 1) * LINE - 5
    shown = "".join(_spans(line.spans, y))
    return f'<g class="{moment}">{shown}</g>' if shown and moment else shown


def _spans(spans: Iterable[Span], y: int) -> Iterable[str]:
    """Each placed by its column, because fonts differ in width."""
    column = 0
    for span in spans:
        words = span.text.strip(" ")
        if words:
            x = MARGIN + (column + len(span.text) - len(span.text.lstrip(" "))) * COLUMN
            weight = ' font-weight="bold"' if span.bold else ""
            place = f'x="{x:.1f}" y="{y}" textLength="{len(words) * COLUMN:.1f}"'
            yield f'<text {place} fill="{COLOURS[span.colour]}"{weight}>{escape(words, quote=False)}</text>'
        column += len(span.text)
