"""The film in the README tells the whole story, and can be shown everywhere."""

import re
from xml.etree import ElementTree as ET

from tests.support.paths import ROOT

FILM = (ROOT / "docs" / "demo.svg").read_text(encoding="utf-8")


def test_the_film_shows_the_cause_the_edit_and_that_it_passed() -> None:
    words = " ".join(text.text or "" for text in ET.fromstring(FILM).iter("{http://www.w3.org/2000/svg}text"))

    places = [words.find(part) for part in ("execute_tests {}", "failed", "TypeError", "- VAT", "+ VAT", "8 passed")]

    assert -1 not in places
    assert places == sorted(places)


def test_the_film_needs_nothing_else() -> None:
    assert not re.search(r"<script|<image|href|url\(", FILM)
