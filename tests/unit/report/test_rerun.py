from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report.rerun import MAX_FILES, MAX_TESTS, rerun_arguments
from tests.support.invented.records import execution

EVERYTHING = execution([]).request


def again(*node_ids: str) -> dict[str, Any] | None:
    return rerun_arguments(node_ids, EVERYTHING)


def test_when_nothing_failed_there_is_nothing_to_run_again() -> None:
    assert again() is None


def test_few_failures_are_named_one_by_one() -> None:
    node_ids = [f"tests/test_a.py::test_{n}[{n}]" for n in range(MAX_TESTS)]

    assert again(*node_ids, *node_ids) == {"node_ids": node_ids}


def test_more_are_named_by_function_without_their_parameters() -> None:
    node_ids = [f"tests/test_a.py::T::test_{n % MAX_TESTS}[{n}]" for n in range(47)]

    assert again(*node_ids) == {"node_ids": [f"tests/test_a.py::T::test_{n}" for n in range(MAX_TESTS)]}


def test_still_more_are_named_by_file_and_one_file_is_a_path() -> None:
    files = [f"tests/test_{n}.py" for n in range(MAX_FILES)]

    assert again(*(f"{file}::test_it" for file in files)) == {"node_ids": files}
    assert again(*(f"tests/test_a.py::test_{n}" for n in range(MAX_TESTS + 1))) == {"path": "tests/test_a.py"}


def test_beyond_that_folders_stand_for_them_and_one_folder_is_a_path() -> None:
    many = [f"tests/{kind}/test_{n}.py::test_it" for kind in ("unit", "slow") for n in range(MAX_FILES)]

    assert again(*many) == {"node_ids": ["tests/unit", "tests/slow"]}
    assert again(*many[:MAX_FILES], "tests/unit/cart/test_a.py::test_it") == {"path": "tests/unit"}
    assert again(*(f"test_{n}.py::test_it" for n in range(MAX_FILES + 1))) == {"path": "."}


def test_a_folder_within_a_named_folder_is_not_named_again() -> None:
    many = [f"tests/unit/test_{n}.py::test_it" for n in range(MAX_FILES)]

    assert again(*many, "tests/unit/cart/test_a.py::t", "tests/slow/test_a.py::t") == {
        "node_ids": ["tests/unit", "tests/slow"]
    }


def test_more_folders_than_may_be_named_are_covered_by_the_one_that_holds_them() -> None:
    assert again(*(f"tests/area{n}/test_a.py::test_it" for n in range(MAX_FILES + 1))) == {"path": "tests"}


def test_files_that_could_not_be_collected_are_named_beside_the_failures() -> None:
    failed, broken = "tests/test_a.py::test_it[1]", "tests/test_broken.py"

    assert rerun_arguments([failed], EVERYTHING, broken=[broken]) == {"node_ids": [failed, broken]}
    assert rerun_arguments([], EVERYTHING, broken=[broken]) == {"path": broken}


@pytest.mark.parametrize("name", ["conftest.py", "__init__.py"])
def test_for_a_broken_file_that_no_call_can_name_the_tests_are_run_that_need_it(name: str) -> None:
    """pytest-mcp refuses to run it: it is not a test file."""
    chosen = execution([], keywords="cart", maxfail=1).request

    assert rerun_arguments([], EVERYTHING, broken=[f"tests/unit/{name}"]) == {"path": "tests/unit"}
    assert rerun_arguments([], EVERYTHING, broken=[f"a/{name}", "b/test_b.py"]) == {"node_ids": ["a", "b/test_b.py"]}
    assert rerun_arguments(["test_a.py::t"], EVERYTHING, broken=["b/test_b.py", name]) == {}
    assert rerun_arguments([], chosen, broken=[f"tests/{name}"]) == {"keywords": "cart"}


@pytest.mark.parametrize("file", ["../conftest.py", "../test_a.py", "a[1]/test_a.py", "/etc/test_a.py"])
def test_for_a_broken_file_that_cannot_be_asked_for_the_call_is_repeated(file: str) -> None:
    assert rerun_arguments([], EVERYTHING, broken=[file]) == {}


def test_a_failure_that_no_call_can_name_is_run_again_by_the_same_selection() -> None:
    request = execution([], keywords="cart", maxfail=1).request

    assert rerun_arguments(["a[1]/test_a.py::t"], request, unaskable=["a[1]/test_a.py::t"]) == {"keywords": "cart"}
    assert rerun_arguments(["a[1]/test_a.py::t"], EVERYTHING, unaskable=["a[1]/test_a.py::t"]) == {}


def test_whatever_a_test_wrote_into_its_report_no_path_outside_the_root_is_named_as_the_folder() -> None:
    many = [f"/etc/area{n}/test_a.py::t" for n in range(MAX_FILES)]

    assert again(*many, "../test_b.py::t") == {"path": "."}


folders = st.lists(st.sampled_from(["a", "b", "ab", "c d"]), max_size=3)
node_ids = st.builds(
    lambda folder, file, function, parameter: "/".join([*folder, f"test_{file}.py"]) + f"::test_{function}{parameter}",
    folders,
    st.integers(0, 9),
    st.integers(0, 3),
    st.sampled_from(["", "[1]", "[a/b::c]", "[x[y]]"]),
)


def covers(name: str, node_id: str) -> bool:
    return name in (".", node_id) or any(node_id.startswith(f"{name}{separator}") for separator in ("[", "::", "/"))


@given(st.lists(node_ids, min_size=1, max_size=80))
def test_every_failure_is_covered_in_few_words_and_no_folder_stands_where_files_would_do(failed: list[str]) -> None:
    arguments = again(*failed)

    assert arguments is not None
    names = arguments.get("node_ids") or [arguments["path"]]
    assert all(any(covers(name, node_id) for name in names) for node_id in failed)
    assert all(any(covers(name, node_id) for node_id in failed) for name in names)
    assert len(names) <= MAX_FILES
    if len({node_id.partition("::")[0] for node_id in failed}) <= MAX_FILES:
        assert all(".py" in name for name in names)
