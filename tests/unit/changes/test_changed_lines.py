"""Which lines differ from the base."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.reach import ChangedLines
from pytest_mcp.changes import changed_lines
from pytest_mcp.changes.changed_lines import added, changed
from tests.support.projects.checkouts import Checkout

texts = st.lists(st.sampled_from("abc"), max_size=8).map("\n".join)


def test_new_and_replaced_lines_are_changed_and_the_line_behind_a_deleted_one() -> None:
    before = "a\nb\nc\nd\ne\n"

    assert changed(before, before) == set()
    assert changed(before, "a\nx\nc\nd\ne\n") == {2}
    assert changed(before, "a\nb\nx\ny\nc\nd\ne\n") == {3, 4}
    assert changed(before, "a\nc\nd\ne\n") == {2}
    assert changed("", "a\nb\n") == {1, 2}


@given(texts, texts)
def test_lines_that_are_not_changed_stand_in_the_base_in_their_order(before: str, after: str) -> None:
    kept = [line for number, line in enumerate(after.splitlines(), start=1) if number not in changed(before, after)]
    rest = iter(before.splitlines())

    assert all(line in rest for line in kept)
    assert (changed(before, after) == set()) == (before.splitlines() == after.splitlines())


def test_only_new_and_replaced_lines_count_as_added_and_lines_are_counted_as_python_does() -> None:
    before = "a\nb\n\x0cc\u2028d\ne\n"

    assert added(before, before.replace("\n", "\r\n")) == set()
    assert added(before, "a\n\x0cc\u2028d\ne\n") == set()
    assert added(before, "a\nb\n\x0cc\u2028d\nx\ny\ne") == {4, 5}


def test_texts_that_would_take_long_to_compare_are_changed_between_their_first_and_last_difference() -> None:
    before = "first\n" + "same\nother\n" * 2_000 + "last\n"

    assert added(before, before.replace("other\n", "another\n")) == set(range(3, 4002))


@pytest.mark.anyio
async def test_the_lines_of_a_change_are_those_of_new_and_changed_files(checkout: Checkout) -> None:
    (checkout.top / "latin.py").write_bytes(b"# \xe9\nx = 1\n")
    commit = checkout.commit(a="a = 1\nb = 2\nc = 3\n")
    (checkout.top / "latin.py").write_bytes(b"# \xe9\nx = 1\ny = 2\n")
    checkout.write(a="a = 1\nb = 3\nc = 3\nd = 4\ne = 5\n", new="x = 1\ny = 2\n", b="")

    lines = await changed_lines.of_change(checkout.config(), commit)

    assert lines == ChangedLines(commit, {"a.py": "2,4-5", "latin.py": "3", "new.py": "1-2"})


@pytest.mark.anyio
async def test_only_files_inside_the_root_are_read_and_asked_for(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    for file in (root / "a.py", root / "new.py", tmp_path / "outside.py"):
        file.write_text("a\n", encoding="utf-8")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    (root / "odd.py").write_bytes(b"\xff")
    names = ["a.py", "new.py", "../outside.py", str(tmp_path / "outside.py"), "link.py", "odd.py", "gone.py", "\0"]

    async def before(files: Sequence[str]) -> dict[str, str]:
        assert files == ["a.py", "new.py", "odd.py"]
        return {"a.py": "b\n"}

    assert await changed_lines.since(before, root, names) == {"a.py": {1}}
