"""git's lists, as bytes."""

import pytest

from pytest_mcp.changed import listings
from pytest_mcp.changed.git_commands import CannotTell
from pytest_mcp.changed.listings import DEEPEST_PATH, MAX_PATH, Difference, Hunk, Status, TreeFile

SHA1, SHA256 = b"a" * 40, b"b" * 64
TRACKED = b"1 .M N... 100644 100644 100644 %b %b " % (SHA1, SHA1)
UNMERGED = b"u UU N... 100644 100644 100644 100644 %b %b %b " % (SHA1, SHA1, SHA1)


def raw(path: bytes, kind: bytes = b"M", modes: bytes = b"100644 100644") -> bytes:
    return b":%b %b %b %b\0%b\0" % (modes, SHA1, b"0" * 40, kind, path)


def test_an_index_is_paths_with_modes_and_hashes() -> None:
    output = b"100644 %b 0\ta\tb\n.py\x00160000 %b 0\tsub\xff\x00" % (SHA1, SHA256)

    assert listings.parse_index(output) == {
        b"a\tb\n.py": TreeFile(b"100644", SHA1),
        b"sub\xff": TreeFile(b"160000", SHA256),
    }


def test_a_status_has_tracked_and_untracked_paths_and_those_that_no_commit_has() -> None:
    submodules = [TRACKED.replace(b"N...", kind) + kind for kind in (b"S...", b"SC..", b"S..U")]
    output = b"\0".join([TRACKED + b"a b", UNMERGED + b"c", *submodules, b"? new file", b"? nested/", b""])

    assert listings.parse_status(output) == Status(
        {b"a b", b"c", b"S...", b"SC..", b"S..U"}, {b"c", b"SC..", b"S..U"}, {b"new file", b"nested"}
    )


def test_a_diff_is_its_paths_with_what_the_commit_has_there() -> None:
    output = raw(b"a\n.py") + raw(b"gone.py", b"D", b"100644 000000") + raw(b"new.py", b"A", b"000000 100644")

    file = TreeFile(b"100644", SHA1)
    assert listings.parse_diff(output) == Difference({b"a\n.py": file, b"gone.py": file, b"new.py": None}, {})


def test_the_lines_of_a_patch_are_those_of_regular_files_by_their_real_names() -> None:
    files = raw(b"c d.py") + raw(b"\xff.py") + raw(b"link.py", b"T", b"100644 120000")
    patch = b"""diff --git c d.py c d.py
--- c d.py\t
+++ c d.py\t
@@ -2 +2 @@ def x():
-b
+B
@@ -4,2 +3,0 @@
-d
-e
@@ -9,0 +8,3 @@
+f
+g
+h
diff --git \xff.py \xff.py
--- \xff.py
+++ \xff.py
@@ -1 +1 @@
-x
+y
diff --git link.py link.py
--- /dev/null
+++ link.py
@@ -0,0 +1 @@
+a.py
\\ No newline at end of file
"""

    assert listings.parse_diff(files + b"\0" + patch).hunks == {
        b"c d.py": [Hunk(2, 1), Hunk(3, 0), Hunk(8, 3)],
        b"\xff.py": [Hunk(1, 1)],
    }


def test_a_name_that_git_quotes_ends_the_comparison() -> None:
    with pytest.raises(CannotTell):
        listings.parse_diff(raw(b'q"') + b'\0--- "q\\""\n+++ "q\\""\n')


def test_lines_of_a_file_that_look_like_a_patch_are_lines_of_the_file() -> None:
    patch = b"""--- a.py
+++ a.py
@@ -1,2 +1,2 @@
--- b.py
-@@ -1 +1 @@
\\ No newline at end of file
+@@ -1 +9 @@
+++ b.py
\\ No newline at end of file
"""

    assert listings.parse_diff(raw(b"a.py") + raw(b"b.py") + b"\0" + patch).hunks == {b"a.py": [Hunk(1, 2)]}


@pytest.mark.parametrize(
    "path",
    [
        *(b"", b"/etc/passwd", b"../a", b"a/../b", b"a/..", b"./a", b"a//b", b".git", b".git/config", b"a/.git/config"),
        *(b"a/" * DEEPEST_PATH + b"a", b"a" * (MAX_PATH + 1)),
    ],
)
def test_a_path_that_leads_out_of_the_checkout_ends_the_comparison(path: bytes) -> None:
    with pytest.raises(CannotTell):
        listings.parse_index(b"100644 %b 0\t%b\x00" % (SHA1, path))
    with pytest.raises(CannotTell):
        listings.parse_status(TRACKED + path + b"\0")
    with pytest.raises(CannotTell):
        listings.parse_diff(raw(path))


def test_more_entries_than_can_be_compared_end_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "MAX_ENTRIES", 2)

    with pytest.raises(CannotTell, match="more than 2 files"):
        listings.parse_status(b"? a\0? b\0? c\0")


@pytest.mark.parametrize("record", [b"", b"x", b"100644 blob\ta", b"100644 blob abc 1\ta", b"1 .M N... a", b":1 2\0a"])
def test_what_is_no_record_is_not_guessed(record: bytes) -> None:
    for parse in (listings.parse_index, listings.parse_status, listings.parse_diff):
        with pytest.raises(CannotTell):
            parse(record + b"\0")
