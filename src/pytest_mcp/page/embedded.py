"""The page inside a client: the same as the file, in two parts.

Pure. `shell` is the document that a client loads once: style and script, and no result. `of_content` is one result as
JSON, which the script shows. Its HTML comes from the same templates as that of the file, as a tree: the script creates
elements and text nodes from it, so no text can become markup.
"""

import json
from html.parser import HTMLParser
from typing import Any

from pytest_mcp.page import data, document
from pytest_mcp.page.content import Content
from pytest_mcp.page.origin import Origin
from pytest_mcp.page.template import Markup, fill, source
from pytest_mcp.report import serialize

# Bytes for the sentences that say what was left out of the data.
LAST_NOTICES = 2_000
# Python's parser returns attributes in lower case; in SVG the case matters.
_CASED = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}

# A text, or [tag, attributes, child, …].
Node = str | list[Any]


def shell() -> str:
    script, style = Markup(f"{source('page.js')}\n{source('app.js')}"), source("page.css")
    return fill("app.html", policy=document.policy(script, style), style=style, script=script)


def of_content(content: Content, origin: Origin, *, created: str, most: int) -> dict[str, Any] | None:
    """None if it cannot be told in `most` bytes."""
    parts = document.sections(content, origin, created=created)
    # The script shows the causes from the data.
    parts["failures"] = document.failures(content, [])
    page = _page(parts) | {"rerun": serialize.safe(content.rerun)}
    room = most - _size(page) - LAST_NOTICES
    written = data.of_content(content, again=origin.again, most=room)
    parts["notices"] = document.notices(content.notices, written.left_out)
    page |= _page(parts) | {"data": json.loads(written.text)}
    return page if _size(page) <= most else None


def _page(parts: dict[str, Markup]) -> dict[str, list[Node]]:
    return {"banner": tree(parts["banner"]), "main": tree(document.main(parts)), "foot": tree(parts["foot"])}


def _size(page: dict[str, Any]) -> int:
    return len(data.escaped(page))


def tree(markup: Markup) -> list[Node]:
    """The elements and texts of complete HTML from templates."""
    parser = _Tree()
    parser.feed(markup)
    parser.close()
    return parser.children


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.children: list[Node] = []
        self.open: list[list[Node]] = [self.children]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element: list[Any] = [tag, {_CASED.get(name, name): value or "" for name, value in attrs}]
        self.open[-1].append(element)
        self.open.append(element)

    def handle_endtag(self, _tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        # Not the line breaks between the elements of a template.
        if data.strip() or "\n" not in data:
            self.open[-1].append(data)
