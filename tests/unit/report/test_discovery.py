import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api.results import DiscoverResult
from pytest_mcp.events.model import Event
from pytest_mcp.report import tokens
from pytest_mcp.report.discovery import fit_discovery
from pytest_mcp.report.result import discovered
from pytest_mcp.tools import dump
from tests.support.records import discovery, item, uncollected

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


def test_156_tests_are_listed_by_default() -> None:
    whole, sent = found(156)

    assert sent == whole
    assert sent.count == 156


def test_more_tests_than_fit_become_counts_per_file_and_the_count_stays_the_truth() -> None:
    _, sent = found(1000)

    assert sent.count == 1000
    assert sent.tests == []
    assert counts(sent) == {"tests/test_0.py": 334, "tests/test_1.py": 333, "tests/test_2.py": 333}
    assert sent.omitted is not None
    assert sent.omitted.tests == 1000


def test_the_caller_can_raise_the_budget_or_ask_for_everything() -> None:
    whole, roomy = found(1000, max_tokens=1_000_000)
    _, full = found(1000, detail="full", max_tokens=500)
    _, narrow = found(156, max_tokens=500)

    assert roomy == whole
    assert full == whole
    assert narrow.tests == []


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
    if sent.omitted is None:
        assert sent == whole
    else:
        assert sent.tests == []
        assert sum(counts(sent).values()) == len(node_ids) == sent.omitted.tests


@given(st.lists(paths, max_size=80))
def test_a_folder_counts_exactly_the_tests_below_it(files: list[str]) -> None:
    _, sent = listed([item(f"{file}::test_it") for file in files], max_tokens=500)

    folders = sorted(counts(sent), key=len, reverse=True)
    if folders and all(name.endswith("/") for name in folders):
        # A test counts for the closest listed folder, or for the root.
        holders = [next((name for name in folders if name != "./" and file.startswith(name)), "./") for file in files]
        assert Counter(holders) == counts(sent)


def test_files_that_could_not_be_collected_are_told_even_when_the_tests_do_not_fit() -> None:
    _, sent = listed([uncollected("test_x.py"), *(item(f"test_a.py::test_{n}") for n in range(1000))])

    assert [error.file for error in sent.collection_errors] == ["test_x.py"]
    assert cost(sent) < 200


def test_frames_of_the_machinery_are_left_out_of_what_could_not_be_collected() -> None:
    traceback = (
        "/usr/lib/python3.11/importlib/__init__.py:126: in import_module\n    x\ntest_x.py:1: in <module>\nE   no"
    )

    _, sent = listed([uncollected("test_x.py", traceback=traceback)])
    _, full = listed([uncollected("test_x.py", traceback=traceback)], detail="full")

    assert [error.traceback for error in sent.collection_errors] == ["test_x.py:1: in <module>\nE   no"]
    assert [error.traceback for error in full.collection_errors] == [traceback]


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
    assert sent.collection_errors != []
    assert sent.omitted is not None


@pytest.mark.parametrize("detail", ["auto", "full"])
def test_no_answer_exceeds_the_operators_ceiling(detail: str) -> None:
    many = [item(f"tests/area{number}/test_a.py::test_it") for number in range(2000)]

    _, sent = listed(many, detail=detail, max_tokens=1_000_000, ceiling=20_000)

    assert len(json.dumps(dump(sent), separators=(",", ":"))) <= 20_000
    assert sum(counts(sent).values()) == 2000
