"""The film in the README: what the calls came to is in it, and it can be shown everywhere."""

import re
from xml.etree import ElementTree as ET

from scripts.record_demo import shown
from scripts.terminal_svg import COLOURS, Line, Span, draw
from tests.support.paths import ROOT

SVG = "{http://www.w3.org/2000/svg}"
FILM = (ROOT / "docs" / "demo.svg").read_text(encoding="utf-8")


def texts(element: ET.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def test_every_span_is_drawn_at_its_column_in_its_colour() -> None:
    lines = [Line((Span("call  "), Span("<1 & 2>", "red"))), Line(()), Line((Span("   passed", "green"),))]

    drawn = list(ET.fromstring(draw(lines, columns=40, seconds=1, title="a run")).iter(f"{SVG}text"))

    assert [(text.text, text.get("fill")) for text in drawn] == [
        ("call", COLOURS["text"]),
        ("<1 & 2>", COLOURS["red"]),
        ("passed", COLOURS["green"]),
    ]
    x = [float(text.get("x", "")) for text in drawn]
    assert [round((each - x[0]) / 8.4, 1) for each in x] == [0, 6, 3]


def test_each_line_appears_at_its_moment_and_without_animation_all_are_there() -> None:
    lines = [Line((Span(name),), at) for name, at in (("a", 0.0), ("b", 1.0), ("c", 1.0), ("d", 4.0))]

    picture = ET.fromstring(draw(lines, columns=10, seconds=8, title=""))

    style = picture.findtext(f"{SVG}style") or ""
    hidden = [(group.get("class"), *texts(group)) for group in picture.iter(f"{SVG}g")]
    assert hidden == [("m0", "b"), ("m0", "c"), ("m1", "d")]
    assert [f"0%{{opacity:0}}{share}%{{opacity:1}}" in style for share in ("12.50", "50.00")] == [True, True]
    assert "prefers-reduced-motion:reduce){g{animation:none" in style
    assert "opacity" not in re.sub(r"@keyframes.*?\}\}", "", style)


def test_the_film_shows_the_cause_the_edit_and_that_it_passed() -> None:
    words = " ".join(texts(ET.fromstring(FILM)))

    found = [
        words.find(part)
        for part in ("execute_tests {}", "failed", "TypeError", "shop/cart.py:29", "- VAT", "+ VAT", "8 passed")
    ]
    assert -1 not in found
    assert found == sorted(found)


def test_the_first_frame_of_the_film_has_the_first_call_and_its_answer() -> None:
    picture = ET.fromstring(FILM)

    for group in picture.findall(f"{SVG}g"):
        picture.remove(group)

    first = texts(picture)
    assert first.count("execute_tests") == 1
    assert {"verdict", "failed", "traceback"} <= {*first}
    assert "passed" not in first


def test_the_film_is_small_and_needs_nothing_else() -> None:
    assert len(FILM) < 10_000
    assert not re.search(r"<script|<image|href|url\(", FILM)


def test_an_answer_that_passed_is_shown_in_two_lines() -> None:
    summary = {"failed": 0, "errors": 0, "passed": 3, "skipped": 1, "duration": 0.1234}

    rows = list(shown({"verdict": "passed", "summary": summary, "failure_groups": []}))

    assert [[span.text.strip() for span in row] for row in rows] == [
        ["verdict", "passed"],
        ["summary", "3 passed, 1 skipped in 0.12 s"],
    ]
