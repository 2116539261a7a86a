"""JSON documents with comments, as people and programs write them."""

import json
from typing import Any

from hypothesis import strategies as st

from pytest_mcp.cli.setup.editing.jsonc_edit import read

# Few, so that they meet each other and the keys of the path.
NAMES = st.sampled_from(["mcpServers", "pytest", "other", "a\nb", 'q"', "ключ", ""])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
COMMENTS = st.sampled_from(["// one, two\n", "/* { */", "/* a\n b */", '// "x": 1\r\n', "/**/", "//\n"])
SPACES = st.text(alphabet=" \t\n", max_size=3) | st.sampled_from(["\r\n", "\r\n\t", "\n  "])
TRIVIA = st.lists(SPACES | COMMENTS, max_size=2).map("".join)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Any object, as a person may have written it: comments, trailing commas and white space anywhere."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            return block("{}", [f"{json.dumps(key)}{space()}:{space()}{written(each)}" for key, each in value.items()])
        if isinstance(value, list):
            return block("[]", [written(each) for each in value])
        return json.dumps(value)

    def block(brackets: str, items: list[str]) -> str:
        inside = ",".join(space() + item + space() for item in items)
        trailing = "," + space() if draw(st.booleans()) and items else ""
        return brackets[0] + (inside + trailing if items else space()) + brackets[1]

    def space() -> str:
        return draw(TRIVIA)

    return space() + written(draw(OBJECTS)) + space()


@st.composite
def layouts(draw: st.DrawFn) -> str:
    """Any object as programs write it."""
    indent = draw(st.sampled_from([None, 2, 4, "\t"]))
    text = json.dumps(draw(OBJECTS), indent=indent, ensure_ascii=False) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


def has_room(text: str) -> bool:
    """Whether there is an object, or nothing, where the servers belong, and not yet one of ours."""
    servers = read(text).get("mcpServers", {})
    return isinstance(servers, dict) and "pytest" not in servers
