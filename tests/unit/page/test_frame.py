"""The HTML of a page as a parser sees it; `make page` looks at it in a real browser."""

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.page import frame
from pytest_mcp.page.frame import FOLDER
from pytest_mcp.text import safe
from tests.support.page.pages import HOSTILE, Seen, content_of, hostile_run, mixed_run, rendered

# Attributes whose value a browser runs or fetches.
ACTIVE = {"src", "action", "formaction", "style", "srcdoc", "data", "background", "poster"}
words = st.text(st.characters(codec=None), min_size=1, max_size=60).filter(str.strip)
PAGES = {"file": lambda: rendered(content_of(mixed_run())), "client": frame.resource}


@pytest.mark.parametrize("name", PAGES)
def test_the_only_script_and_the_only_style_are_those_whose_hash_the_policy_names(name: str) -> None:
    seen = Seen(PAGES[name]())
    active = {tag: text for tag, kind, text in seen.raw if kind is None}

    hashes = {tag: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for tag, text in active.items()}

    assert sorted(tag for tag, kind, _ in seen.raw if kind is None) == ["script", "style"]
    assert all(f"{tag}-src 'sha256-{value}';" in seen.policy for tag, value in hashes.items())
    assert "default-src 'none'" in seen.policy
    assert "unsafe" not in seen.policy


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_fetched_and_no_attribute_can_hold_code(name: str) -> None:
    seen = Seen(PAGES[name]())

    assert {name for name, _ in seen.values if name in ACTIVE or name.startswith("on")} == set()
    assert [value for name, value in seen.values if name == "href"] == ["#content"]


@given(words)
def test_no_plain_text_becomes_markup(text: str) -> None:
    shown = content_of(mixed_run())

    seen = Seen(rendered(shown, f"({text})"))

    assert seen.tags == Seen(rendered(shown, "x")).tags
    assert f"({safe(text)})" in "".join(seen.texts)


def test_a_hostile_run_adds_no_element_and_its_texts_are_data() -> None:
    mixed, hostile = (Seen(rendered(content_of(run), "".join(HOSTILE))) for run in (mixed_run(), hostile_run()))

    assert hostile.tags == mixed.tags
    assert [text for text in HOSTILE if not hostile.has_text(safe(text))] == []


@pytest.mark.parametrize("name", ["page.js", "app.js"])
def test_a_script_never_parses_text_as_markup_and_cannot_end_its_element(name: str) -> None:
    script = (FOLDER / name).read_text(encoding="utf-8")

    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "</", "<!--"):
        assert word not in script


@pytest.mark.parametrize("name", ["page.js", "app.js"])
def test_no_string_of_a_script_has_several_lines(name: str) -> None:
    """Indentation is left out, and so are lines that begin like a comment."""
    script = (FOLDER / name).read_text(encoding="utf-8")

    assert [line for line in script.splitlines() if len(re.findall(r"(?<!\\)`", line)) % 2] == []
