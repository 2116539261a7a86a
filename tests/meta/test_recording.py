"""The moving picture: what the terminal showed is in it, and it is an image that can be shown."""

from xml.etree import ElementTree as ET

from scripts.terminal_svg import COLOURS, Cell, Frame, draw
from tests.support.paths import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def cells(text: str, colour: str = "default") -> tuple[Cell, ...]:
    return tuple(Cell(character, colour) for character in text)


def test_every_frame_is_drawn_and_a_line_that_frames_share_only_once() -> None:
    shared, own = cells("$ run"), cells("<1 & 2> failed", "red")
    frames = [Frame((shared,), 1.0), Frame((shared, (), own), 2.0)]

    picture = ET.fromstring(draw(frames, columns=40, title="a run"))

    texts = [(text.text, text.get("fill")) for text in picture.iter(f"{SVG}text")]
    assert texts == [("$ run", COLOURS["default"]), ("<1 & 2> failed", COLOURS["red"])]
    assert len(list(picture.iter(f"{SVG}use"))) == 3


def test_the_film_shows_each_frame_from_its_own_time_on_and_ends_with_its_last() -> None:
    frames = [Frame((cells(name),), seconds) for name, seconds in (("a", 1.0), ("b", 3.0), ("c", 4.0))]

    style = ET.fromstring(draw(frames, columns=10, title="")).findtext(f"{SVG}style") or ""

    assert [f"{share}%{{transform" in style for share in ("0.000", "12.500", "50.000")] == [True, True, True]
    assert "8.0s step-end infinite" in style


def test_the_picture_of_the_readme_shows_the_three_commands_and_where_they_led() -> None:
    picture = ET.parse(ROOT / "docs" / "demo.svg")

    words = " ".join(text.text or "" for text in picture.iter(f"{SVG}text"))

    assert all(
        line in words for line in ("$ pytest-mcp doctor", "Ready: 8 tests", "failed: 3 failed", "passed: 8 passed")
    )
