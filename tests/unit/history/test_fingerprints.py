"""The functions of a file, and what counts as a change of one."""

import pytest

from pytest_mcp.history.fingerprints import Difference, compare, mentions, units

SOURCE = b'''import os
# a comment
X = 1
@deco(3)
def f(a, b=2):
    def g(x=1):
        return x
    return g

class A(B):
    y = 2
    def m(self): return self.y
    async def n(self):
        return """
# not a comment
"""
'''


def changed(old: bytes, new: bytes) -> Difference:
    assert old in SOURCE
    return compare(units(SOURCE), units(SOURCE.replace(old, new)))


@pytest.mark.parametrize(("old", "new"), [(b"# a comment\n", b"\n\n"), (b"import os", b"\n# moved\nimport os")])
def test_moved_lines_and_comments_are_no_change(old: bytes, new: bytes) -> None:
    assert changed(old, new) == Difference()


def test_a_nested_function_changes_alone() -> None:
    assert changed(b"return x", b"return -x") == Difference(frozenset({"f.<locals>.g"}))


def test_a_line_of_a_string_that_looks_like_a_comment_is_code() -> None:
    assert changed(b"# not a comment", b"# no comment") == Difference(frozenset({"A.n"}))


@pytest.mark.parametrize(("old", "new"), [(b"deco(3)", b"deco(4)"), (b"y = 2", b"y = 3"), (b"X = 1", b"X = 2")])
def test_decorators_class_bodies_and_module_level_code_run_at_import(old: bytes, new: bytes) -> None:
    assert changed(old, new).at_import


def test_a_new_method_of_a_class_with_bases_is_a_change_at_import() -> None:
    assert changed(b"    async def", b"    def k(self): pass\n    async def").at_import


def test_a_new_function_changes_only_what_mentions_it() -> None:
    found = compare(units(SOURCE), units(SOURCE + b"\ndef helper(x):\n    return 1\n"))

    assert found == Difference(frozenset({"helper"}), frozenset({"helper"}))
    assert mentions(SOURCE, ["y"]) == {"<module>", "A.m"}
    assert mentions(SOURCE, ["deco"]) == {"<module>"}


def test_a_file_that_cannot_be_parsed_is_changed_at_import() -> None:
    assert compare(units(SOURCE), units(b"def (")).at_import
