import re

import pytest

from pytest_mcp.page.template import FOLDER, Markup, fill

TEMPLATES = sorted(path.name for path in FOLDER.glob("*.html"))
PAGE = "page.html"
# The elements of these two that hold a script or a style.
WHOLE = {PAGE: ["$style", "$data", "$script"], "app.html": ["$style", "$script"]}
# Where a value may stand: as text between tags, or inside a quoted attribute.
ATTRIBUTE = re.compile(r'[\w-]+="[^"<>]*"')


@pytest.mark.parametrize("name", TEMPLATES)
def test_values_stand_in_text_and_in_quoted_attributes_only(name: str) -> None:
    """There html.escape is enough. Not in the names of tags and attributes, nor inside a script or a style."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    tags = [ATTRIBUTE.sub("", tag) for tag in re.findall(r"<[^>]*>", text)]

    assert [tag for tag in tags if "$" in tag] == []
    inside = re.findall(r"<(?:script|style)[^>]*>([^<]*)<", text)
    assert inside == WHOLE.get(name, [])


@pytest.mark.parametrize("name", TEMPLATES)
def test_no_attribute_with_a_value_is_one_that_a_browser_runs_or_fetches(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    filled = {found.partition("=")[0] for found in ATTRIBUTE.findall(text) if "$" in found}

    assert filled <= {"class", "id", "aria-labelledby", "x", "y", "width", "height", "viewBox", "content", "href"}
    assert ("href" in filled) == (name == PAGE)


@pytest.mark.parametrize("name", ["page.js", "app.js"])
def test_a_script_never_parses_text_as_markup_and_cannot_end_its_element(name: str) -> None:
    script = (FOLDER / name).read_text(encoding="utf-8")

    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "</", "<!--"):
        assert word not in script


def test_a_value_is_escaped_but_not_the_html_of_another_template() -> None:
    once = fill("notice.html", text="<b> & \"c\" 'd'")

    twice = fill("list.html", rows=[once])

    assert once == "<li>&lt;b&gt; &amp; &quot;c&quot; &#x27;d&#x27;</li>"
    assert once in twice
    assert isinstance(twice, Markup)


def test_a_template_with_a_value_missing_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill("notice.html")
