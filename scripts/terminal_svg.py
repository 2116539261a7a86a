"""Draw screens of a terminal as one animated SVG.

In come frames of styled cells, each with its duration; out comes the text of the image. Pure. The frames are drawn
side by side and the animation steps along them. A line that several frames share is defined once.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import accumulate, groupby

COLUMN = 8.4
LINE = 19
MARGIN = 14
# The title bar with its three dots.
BAR = 26
BACKGROUND = "#14181f"
FOREGROUND = "#d7dce2"
COLOURS = {
    "black": "#5c6370",
    "red": "#f2777a",
    "green": "#8cc265",
    "brown": "#e5b567",
    "blue": "#6aa9f0",
    "magenta": "#c98bdb",
    "cyan": "#5fc0cc",
    "white": "#d7dce2",
    "default": FOREGROUND,
}


@dataclass(frozen=True)
class Cell:
    character: str
    colour: str = "default"
    bold: bool = False
    faint: bool = False

    @property
    def style(self) -> tuple[str, bool, bool]:
        return self.colour, self.bold, self.faint


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Frame:
    rows: tuple[Row, ...]
    seconds: float


def draw(frames: Sequence[Frame], *, columns: int, title: str) -> str:
    lines = max(len(frame.rows) for frame in frames)
    width, height = columns * COLUMN + 2 * MARGIN, lines * LINE + 2 * MARGIN + BAR
    shared = {row: f"r{index}" for index, row in enumerate(dict.fromkeys(row for f in frames for row in f.rows if row))}
    definitions = "".join(f'<g id="{name}">{_text(row)}</g>' for row, name in shared.items())
    film = "".join(_placed(frame, index * width, shared) for index, frame in enumerate(frames))
    total = sum(frame.seconds for frame in frames)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img" xml:space="preserve">'
        f"<title>{escape(title)}</title><style>{_steps(frames, width, total)}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>{_bar()}'
        f"<defs>{definitions}</defs>"
        f'<svg x="{MARGIN}" y="{MARGIN + BAR}" width="{columns * COLUMN:.0f}" height="{lines * LINE}">'
        f'<g class="film">{film}</g></svg></svg>\n'
    )


def _steps(frames: Sequence[Frame], width: float, total: float) -> str:
    begins = [0.0, *accumulate(frame.seconds for frame in frames)][: len(frames)]
    keys = "".join(
        f"{100 * begin / total:.3f}%{{transform:translateX({-index * width:.1f}px)}}"
        for index, begin in enumerate(begins)
    )
    text = 'text{font:14px ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace;white-space:pre}'
    still = "@media(prefers-reduced-motion:reduce){.film{animation:none;transform:translateX("
    return (
        f"{text}@keyframes play{{{keys}}}.film{{animation:play {total:.1f}s step-end infinite}}"
        f"{still}{-(len(frames) - 1) * width:.1f}px)}}}}"
    )


def _bar() -> str:
    return "".join(
        f'<circle cx="{MARGIN + 4 + 18 * index}" cy="{MARGIN + 2}" r="5" fill="{colour}"/>'
        for index, colour in enumerate(("#f2777a", "#e5b567", "#8cc265"))
    )


def _placed(frame: Frame, x: float, shared: dict[Row, str]) -> str:
    uses = "".join(
        f'<use href="#{shared[row]}" y="{(index + 1) * LINE - 5}"/>' for index, row in enumerate(frame.rows) if row
    )
    return f'<g transform="translate({x:.1f})">{uses}</g>'


def _text(row: Row) -> str:
    """One element for each run of one style, placed by column, because fonts differ in the width of some characters."""
    column, parts = 0, []
    for style, cells in groupby(row, key=lambda cell: cell.style):
        words = "".join(cell.character for cell in cells)
        if words.strip():
            colour, bold, faint = style
            more = (' font-weight="bold"' if bold else "") + (' opacity="0.6"' if faint else "")
            fill = COLOURS.get(colour, f"#{colour}")
            parts.append(
                f'<text x="{column * COLUMN:.1f}" textLength="{len(words) * COLUMN:.1f}" fill="{fill}"{more}>'
                f"{escape(words, quote=False)}</text>"
            )
        column += len(words)
    return "".join(parts)
