"""git's lists, as bytes."""

import pytest

from pytest_mcp.changes import listings
from pytest_mcp.changes.git_commands import CannotTell
from pytest_mcp.changes.listings import DEEPEST_PATH, LONGEST_PATH, Entry, Index

SHA1, SHA256 = b"a" * 40, b"b" * 64


def test_a_tree_is_paths_with_modes_and_hashes() -> None:
    output = b"100644 blob %b\ta\tb\n.py\x00160000 commit %b\tsub\xff\x00" % (SHA1, SHA256)

    assert listings.parse_tree(output) == {
        b"a\tb\n.py": Entry(b"100644", SHA1),
        b"sub\xff": Entry(b"160000", SHA256),
    }


def test_a_list_of_files_has_tracked_untracked_sparse_and_unmerged_ones() -> None:
    records = [
        b"? new file",
        b"? nested/",
        b"H 100644 %b 0\ta" % SHA1,
        b"S 100755 %b 0\tb" % SHA1,
        b"M 100644 %b 1\tc" % SHA1,
        b"M 100644 %b 2\tc" % SHA1,
    ]
    plain = Entry(b"100644", SHA1)

    assert listings.parse_files(b"\0".join([*records, b""])) == Index(
        tracked={b"a": plain, b"b": Entry(b"100755", SHA1), b"c": plain},
        sparse={b"b"},
        unmerged={b"c"},
        untracked={b"new file", b"nested"},
    )


def test_an_empty_list_is_no_file() -> None:
    assert listings.parse_tree(b"") == {}


@pytest.mark.parametrize(
    "path",
    [
        *(b"", b"/etc/passwd", b"../a", b"a/../b", b"a/..", b"./a", b"a//b", b".git", b".git/config", b"a/.git/config"),
        *(b"a/" * DEEPEST_PATH + b"a", b"a" * (LONGEST_PATH + 1)),
    ],
)
def test_a_path_that_leads_out_of_the_checkout_ends_the_comparison(path: bytes) -> None:
    with pytest.raises(CannotTell):
        listings.parse_tree(b"100644 blob %b\t%b\x00" % (SHA1, path))
    with pytest.raises(CannotTell):
        listings.parse_files(b"H 100644 %b 0\t%b\x00" % (SHA1, path))


def test_more_entries_than_can_be_compared_end_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listings, "MOST_ENTRIES", 2)

    with pytest.raises(CannotTell, match="more than 2 files"):
        listings.parse_files(b"? a\0? b\0? c\0")


@pytest.mark.parametrize("record", [b"", b"x", b"100644 blob\ta", b"100644 blob abc\ta"])
def test_what_is_no_record_is_not_guessed(record: bytes) -> None:
    with pytest.raises((CannotTell, ValueError)):
        listings.parse_tree(record + b"\0")
