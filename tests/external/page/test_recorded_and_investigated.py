"""`make page`: recorded runs on a page, and the page of an investigation, in a real Chromium."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_mcp.page import sections
from pytest_mcp.page.content import Content
from tests.support.page.browser import LOOKS, Open
from tests.support.page.pages import (
    HOSTILE,
    content_of,
    hostile_run,
    investigated,
    mixed_run,
    rendered_investigation,
)

pytestmark = pytest.mark.external(target="page")

MOST_RUNS = {"alone": [("F", 0.3)] * 50}
LETTERS = "PPPFPPSPPPEPPPPPPPPFPPPPPFFFF"


def with_past(content: Content) -> Content:
    results = [(letter, 0.1 + number % 7 / 10) for number, letter in enumerate(LETTERS)]
    return replace(content, past=dict.fromkeys(sections.recorded_ids(content), results))


PAGES: dict[str, Callable[[], Content | str]] = {
    "recorded": lambda: with_past(content_of(mixed_run())),
    "recorded, hostile": lambda: with_past(content_of(hostile_run())),
    "investigated": lambda: rendered_investigation(replace(investigated(), runs=MOST_RUNS)),
    "investigated, hostile": lambda: rendered_investigation(investigated("".join(HOSTILE))),
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_no_barrier_and_nothing_is_wider_than_the_screen(show: Open, name: str, look: str) -> None:
    opened = show(PAGES[name](), **LOOKS[look])

    wider = opened.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    assert opened.violations() == []
    assert wider == 0


def test_each_bar_is_as_wide_as_its_letter_and_as_high_as_the_run_took_long(show: Open) -> None:
    opened = show(with_past(content_of(mixed_run())))
    row = opened.page.locator(".strips li").first

    drawn, letters = row.locator("svg").bounding_box(), row.locator("code").bounding_box()
    heights = [float(each.get_attribute("height")) for each in row.locator("rect").all()]

    assert row.locator("code").text_content() == f"{LETTERS}F"
    assert abs(drawn["width"] - letters["width"]) < 1
    assert drawn["x"] == letters["x"]
    assert len(heights) == len(LETTERS) + 1
    assert max(heights) == 20
    colours = row.locator("rect").evaluate_all("(bars) => bars.map((bar) => getComputedStyle(bar).fill)")
    assert len({*zip(f"{LETTERS}F", colours, strict=True)}) == len(set(LETTERS))


def test_what_an_investigation_found_can_be_copied(show: Open) -> None:
    found = investigated("test_x[a b]")
    opened = show(rendered_investigation(found))
    ids = ["tests/test_a.py::test_x[a b]", found.node_id]

    for number, text in enumerate([f"pytest-mcp run '{ids[0]}' '{ids[1]}'", json.dumps({"node_ids": ids})]):
        opened.page.locator(".copyable").nth(number).get_by_role("button", name="Copy").click()
        assert opened.copied() == text
    assert opened.page.locator(".causes > .cause").count() == 1
    assert opened.page.locator("#suspects rect").count() == 2


def test_hostile_text_of_an_investigation_runs_nothing(show: Open) -> None:
    opened = show(rendered_investigation(investigated("".join(HOSTILE))))

    assert opened.page.title() == "Depends on the order of the tests · shop"
    assert opened.page.locator("body script, body img, body style, body iframe").count() == 2
