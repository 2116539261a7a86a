"""Templates with escaping: the files in `templates`, filled in.

In come the name of a template and values; out comes HTML. Every value is cut to a limit and escaped, unless it is the
HTML of another template. Values may stand in text and in quoted attributes only; a test checks this for every template.
"""

import html
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from string import Template

from pytest_mcp.text import cut_middle, safe

# In characters, before they are escaped.
LONGEST_VALUE = 8_000
LONGEST_NAME = 500
FOLDER = Path(__file__).parent / "templates"


class Markup(str):
    """HTML, script or style that is complete: it is not escaped again."""

    __slots__ = ()


Value = str | int | Iterable[Markup]


def fill(name: str, /, **values: Value) -> Markup:
    return Markup(Template(source(name)).substitute({key: _markup(value) for key, value in values.items()}))


def short(name: str) -> str:
    return cut_middle(name, LONGEST_NAME, separator=" ")


@cache
def source(name: str) -> Markup:
    return Markup((FOLDER / name).read_text(encoding="utf-8").rstrip("\n"))


def _markup(value: Value) -> str:
    if isinstance(value, Markup):
        return value
    if isinstance(value, str | int):
        return html.escape(cut_middle(safe(str(value)), LONGEST_VALUE))
    return "\n".join(value)
