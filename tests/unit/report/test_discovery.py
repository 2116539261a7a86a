import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.results import DiscoverResult
from pytest_mcp.report import tokens
from pytest_mcp.report.discovery import MAX_ENTRIES, fit_discovery
from pytest_mcp.report.discovery import whole_discovery as discovered
from pytest_mcp.run.events import Event, ImportedElsewhere, Warned
from pytest_mcp.tools import dump
from tests.support.invented.records import discovery, item, uncollected

CEILING = 16 * 1024 * 1024


def listed(events: Sequence[Event], *, ceiling: int = CEILING, **asked: Any) -> tuple[DiscoverResult, DiscoverResult]:
    """The complete result, and the part of it that is sent."""
    run = discovery(list(events), **asked)
    whole = discovered(run)
    return whole, fit_discovery(whole, run.request, ceiling=ceiling)


def found(count: int, **asked: Any) -> tuple[DiscoverResult, DiscoverResult]:
    return listed([item(f"tests/test_{number % 3}.py::test_{number}") for number in range(count)], **asked)


def cost(answer: DiscoverResult) -> int:
    return tokens.estimate(json.dumps(dump(answer), ensure_ascii=False, separators=(",", ":")))


def counts(answer: DiscoverResult) -> dict[str, int]:
    return {entry.file: entry.count for entry in answer.files}


def test_few_tests_are_listed_one_by_one_and_one_more_makes_a_tree() -> None:
    (whole, few), (_, more) = (found(MAX_ENTRIES + n) for n in (0, 1))

    assert few == whole
    assert more.tests == []
    assert more.count == MAX_ENTRIES + 1
    assert more.omitted is None


def test_in_the_tree_a_test_has_its_class_its_name_and_its_line() -> None:
    tests = [item("a/test_a.py::T::U::test_in_class", classes=["T", "U"], line=7), item("b.py::plain", line=None)]

    _, sent = listed([*tests, *(item(f"c.py::test_{n}", line=n + 1) for n in range(MAX_ENTRIES))])

    assert dump(sent)["files"][:2] == [
        {"file": "a/test_a.py", "count": 1, "tests": ["T::U::test_in_class:7"]},
        {"file": "b.py", "count": 1, "tests": ["plain"]},
    ]
    assert sent.files[2].tests == [f"test_{n}:{n + 1}" for n in range(MAX_ENTRIES)]


def test_in_the_tree_a_test_with_parameters_stands_once_with_their_number() -> None:
    tests = [item(f"a.py::test_it[{n}]", function=f"test_it[{n}]", line=3) for n in range(50)]

    _, sent = listed([*tests, item("a.py::test_other", line=9)])

    (file,) = sent.files
    assert (sent.count, file.count, file.tests) == (51, 51, ["test_it:3 (50)", "test_other:9"])


def test_156_tests_cost_no_more_than_pytest_would_print_of_them() -> None:
    tests = [
        item(f"tests/unit/test_{area}.py::Test{area.title()}::test_{verb}_{n}", classes=[f"Test{area.title()}"], line=n)
        for area in ("cart", "stock", "orders", "invoice")
        for verb in ("adds", "removes", "finds")
        for n in range(13)
    ]

    whole, sent = listed(tests)

    printed = "\n".join([*(test.node_id for test in whole.tests), "", "156 tests collected in 0.05s"])
    assert sent.count == len(whole.tests) == 156
    assert cost(sent) <= tokens.estimate(json.dumps(printed))
    assert sent.omitted is None


def test_the_budget_is_filled_file_by_file_and_the_count_stays_the_truth() -> None:
    many = [item(f"tests/test_{file}.py::test_{n}") for file in range(20) for n in range(50)]

    (_, less), (_, more) = (listed(many, max_tokens=most) for most in (2000, 4000))

    for sent, most in ((less, 2000), (more, 4000)):
        shown = [file for file in sent.files if file.tests is not None]
        assert counts(sent) == {f"tests/test_{file}.py": 50 for file in range(20)}
        assert sent.files[: len(shown)] == shown
        assert sent.count == 1000
        assert sent.omitted is not None
        assert sent.omitted.tests == 1000 - 50 * len(shown)
        # Not even one more file would fit.
        assert most - cost(sent) < tokens.estimate(json.dumps(shown[-1].tests))
    assert less.files[0].tests == more.files[0].tests
    assert 0 < sum(file.tests is not None for file in less.files) < sum(file.tests is not None for file in more.files)


@pytest.mark.parametrize(
    ("most", "names"),
    [
        pytest.param(6000, True, id="room for every name"),
        pytest.param(1000, False, id="room for counts"),
        pytest.param(500, False, id="for few counts"),
    ],
)
def test_detail_tests_lists_as_many_entries_as_fit_and_the_others_by_name_or_count(most: int, *, names: bool) -> None:
    whole, sent = found(156, detail="tests", max_tokens=most)

    one_more = sent.model_copy(update={"tests": whole.tests[: len(sent.tests) + 1]})
    assert 0 < len(sent.tests) < 156
    assert sent.tests == whole.tests[: len(sent.tests)]
    assert cost(sent) <= most < cost(one_more)
    assert sent.omitted is not None
    assert sent.omitted.tests == sum(file.count for file in sent.files) == 156 - len(sent.tests)
    assert all((file.tests is not None) == names for file in sent.files)


def test_causes_that_did_not_fit_are_not_left_out_in_silence() -> None:
    broken = [uncollected(f"test_{n}.py", error_type="ImportError", message=f"no {n} {'x' * 60}") for n in range(99)]

    _, sent = listed([*broken, item("test_a.py::test_it")], max_tokens=1000)

    assert sent.collection_errors[-1].message.startswith(f"{100 - len(sent.collection_errors)} more causes")
    assert sent.omitted is not None
    assert sent.omitted.tests == 0


def test_detail_full_is_bounded_by_no_budget() -> None:
    whole, full = found(1000, detail="full", max_tokens=500)

    assert full == whole


def test_more_files_than_fit_become_counts_for_folders_ever_closer_to_the_root() -> None:
    many = [
        item(f"tests/{kind}/area{area}/test_{number}.py::test_it")
        for kind in ("unit", "slow")
        for area in range(40)
        for number in range(10)
    ]
    areas = {f"tests/{kind}/area{area}/": 10 for kind in ("unit", "slow") for area in range(40)}

    roomy, narrow, narrowest = (listed(many, max_tokens=most)[1] for most in (20_000, 2000, 500))

    assert len(roomy.files) == 800
    assert counts(narrow) == areas
    assert counts(narrowest) == {"tests/unit/": 400, "tests/slow/": 400}


def test_files_in_the_root_are_counted_for_the_root() -> None:
    _, sent = listed([item(f"test_{number}.py::test_it") for number in range(500)], max_tokens=500)

    assert counts(sent) == {"./": 500}


paths = st.lists(st.sampled_from(["a", "bb", "my tests", "tests[1]", "x:y", "größe"]), max_size=4).map(
    lambda folders: "/".join([*folders, "test_it.py"])
)
ids = st.builds("{}::{}[{}]".format, paths, st.sampled_from(["test_one", "T::test_two"]), st.text("a[]:-é", max_size=9))


@given(st.lists(ids, max_size=80), st.integers(min_value=500, max_value=3000), st.sampled_from(["auto", "tests"]))
def test_the_budget_is_kept_and_the_counts_add_up(node_ids: list[str], most: int, detail: str) -> None:
    whole, sent = listed([item(node_id) for node_id in node_ids], max_tokens=most, detail=detail)

    assert cost(sent) <= most
    assert sent.count == len(node_ids)
    assert len(sent.tests) + sum(counts(sent).values()) == len(node_ids)
    assert sent.tests == whole.tests[: len(sent.tests)]
    unlisted = sum(file.count for file in sent.files if file.tests is None or detail == "tests")
    assert unlisted == (sent.omitted.tests if sent.omitted else 0)


@given(st.lists(paths, max_size=80))
def test_a_folder_counts_exactly_the_ids_below_it(files: list[str]) -> None:
    _, sent = listed([item(f"{file}::test_it") for file in files], max_tokens=500)

    folders = sorted(counts(sent), key=len, reverse=True)
    if folders and all(name.endswith("/") for name in folders):
        # A test counts for the closest listed folder, or for the root.
        holders = [next((name for name in folders if name != "./" and file.startswith(name)), "./") for file in files]
        assert Counter(holders) == counts(sent)


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param([uncollected(f"test_{n}.py", message="no x", traceback="E   no") for n in range(300)], id="alike"),
        pytest.param(
            [
                uncollected(f"test_{n}.py", error_type="E", message=f"no {'abcdefghij'[n % 10] * (n + 1)}")
                for n in range(99)
            ],
            id="each of its own",
        ),
        pytest.param([uncollected("test_x.py", error_type="E", message="word " * 9000)], id="one of many words"),
    ],
)
def test_the_budget_is_kept_whatever_could_not_be_collected(broken: list[Event]) -> None:
    _, sent = listed([*broken, item("test_a.py::test_it")], max_tokens=1000)

    assert cost(sent) <= 1000
    assert sum(1 + error.also for error in sent.collection_errors) == len(broken)
    assert sent.count == 1


@pytest.mark.parametrize("detail", ["auto", "tests"])
def test_the_smallest_budget_is_kept_whatever_is_noticed(detail: str) -> None:
    loud = "many words " * 3000
    warned = [Warned(f"{loud}{n}", f"Kind{n}Warning", "collect", "a.py", 1, None) for n in range(9)]
    tests = [item(f"{loud}{n}.py::test_it") for n in range(9)]

    _, sent = listed([ImportedElsewhere(loud, loud, loud), *warned, *tests], detail=detail, max_tokens=500)

    assert cost(sent) <= 500
    assert sent.count == sum(counts(sent).values()) == 9
    assert "more notices did not fit" in sent.notices[-1]


@pytest.mark.parametrize("detail", ["auto", "full"])
def test_no_answer_exceeds_the_operators_ceiling(detail: str) -> None:
    many = [item(f"tests/area{number}/test_a.py::test_it") for number in range(2000)]

    _, sent = listed(many, detail=detail, max_tokens=1_000_000, ceiling=20_000)

    assert len(json.dumps(dump(sent), separators=(",", ":"))) <= 20_000
    assert len(sent.tests) + sum(counts(sent).values()) == 2000


@pytest.mark.parametrize(
    ("told", "described"),
    [
        (item("a/test_b.py::test_c", line=7), ("a.test_b", None, "test_c", "a/test_b.py", 7)),
        (
            item("test_b.py::O::I::t[a::b[c]]", classes=["O", "I"], function="t[a::b[c]]"),
            ("test_b", "O::I", "t", "test_b.py", 1),
        ),
        (item("v1.2/test_b.py::t", line=None), ("v1.2.test_b", None, "t", "v1.2/test_b.py", None)),
        (item("notes.txt::notes.txt"), ("notes", None, "notes.txt", "notes.txt", 1)),
    ],
)
def test_a_discovered_test_is_described_by_module_class_function_file_and_line(
    told: Any, described: tuple[str | None, ...]
) -> None:
    (test,) = discovered(discovery([told])).tests

    assert (test.module, test.class_name, test.function, test.file, test.line) == described


def test_a_discovery_counts_what_it_lists_and_keeps_what_could_not_be_collected() -> None:
    result = discovered(
        discovery(
            [item("test_a.py::a"), uncollected("test_x.py", traceback="E   ImportError: no x"), item("test_a.py::b")]
        )
    )

    assert result.count == 2
    assert [test.node_id for test in result.tests] == ["test_a.py::a", "test_a.py::b"]
    assert [(error.file, error.error_type, error.message) for error in result.collection_errors] == [
        ("test_x.py", "ImportError", "no x")
    ]
