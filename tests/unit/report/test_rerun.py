from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.api import expressions
from pytest_mcp.report.rerun import MAX_NAMES, MAX_TESTS, is_repetition, rerun_arguments
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


def selected(arguments: dict[str, Any], ran: list[str]) -> list[str]:
    """What pytest runs of them: -k searches names without regard to case."""
    names = arguments.get("node_ids") or [arguments["path"]]
    terms = arguments["keywords"].split(" or ") if "keywords" in arguments else [""]
    expressions.checked(arguments.get("keywords", "x"), arguments=False)
    return [
        node_id
        for node_id in ran
        if any(covers(name, node_id) for name in names)
        and any(term in node_id.partition("::")[2].lower() for term in terms)
    ]


KINDS = ["int8", "float64", "datetime64", "object", "bool", "Category"]
LARGE = [
    f"tests/{folder}/test_{file}.py::test_{name}[{kind}-{n}]"
    for folder in ("frame", "series")
    for file in ("ops", "io")
    for name in ("add", "sub", "mean", "index", "sort", "merge", "join")
    for kind in KINDS
    for n in range(6)
]


@pytest.mark.parametrize(
    ("fails", "names"),
    [
        pytest.param(lambda it: "datetime64" in it, 4, id="one parameter in four files"),
        pytest.param(lambda it: "datetime64" in it or "bool" in it, 4, id="two parameters"),
        pytest.param(lambda it: "test_merge" in it, 4, id="one function in four files"),
        pytest.param(lambda it: "frame/test_ops.py::test_add[bool" in it, 1, id="one function"),
        pytest.param(lambda it: "frame/test_ops" in it, 1, id="one file"),
        pytest.param(lambda it: "frame/" in it, 2, id="two files"),
    ],
)
def test_many_failures_are_selected_in_few_words_and_with_few_others(fails: Any, names: int) -> None:
    failed = [node_id for node_id in LARGE if fails(node_id)]

    arguments = rerun_arguments(failed, EVERYTHING, ran=LARGE)

    assert arguments is not None
    assert len(arguments.get("node_ids", ["path"])) <= names
    assert selected(arguments, LARGE) == failed


@given(st.sets(st.sampled_from(LARGE), min_size=1))
def test_every_failure_is_selected_again(failed: set[str]) -> None:
    arguments = rerun_arguments(sorted(failed), EVERYTHING, ran=LARGE)

    assert arguments is not None
    assert failed <= set(selected(arguments, LARGE))


def test_what_the_call_chose_of_a_file_is_chosen_again() -> None:
    request = execution([], markers="slow").request
    ran = [f"tests/test_a.py::test_{n}" for n in range(30)]

    assert rerun_arguments(ran[3:], request, ran=ran) == {"path": "tests/test_a.py", "markers": "slow"}


def test_the_call_just_made_is_no_rerun() -> None:
    chosen = execution([], keywords="cart", maxfail=2).request

    assert is_repetition({"keywords": "cart"}, chosen, ["a"], {"a", "b"})
    assert is_repetition({}, EVERYTHING, ["a"], {"a", "b"})
    assert is_repetition({"node_ids": ["a"]}, EVERYTHING, ["a"], {"a"})
    assert not is_repetition({"node_ids": ["a"]}, EVERYTHING, ["a"], {"a", "b"})
    assert not is_repetition({"node_ids": ["a"]}, EVERYTHING, ["a"], set())


def test_beyond_that_folders_stand_for_them_and_one_folder_is_a_path() -> None:
    many = [f"tests/{kind}/test_{n}.py::test_it" for kind in ("unit", "slow") for n in range(MAX_NAMES)]

    assert again(*many) == {"node_ids": ["tests/unit", "tests/slow"]}
    assert again(*many[:MAX_NAMES], "tests/unit/cart/test_a.py::test_it") == {"path": "tests/unit"}
    assert again(*(f"test_{n}.py::test_it" for n in range(MAX_NAMES + 1))) == {"path": "."}


def test_a_folder_within_a_named_folder_is_not_named_again() -> None:
    many = [f"tests/unit/test_{n}.py::test_it" for n in range(MAX_NAMES)]

    assert again(*many, "tests/unit/cart/test_a.py::t", "tests/slow/test_a.py::t") == {
        "node_ids": ["tests/unit", "tests/slow"]
    }


def test_more_folders_than_may_be_named_are_covered_by_the_one_that_holds_them() -> None:
    assert again(*(f"tests/area{n}/test_a.py::test_it" for n in range(MAX_NAMES + 1))) == {"path": "tests"}


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
    many = [f"/etc/area{n}/test_a.py::t" for n in range(MAX_NAMES)]

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
    assert len(names) <= MAX_NAMES
    if len({node_id.partition("::")[0] for node_id in failed}) <= MAX_NAMES:
        assert all(".py" in name for name in names)


LONG = [
    f"tests/test_deserialization.py::TestFields::test_{kind}_is_always_part_of_it[{n}]"
    for kind in KINDS
    for n in (1, 2)
]


@given(st.sets(st.sampled_from(LONG), min_size=1, max_size=MAX_TESTS))
def test_few_failures_with_long_ids_are_selected_exactly(failed: set[str]) -> None:
    arguments = rerun_arguments(sorted(failed), EVERYTHING, ran=LONG)

    assert arguments is not None
    assert selected(arguments, LONG) == sorted(failed, key=LONG.index)
    assert len(str(arguments)) <= len(str({"node_ids": sorted(failed)}))


def test_few_failures_with_long_ids_are_selected_by_what_only_they_have_in_their_names() -> None:
    failed = [node_id for node_id in LONG if "int8" in node_id or "bool" in node_id]

    assert rerun_arguments(failed, EVERYTHING, ran=LONG) == {
        "path": "tests/test_deserialization.py",
        "keywords": "int8 or bool",
    }


def test_where_others_could_have_these_words_few_failures_keep_their_ids() -> None:
    failed, filtered = LONG[:3], execution([], markers="slow").request

    assert rerun_arguments(failed, EVERYTHING) == {"node_ids": failed}
    assert rerun_arguments(failed, filtered, ran=LONG) == {"node_ids": failed}
    assert rerun_arguments(failed, EVERYTHING, ran=LONG, broken=["test_b.py"]) == {"node_ids": [*failed, "test_b.py"]}


def test_no_word_of_an_expression_is_part_of_a_mark_of_pytests() -> None:
    failed = [f"tests/test_a.py::test_parameters_of_{'very_' * 20}long_names_{n}" for n in ("param", "use")]
    ran = [*failed, "tests/test_a.py::test_names"]

    arguments = rerun_arguments(failed, EVERYTHING, ran=ran)

    assert arguments is not None
    assert not {"param", "use"} & set(arguments.get("keywords", "").split(" or "))
