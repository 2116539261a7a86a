"""The measure on real bugs: its mutants, its comparison of evidence, its judgement of pairs. No library is needed."""

from typing import Any

import pytest

from bench.tokens.real import evidence, mutants, mutation, pairs, report, search
from bench.tokens.real.evidence import Share
from bench.tokens.real.libraries import LIBRARIES, pins
from bench.tokens.real.results import Entry, Other, Results
from bench.tokens.real.runs import RECEPTOR, SHORT, WAYS


def changed(source: str) -> set[tuple[str, str]]:
    return {(edit.operator, edit.after) for edit in mutation.edits(source)}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b", {("comparison", "a <= b")}),
        ("a is not b", {("comparison", "a is b")}),
        ("a in (b)", {("comparison", "a not in (b)")}),
        ("(a) and (b)", {("boolean", "(a) or (b)")}),
        ("(a) - b", {("arithmetic", "(a) + b")}),
        ("a[0]", {("constant", "a[1]")}),
        ("a[True]", set()),
        ("b if a else c", {("condition", "b if (not (a)) else c")}),
        ("def f(): return g", {("return", "def f(): return None")}),
        ("def f(): return None", set()),
        ("f(a, b, c)", {("arguments", "f(b, a, c)")}),
        ("f(*a, b)", set()),
        ("f(a, a)", set()),
        ("'ä'; a < b", set()),
    ],
)
def test_each_operator_changes_one_line(source: str, expected: set[tuple[str, str]]) -> None:
    assert changed(source) == expected


def test_an_edit_leaves_every_other_byte_alone() -> None:
    source = "x = y\r\nif a:\r\n\tb = c == d  # why\r\n"
    (edit,) = (edit for edit in mutation.edits(source) if edit.operator == "comparison")

    assert mutation.applied(source, edit) == source.replace("==", "!=")
    with pytest.raises(ValueError, match="line 3"):
        mutation.applied(source.replace("c", "e"), edit)


def test_what_runs_at_import_is_told_apart() -> None:
    source = "A = 1\n@f(2)\ndef g(x=3):\n    return 4\n"

    assert {edit.line for edit in mutation.edits(source) if edit.at_import} == {1, 2, 3}


def test_every_kept_bug_is_one_of_a_pinned_library() -> None:
    kept = mutants.load()

    assert {mutant.library for mutant in kept} == set(LIBRARIES)
    assert all(mutant.version == pins()[mutant.library] for mutant in kept)
    assert len({mutant.name for mutant in kept}) == len(kept)
    assert all(mutant.edit.before != mutant.edit.after for mutant in kept)


def test_an_edit_that_is_no_python_is_not_tried() -> None:
    assert search.is_python("a = 1")
    assert not search.is_python("a = = 1")


SHOWN = """\
tests/test_a.py:3: in test_a
    assert f() == {'a': 1}
E   AssertionError: assert {'a': 2, 'b':..., 'z': 9} == {'a': 1}
E     Omitting 1 identical items, use -vv to show
E     Differing items:
E     {'a': 2} != {'a': 1}
E     ...
E
E     ...Full output truncated (3 lines hidden), use '-vv' to show
E     - 1
"""


def test_notes_of_pytest_about_hidden_lines_are_no_evidence() -> None:
    assert evidence.error_lines(SHOWN) == [
        "AssertionError: assert {'a': 2, 'b':..., 'z': 9} == {'a': 1}",
        "Differing items:",
        "{'a': 2} != {'a': 1}",
        "- 1",
    ]
    assert evidence.differing_lines(SHOWN) == ["- 1"]


@pytest.mark.parametrize(
    ("line", "text", "missing"),
    [
        ("assert 1 == 2", "E       assert 1 == 2", []),
        ("assert 1 == 2", "AssertionError: assert 1 == 2", []),
        ("assert 1 == 2", "assert 1 ==\n2", ["assert 1 == 2"]),
        ("assert {'a': 2, 'b':...} == 3", "assert {'a': 2, 'b': 1, 'c': 4} == 3", []),
        ("<A at 0x7f12>", "<A at 0x…>", []),
        ("in /tmp/pytest-of-me/pytest-7/a.sql", "in /tmp/pytest-of-me/pytest-8/a.sql", []),
        ("token a14f432cc832b0bdf552", "token 9b4f432cc832b0bdf552", []),
        ("assert 'gültig'", r"assert 'g\xfcltig'", []),
        ("+ 1", "E     + 1", []),
        ("+ 1", "a + 1 > 3", ["+ 1"]),
        ("a  b    c", "a b c", []),
    ],
)
def test_a_line_is_whole_when_one_line_of_a_text_has_it(line: str, text: str, missing: list[str]) -> None:
    assert evidence.missing([line], text) == missing


def answer(*tests: dict[str, Any], groups: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"tests": [*tests], "failure_groups": [*groups], "collection_errors": [], "text_output": ""}


def shown(node_id: str, traceback: str) -> dict[str, Any]:
    return {"node_id": node_id, "outcome": "failed", "message": "", "traceback": traceback}


def test_cuts_are_counted_in_shown_texts() -> None:
    cut = "a\n[... 1860 characters left out ...]\nb\n[... 3 lines left out ...]"

    assert evidence.cuts(answer(shown("t", cut), shown("u", "... 4 frames in site-packages/x"))) == 2


def test_the_cause_of_a_file_that_cannot_be_imported_is_read_from_its_two_keys() -> None:
    error = {"file": "t.py", "error_type": "KeyError", "message": "'a'", "traceback": "t.py:1: in <module>"}
    told = evidence.examples({**answer(), "collection_errors": [error]})

    whole = evidence.whole_lines({"t.py": "E   KeyError: 'a'"}, evidence.error_lines, told)

    assert whole == evidence.Share(1, 1)


def test_the_first_example_shows_the_faulty_file_or_not_or_none_could() -> None:
    one, two = shown("t", "tests/t.py:1: in t"), shown("u", "src/a.py:9: in a")
    seen = {"u": "src/a.py:9: in a"}

    assert evidence.first_shows(answer(two, one), "src/a.py", seen) is True
    assert evidence.first_shows(answer(one, two), "src/a.py", seen) is False
    assert evidence.first_shows(answer(two), "src/b.py", seen) is None


def test_a_pair_is_merged_when_one_group_has_failures_of_both_bugs() -> None:
    causes = pairs.known_causes({"one": {"a", "b", "both"}, "two": {"c", "both"}})
    mixed = {"count": 4, "message": "m", "example": 0, "node_ids": ["c", "both"]}
    apart = {"count": 2, "message": "n", "example": "a", "node_ids": ["both"]}

    judged = pairs.judged("x", answer(shown("b", ""), groups=(mixed, apart)), causes)

    assert causes == {"a": "one", "b": "one", "c": "two"}
    assert (judged.merged, judged.untold) == (("m",), 1)


def entry(tokens: int, failing: int = 3) -> Entry:
    others = {way: Other(100, Share(1, 2)) for way in WAYS}
    whole = Share(4, 4)
    return Entry("2026-01-31", "v", "toolz", failing, tokens, 1, 1, 0, whole, whole, True, others)


def test_medians_totals_and_the_worst_row_are_told() -> None:
    told = report.goals([entry(40), entry(50), entry(120, failing=9)], [])

    assert f"| `{SHORT}`, median of our tokens against it | 0.50 | ≤ 0.5 | met |" in told
    assert f"| `{SHORT}`, worst row | 1.20 | ≤ 1.1 | **missed** |" in told
    assert f"| `{SHORT}`, worst row with up to 5 failures | 0.50 | ≤ 0.9 | met |" in told
    assert f"| `{RECEPTOR}`, our total against its total | 0.70 | ≤ 0.7 | met |" in told
    assert "| E lines of our examples whole in `rtk` | 50 % | - |  |" in told


def test_nothing_measured_is_said() -> None:
    assert "Nothing is measured yet." in report.document(Results(), [])
