"""Lines that can be pasted into a shell in the root."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.python import shell
from tests.support.projects.disk import lay

WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_a_shell_reads_the_words_that_were_meant(words: list[str]) -> None:
    line = shell.line([["true"], ["printf", "%s\\0", *words]])

    said = subprocess.run(["sh", "-c", line], capture_output=True, check=True).stdout

    assert said.decode().split("\0")[:-1] == words


@pytest.mark.parametrize(
    ("path", "shown"),
    [("/p/a b/c", "a b/c"), ("/p/-a/b", "./-a/b"), ("/other/c", "/other/c"), ("/pp/c", "/pp/c"), ("/p", ".")],
)
def test_a_path_is_typed_as_it_is_seen_from_the_root(path: str, shown: str) -> None:
    assert shell.shown(Path(path), Path("/p")) == shown


def test_room_is_made_only_where_something_lies_and_what_lies_there_keeps_its_content(tmp_path: Path) -> None:
    lay(tmp_path, {"a/.venv/file": "first"})
    (tmp_path / "a/.venv-broken").symlink_to("nowhere")

    steps = shell.aside(tmp_path / "a/.venv", tmp_path)
    subprocess.run(["sh", "-c", shell.line(steps)], cwd=tmp_path, check=True)

    assert (tmp_path / "a/.venv-broken-2/file").read_text(encoding="utf-8") == "first"
    assert shell.aside(tmp_path / "a/.venv", tmp_path) == []
