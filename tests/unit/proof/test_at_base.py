import pytest

from pytest_mcp.proof.at_base import ShownAtBase, function_of, seen, seen_by_function, with_kills
from pytest_mcp.proof.result import SeenAtBase
from pytest_mcp.run.events import CollectionFailed
from pytest_mcp.run.recordings import Probed

NEW = frozenset({"half", "discount"})


def probed(outcome: str, raised: list[str] | None = None, message: str = "", name: str = "test_a") -> Probed:
    return Probed(f"test_a.py::{name}", outcome, 0.1, raised or [], message, {})


@pytest.mark.parametrize(
    ("outcome", "raised", "message", "expected"),
    [
        ("passed", [], "", "passes"),
        ("failed", ["AssertionError"], "assert 1 == 2", "proves"),
        ("failed", ["ValueError"], "no 'half'", "proves"),
        ("failed", ["Failed"], "DID NOT RAISE ValueError", "proves"),
        ("late", [], "", "proves"),
        ("died", [], "", "proves"),
        ("failed", ["AttributeError"], "module 'shop' has no attribute 'half'", "missing"),
        ("failed", ["ModuleNotFoundError", "ImportError"], "No module named 'shop.half'", "missing"),
        ("failed", ["AttributeError"], "half", "missing"),
        ("failed", ["TypeError"], "price() got an unexpected keyword argument 'discount'", "missing"),
        ("failed", ["TypeError"], "price() takes 1 positional argument but 2 were given", "missing"),
        # It is no new name: the code does something else.
        ("failed", ["AttributeError"], "'NoneType' object has no attribute 'group'", "proves"),
        ("failed", ["TypeError"], "'int' object is not iterable", "proves"),
        ("skipped", ["Skipped"], "later", "unknown"),
    ],
)
def test_a_failure_proves_unless_it_only_says_that_something_new_is_not_there(
    outcome: str, raised: list[str], message: str, expected: SeenAtBase
) -> None:
    assert seen(probed(outcome, raised, message), NEW).seen == expected


def test_a_function_is_seen_by_the_most_telling_of_its_parameters() -> None:
    several = [probed("passed", name="test_a[1]"), probed("failed", ["AssertionError"], "no", name="test_a[a::b]")]

    assert seen_by_function(["test_a.py::test_a"], several, [], NEW)["test_a.py::test_a"].seen == "proves"


def test_what_cannot_be_imported_there_says_why() -> None:
    failure = CollectionFailed("test_a.py", "ImportError", "cannot import name 'half' from 'shop'", 1, "")
    broken = CollectionFailed("test_b.py", "SyntaxError", "invalid syntax", 1, "")

    found = seen_by_function(
        ["test_a.py::test_x", "test_b.py::test_y", "test_c.py::test_z"], [], [failure, broken], NEW
    )

    assert [each.seen for each in found.values()] == ["missing", "unknown", "unknown"]
    assert found["test_b.py::test_y"].why == "its file cannot be imported there: SyntaxError: invalid syntax"


def test_a_test_of_something_missing_proves_it_by_the_mutants_that_it_notices() -> None:
    found = {name: ShownAtBase("missing") for name in ("test_a.py::test_x", "test_a.py::test_y")}

    seen_now = with_kills(found, {"test_a.py::test_x[1]"})

    assert [each.seen for each in seen_now.values()] == ["proves", "missing"]
    assert function_of("test_a.py::TestA::test_x[a::b]") == "test_a.py::TestA::test_x"
