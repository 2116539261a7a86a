"""The page inside a client: its document, and a result as JSON for it."""

import base64
import hashlib
import json
import re
from typing import Any

import pytest

from pytest_mcp.events.run import Run
from pytest_mcp.page import embedded
from pytest_mcp.page.template import FOLDER
from tests.support.page.pages import (
    CREATED,
    HOSTILE,
    ORIGIN,
    Seen,
    content_of,
    empty_run,
    hostile_run,
    huge_run,
    incomplete_run,
    mixed_run,
    rendered,
)

MEGABYTE = 1_000_000
RUNS = {"mixed": mixed_run, "empty": empty_run, "incomplete": incomplete_run, "hostile": hostile_run}


def page_of(run: Run[Any], most: int = MEGABYTE) -> dict[str, Any]:
    page = embedded.of_content(content_of(run), ORIGIN, created=CREATED, most=most)
    assert page is not None
    return page


def elements(nodes: list[Any]) -> list[tuple[str, dict[str, str]]]:
    found = [node for node in nodes if not isinstance(node, str)]
    return [each for tag, attributes, *inside in found for each in [(tag, attributes), *elements(inside)]]


def texts(nodes: list[Any]) -> list[str]:
    return [text for node in nodes for text in ([node] if isinstance(node, str) else texts(node[2:]))]


@pytest.mark.parametrize("name", RUNS)
def test_it_has_the_texts_of_the_file_outside_of_the_causes_and_the_same_data(name: str) -> None:
    page = page_of(RUNS[name]())
    seen = Seen(rendered(content_of(RUNS[name]())))

    told = texts([*page["banner"], *page["main"], *page["foot"]])

    # Python's parser gives the file's texts in the same pieces.
    assert set(told) <= set(seen.texts)
    assert page["data"] == seen.data
    assert page["rerun"] == content_of(RUNS[name]()).rerun or name == "hostile"


@pytest.mark.parametrize("name", RUNS)
def test_the_script_knows_every_element_and_attribute_of_it(name: str) -> None:
    """It creates no other: what it does not know is left out."""
    script = (FOLDER / "page.js").read_text(encoding="utf-8")
    svg, html, attributes = (
        re.compile(found) for found in re.findall(r"const (?:SVG|HTML|ATTRIBUTES) = /(\S+)/;", script)
    )
    page = page_of(RUNS[name]())

    made = elements([*page["banner"], *page["main"], *page["foot"]])

    assert {tag for tag, _ in made if not svg.search(tag) and not html.search(tag)} == set()
    assert {key for _, given in made for key in given if not attributes.search(key)} == set()
    dangerous = ["script", "style", "iframe", "a", "img", "form", "object", "onload", "href", "src", "srcdoc"]
    assert not any(pattern.search(word) for pattern in (svg, html, attributes) for word in dangerous)


def test_text_that_is_markup_stays_text() -> None:
    page = page_of(hostile_run())

    mixed = {tag for tag, _ in elements([*page_of(mixed_run())["main"]])}
    assert {tag for tag, _ in elements(page["main"])} <= mixed
    assert HOSTILE[2] in "".join(texts(page["main"]))


def test_a_large_run_stays_below_the_limit_and_says_what_was_left_out() -> None:
    page = page_of(huge_run(500, 100, text="x" * 500), most=100_000)

    assert 50_000 < len(json.dumps(page, separators=(",", ":"))) <= 100_000
    assert any("stays below its size limit" in text for text in texts(page["main"]))


def test_there_is_no_page_where_there_is_no_room_for_one() -> None:
    assert embedded.of_content(content_of(mixed_run()), ORIGIN, created=CREATED, most=3_000) is None


def test_the_document_allows_its_own_script_and_style_and_nothing_else() -> None:
    seen = Seen(embedded.shell())

    hashes = {tag: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for tag, _, text in seen.raw}

    assert sorted(tag for tag, *_ in seen.raw) == ["script", "style"]
    assert all(f"{tag}-src 'sha256-{value}';" in seen.policy for tag, value in hashes.items())
    assert "unsafe" not in seen.policy
    assert {name for name, _ in seen.values if name in {"src", "href"} or name.startswith("on")} == set()
