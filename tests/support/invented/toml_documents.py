"""TOML documents, most of them valid, with texts in them that look like tables."""

import tomllib

from hypothesis import strategies as st

HEADERS = ["[a]", "[[list]]", "[mcp_servers.other]", '[ mcp_servers . "x.y" ]', "[projects.'/p']", "[mcp_servers]  # c"]
LINES = [
    *("", "  ", "# words", "# [mcp_servers.pytest]", "x = 1 # c", 'y = "[mcp_servers.pytest]"', "z = '#'"),
    *(
        'm = """\n[mcp_servers.pytest]\nx = 1\n""""',
        "l = '''\n[a]\n'''''",
        "n = [\n  [1], # ]\n  [2],\n]",
        "k.a = {b = 1}",
    ),
]
END = st.sampled_from(["\n", "\r\n"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    parts = draw(st.lists(st.sampled_from(HEADERS + LINES), max_size=8, unique=True))
    text = "".join(part + draw(END) for part in parts)
    text += draw(st.sampled_from(["", "# last words", "last = 1"]))
    return text.replace("\r\n", "\n") if draw(st.booleans()) else text


def is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
