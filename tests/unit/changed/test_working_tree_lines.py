"""Which lines differ from the base."""

from pathlib import Path

from pytest_mcp.changed import working_tree
from pytest_mcp.changed.working_tree import TreeComparison
from pytest_mcp.run.run import ALL_LINES, ChangedLines
from tests.support.projects.checkouts import Checkout


async def compared(checkout: Checkout, ref: str = "HEAD", root: str = ".") -> TreeComparison:
    return await working_tree.since_ref(checkout.config(root), ref, lines=True)


async def added(checkout: Checkout, ref: str = "HEAD") -> dict[str, str] | None:
    return (await compared(checkout, ref)).added_lines().ranges


async def test_the_lines_of_a_change_are_those_of_new_and_changed_files(checkout: Checkout) -> None:
    (checkout.top / "latin.py").write_bytes(b"# \xe9\nx = 1\n")
    commit = checkout.commit(a="a = 1\nb = 2\nc = 3\n")
    checkout.commit(later="x = 1\ny = 2\n")
    (checkout.top / "latin.py").write_bytes(b"# \xe9\nx = 1\ny = 2\n")
    checkout.write(a="a = 1\nb = 3\nc = 3\nd = 4\ne = 5\n", new="x = 1\ny = 2\n", empty="", b="")

    lines = (await compared(checkout, commit)).added_lines()

    assert lines == ChangedLines(commit, {"a.py": "2,4-5", "latin.py": "3", "later.py": "1-2", "new.py": ALL_LINES})


async def test_lines_that_only_went_away_and_other_line_ends_are_no_added_lines(checkout: Checkout) -> None:
    checkout.commit(a="a\nb\nc\n", b="x\ny\n")
    checkout.write(a="a\nc\n")
    (checkout.top / "b.py").write_bytes(b"x\r\ny\r\n")

    assert await checkout.files() == {"a.py", "b.py"}
    assert await added(checkout) == {}


async def test_only_a_line_end_ends_a_line(checkout: Checkout) -> None:
    before = "a\nb\n\x0cc\u2028d\ne\n"
    checkout.commit(a=before)
    checkout.write(a="a\nb\n\x0cc\u2028d\nx\ny\ne")

    assert await added(checkout) == {"a.py": "4-5"}


async def test_with_deleted_lines_the_line_behind_is_changed(checkout: Checkout) -> None:
    checkout.commit(a="a\nb\nc\nd\ne\n", b="x\n")
    checkout.write(a="a\nc\nd\nX\nY\ne\n", b="y\n", new="n\n")
    checkout.git("add", "new.py")

    assert (await compared(checkout)).changed_lines() == {"a.py": {2, 4, 5}, "b.py": {1}}


async def test_names_and_settings_of_the_repository_do_not_matter(checkout: Checkout) -> None:
    for setting in ("noprefix=true", "mnemonicPrefix=true", "context=9", "interHunkContext=9", "relative=true"):
        checkout.git("config", *f"diff.{setting}".split("="))
    checkout.git("config", "color.ui", "always")
    name = "\u00e9 .py"
    (checkout.top / name).write_text("x\n", encoding="utf-8")
    checkout.commit(a="a\nb\nc\nd\n", **{"inner/c": "c\n"})
    (checkout.top / name).write_text("x\ny\n", encoding="utf-8")
    checkout.write(a="A\nb\nc\nD\n", **{"inner/c": "c\nd\n"})

    assert await added(checkout) == {"a.py": "1,4", "inner/c.py": "2", name: "2"}
    assert (await compared(checkout, root="inner")).hunks.keys() == {"c.py"}


async def test_links_and_large_or_binary_files_have_no_lines(checkout: Checkout) -> None:
    (checkout.top / "large.py").write_text("x\n", encoding="utf-8")
    (checkout.top / "binary.py").write_bytes(b"\0\n")
    checkout.commit(a="a\n")
    (checkout.top / "large.py").write_text("x = 1\n" * 500_000, encoding="utf-8")
    (checkout.top / "binary.py").write_bytes(b"\0\n\n")
    (checkout.top / "a.py").unlink()
    (checkout.top / "a.py").symlink_to("b.py")
    (checkout.top / "link.py").symlink_to(Path("b.py"))

    assert await checkout.files() == {"a.py", "binary.py", "large.py", "link.py"}
    assert await added(checkout) == {}
