import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from pytest_mcp.api.parameters import MAX_NODE_IDS
from pytest_mcp.api.requests import Arguments, DiscoverTests, ExecuteTests, Request
from pytest_mcp.config.model import Bounds
from pytest_mcp.investigation.result import MAX_TESTS, InvestigateFailure


@pytest.fixture
def bounds(tmp_path: Path) -> Bounds:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("", encoding="utf-8")
    return Bounds(root=tmp_path.resolve(), max_timeout=600, max_tokens=50_000)


def faults(arguments: dict[str, Any], bounds: Bounds, tool: type[Arguments] = ExecuteTests) -> set[str]:
    """The names of the parameters that are refused."""
    try:
        tool.model_validate(arguments, context=bounds)
    except ValidationError as error:
        return {".".join(map(str, fault["loc"])) for fault in error.errors()}
    return set()


def test_every_parameter_of_execute_tests_may_be_left_out(bounds: Bounds) -> None:
    request = ExecuteTests.model_validate({}, context=bounds)

    given = {name: value for name, value in request.model_dump().items() if value is not None}
    assert {name: value for name, value in given.items() if value is not False} == {"detail": "auto", "verbosity": 0}
    assert request.targets == ()


@pytest.mark.parametrize(
    ("given", "taken"),
    [(True, True), ("main", "main"), ("v1.0^{commit}", "v1.0^{commit}"), (False, None), (None, None)],
)
def test_changed_is_true_or_a_ref(bounds: Bounds, given: object, taken: object) -> None:
    assert ExecuteTests.model_validate({"changed": given}, context=bounds).changed == taken


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ({"timeout": "60"}, {"timeout": 60}),
        ({"timeout": 60.0}, {"timeout": 60}),
        ({"verbosity": 1.0}, {"verbosity": 1}),
        ({"verbosity": "-2"}, {"verbosity": -2}),
        ({"verbosity": "-0"}, {"verbosity": 0}),
        ({"verbosity": -0.0}, {"verbosity": 0}),
        ({"maxfail": "1", "max_tokens": "500"}, {"maxfail": 1, "max_tokens": 500}),
        ({"workers": "2"}, {"workers": 2}),
        ({"workers": 2.0}, {"workers": 2}),
        ({"node_ids": "tests/test_a.py::test_one"}, {"node_ids": ["tests/test_a.py::test_one"]}),
    ],
    ids=str,
)
def test_what_can_only_mean_one_thing_is_taken_as_meant(
    bounds: Bounds, arguments: dict[str, Any], meant: dict[str, Any]
) -> None:
    requests = [ExecuteTests.model_validate(given, context=bounds) for given in (arguments, meant)]

    assert requests[0] == requests[1]
    assert [type(value) for value in requests[0].model_dump().values()] == [
        type(value) for value in requests[1].model_dump().values()
    ]


NO_NUMBERS: tuple[Any, ...] = (
    True, False, "true", "", " ", "60 ", " 60", "+60", "60.0", "6e1", "1e3", "1_000", "060", "0x3C", "²",
    "\uff16\uff10", "\u0666\u0660",
    "60s", "60\n", "NaN", "--1", "9" * 5000, float("nan"), float("inf"), 60.5, 1e300, 10**30, [60], ["60"], {},
)  # fmt: skip


@pytest.mark.parametrize("name", ["timeout", "maxfail", "max_tokens", "verbosity", "workers"])
@pytest.mark.parametrize("given", NO_NUMBERS, ids=lambda value: ascii(value)[:20])
def test_what_is_no_number_or_could_be_several_is_refused(bounds: Bounds, name: str, given: object) -> None:
    assert faults({name: given}, bounds) == {name}


@pytest.mark.parametrize("tool", [DiscoverTests, ExecuteTests])
def test_null_is_the_same_as_left_out(bounds: Bounds, tool: type[Request]) -> None:
    nulls = dict.fromkeys(tool.model_fields)

    assert tool.model_validate(nulls, context=bounds) == tool.model_validate({}, context=bounds)


TAKEN: dict[str, list[Any]] = {
    "path": ["tests"],
    "node_ids": [["tests/test_a.py::test_one[x y]", "tests"]],
    "pattern": ["check_*.py", "[a-z]test?.py", "[]a]test_].py"],
    "markers": ["slow and not db(kind='x', port=1)"],
    "keywords": ["login or (user and not slow)"],
    "detail": ["full"],
    "verbosity": [-2, 2],
    "maxfail": [1, 100_000],
    "timeout": [1, 600],
    "max_tokens": [500, 50_000],
    "show_capture": [False],
    "color": [True],
    "workers": [1, 64, "auto"],
}
REFUSED: dict[str, list[Any]] = {
    "node_ids": [[], ["tests"] * (MAX_NODE_IDS + 1), {}, 3, True, {"0": "tests"}, ("tests",)],
    "node_ids.0": ["", "nowhere.py"],
    "node_ids.1": [["tests", 3], ["tests", "tests/test_a.py::" + "x" * 4096]],
    "path": [3, "../elsewhere"],
    "pattern": [
        *("deploy_*.py", "test_*.py --co", "tests/test_*.py", "test_*.py\n", "", "test" + "*" * 200),
        *("[test]*.py", "[]a-ztest]*.py", "[]test]*.py", "te[s]t*.py", "te*st.py", "test_[.py", "test_[].py"),
    ],
    "markers": ["a and", ["a"]],
    "keywords": ["a(b=1)", "", "   ", "--"],
    "changed": ["", "-x", "--output=a", "a b", "a\nb", "a\0", "x" * 201, 1, 0.5, ["main"], {}],
    "detail": ["everything"],
    "verbosity": [3, -3, True, 1.5],
    "maxfail": [0, 100_001],
    "failfast": [1, "true"],
    "color": ["yes"],
    "show_capture": ["no"],
    "timeout": [0, 601, 86_401],
    "max_tokens": [499, 50_001],
    "workers": [0, -1, 65, 2.5, "65", "all", "AUTO", "", True, [2]],
    "plugins": [["x"]],
    "env": [{"A": "b"}],
}


def each_of(table: dict[str, list[Any]]) -> list[tuple[str, Any]]:
    return [(name, value) for name, values in table.items() for value in values]


@pytest.mark.parametrize(("name", "value"), each_of(TAKEN))
def test_values_up_to_their_limits_are_taken(bounds: Bounds, name: str, value: object) -> None:
    assert faults({name: value}, bounds) == set()


@pytest.mark.parametrize(("name", "value"), each_of(REFUSED))
def test_a_value_beyond_its_limits_is_refused_by_the_name_of_its_parameter(
    bounds: Bounds, name: str, value: object
) -> None:
    assert faults({name.partition(".")[0]: value}, bounds) == {name}


def test_only_one_way_to_stop_early_can_be_chosen(bounds: Bounds) -> None:
    assert faults({"failfast": False, "maxfail": 2}, bounds) == set()
    assert faults({"failfast": True, "maxfail": 1}, bounds) == {"maxfail"}


WORDS = re.compile("test|spec|check", re.IGNORECASE)
# Long enough for a word, and rich in what opens, closes and fills a class.
GLOBS = st.lists(
    st.sampled_from(
        ["[", "]", "]", "[]", "[]a-z", "*", "*", "?", "-", "test", "test", "Spec", "check", "e", "_", ".py"]
    ),
    min_size=1,
    max_size=6,
).map("".join)
OTHER_FILES = ("setup.py", "manage.py", "deploy.py", "conftest.py", "a.py", "t.py", "]", "[", "te", "tes_t.py", "st.py")


def names_without_a_word(glob: str) -> Iterator[str]:
    """Files of every project, and what is nearly the glob itself: each wildcard replaced by something short."""
    yield from OTHER_FILES
    for star, one in product(("", "]", "t.py"), ("t", "]", "z")):
        near = glob.replace("*", star).replace("?", one)
        yield from (WORDS.sub(one, near), re.sub(r"\[.+?\]", one, near), re.sub(r"\[.+\]", one, near), near)


@given(glob=GLOBS)
@example(glob="[]a-ztest]*.py")
@settings(max_examples=200)
def test_every_name_that_an_accepted_pattern_matches_says_that_it_is_a_test(glob: str) -> None:
    """fnmatch, which pytest asks, is the judge."""
    refused = faults({"pattern": glob}, Bounds(root=Path("/"), max_timeout=1, max_tokens=500))
    others = [name for name in names_without_a_word(glob) if fnmatchcase(name, glob) and not WORDS.search(name)]

    assert refused or not others


def test_all_faults_are_told_at_once_those_of_paths_among_them(bounds: Bounds) -> None:
    arguments = {
        "path": "missing",
        "node_ids": ["tests", "../x", "-p"],
        "markers": "(",
        "maxfail": 0,
        "unknown": 1,
    }

    assert faults(arguments, bounds) == {"path", "node_ids.1", "node_ids.2", "markers", "maxfail", "unknown"}


def test_a_request_cannot_be_changed_after_it_was_proven(bounds: Bounds) -> None:
    request = ExecuteTests.model_validate({}, context=bounds)

    with pytest.raises(ValidationError):
        request.timeout = 10**9  # type: ignore[misc]  # the very mistake


def test_a_request_cannot_be_made_without_the_operators_bounds() -> None:
    with pytest.raises(TypeError):
        ExecuteTests.model_validate({"path": "tests"})


def test_targets_are_the_path_and_every_node_id_with_the_names_of_their_parameters(bounds: Bounds) -> None:
    arguments = {"path": "tests", "node_ids": ["tests/test_a.py::test_one", "tests/test_a.py"]}

    request = ExecuteTests.model_validate(arguments, context=bounds)

    assert [(name, target.node_id) for name, target in request.targets] == [
        ("path", "tests"),
        ("node_ids.0", "tests/test_a.py::test_one"),
        ("node_ids.1", "tests/test_a.py"),
    ]


@pytest.mark.parametrize(
    ("arguments", "captures"),
    [
        ({}, True),
        ({"verbosity": 2}, True),
        ({"verbosity": -1}, False),
        ({"verbosity": -1, "show_capture": True}, True),
        ({"verbosity": 1, "show_capture": False}, False),
    ],
)
def test_captured_output_is_shown_unless_verbosity_is_negative_or_the_caller_decides(
    bounds: Bounds, arguments: dict[str, Any], captures: bool
) -> None:
    request = ExecuteTests.model_validate(arguments, context=bounds)

    assert request.captures is captures


def test_a_call_that_names_no_size_has_the_operators_for_its_tool(bounds: Bounds) -> None:
    chosen = bounds._replace(execute_tokens=700, discover_tokens=900)
    requests = [kind.model_validate({}, context=chosen) for kind in (ExecuteTests, DiscoverTests)]

    assert [request.default_max_tokens for request in requests] == [700, 900]
    assert [request.max_tokens for request in requests] == [None, None]


IT = "tests/test_a.py::test_it"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        *(({"node_id": node_id}, "node_id") for node_id in ("tests/test_a.py", ".", "--co", "-x::t", f"../{IT}", 3)),
        ({"node_id": IT, "base": "--output=x"}, "base"),
        *(({"node_id": IT, "runs": runs}, "runs") for runs in (1, 51)),
        ({"node_id": IT, "timeout": 0}, "timeout"),
        ({}, "node_ids"),
        ({"node_id": IT, "node_ids": [IT]}, "node_ids"),
        ({"node_ids": [IT, "tests/test_a.py"]}, "node_ids.1"),
        ({"node_ids": [IT] * (MAX_TESTS + 1)}, "node_ids"),
    ],
)
def test_one_test_is_investigated_within_limits(bounds: Bounds, arguments: dict[str, Any], named: str) -> None:
    assert faults(arguments, bounds, InvestigateFailure) == {named}


@pytest.mark.parametrize("given", ["test_withdraw", "test_withdraw::test_it\x1b"])
def test_a_name_without_a_file_is_refused_with_the_keyword_that_finds_it(given: str, bounds: Bounds) -> None:
    with pytest.raises(ValidationError, match="FILE::NAME; discover_tests with keywords test_withdraw"):
        InvestigateFailure.model_validate({"node_id": given}, context=bounds)


def test_other_faults_of_the_test_to_investigate_are_told_as_for_any_target(bounds: Bounds) -> None:
    for node_id in ("tests/test_b.py::test_it", "tests/test_a.py", "../x::y", 3):
        with pytest.raises(ValidationError) as refused:
            InvestigateFailure.model_validate({"node_id": node_id}, context=bounds)
        (fault,) = refused.value.errors()
        assert fault["loc"] == ("node_id",)
        assert "FILE::NAME" not in fault["msg"]
