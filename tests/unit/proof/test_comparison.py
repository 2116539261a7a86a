"""What a change did to the tests, told from both texts."""

import ast
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_mcp.proof.comparison import compare_tests
from pytest_mcp.proof.weakening import Weakening
from tests.support.paths import ROOT

FILE = "tests/test_prices.py"
# Real tests, of this project.
REAL = sorted((ROOT / "tests" / "unit").rglob("test_*.py"))[::7]
BEFORE = """
import pytest

class Broken(ValueError): ...

@pytest.mark.parametrize("given, expected", [(1, 1.0), (2, 2.0), (3, 3.5), (3, 3.5)])
def test_prices(given, expected):
    assert price(given) == expected

def test_total():
    result = total([1, 2])
    assert result == 3.0
    assert result.unit == "EUR"

def test_errors():
    prepare()
    with pytest.raises(Broken, match="no price for x"):
        price("x")

class TestCart:
    def test_items(self):
        cart = Cart("a", "b")
        assert cart.items == ["a", "b"]

    def test_near(self):
        assert Cart().sum() == pytest.approx(1.5, rel=1e-6)
"""


def told(before: str, now: str) -> list[Weakening]:
    return list(compare_tests({FILE: before}, {FILE: now}).weakened)


def edited(old: str, new: str) -> list[Weakening]:
    assert old in BEFORE
    return told(BEFORE, BEFORE.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('    assert result.unit == "EUR"\n', "", "check deleted"),
        ("assert result == 3.0", "assert result", "only truthy"),
        ("assert result == 3.0", "assert result is not None", "only not one value"),
        ("assert result == 3.0", "assert result in (3.0, 4.0)", "only in"),
        ("assert result == 3.0", "assert result > 0", "only a bound"),
        ("assert result == 3.0", "assert isinstance(result, float)", "only isinstance"),
        ("assert result == 3.0", "assert result == 3.0 or True", "always true"),
        ("assert result == 3.0", "assert (result == 3.0, 'differs')", "always true"),
        ("assert result == 3.0", "assert result == result", "compared with itself"),
        ("assert result == 3.0", "expected = result\n    assert result == expected", "compared with itself"),
        ("assert result == 3.0", "result = 3.0\n    assert result == 3.0", "compared with itself"),
        ("assert result == 3.0", "if 0:\n        assert result == 3.0", "never checked: under `if 0`"),
        ("    assert result == 3.0", "    return\n    assert result == 3.0", "never checked: after `return`"),
        ("assert cart.items == [", "assert len(cart.items) == len([", "only the length"),
        ("assert cart.items == [", "assert sorted(cart.items) == sorted([", "without the order"),
        ("rel=1e-6", "rel=0.5", "larger tolerance: rel"),
        ("Broken, match", "ValueError, match", "any ValueError is enough"),
        ("Broken, match", "Exception, match", "any Exception is enough"),
        ("Broken, match", "(Broken, TypeError), match", "more kinds of exceptions are enough"),
        (', match="no price for x"', "", "no message is demanded"),
        ("no price for x", ".*", "any message is enough"),
        ("no price for x", "price", "less of the message is demanded"),
        ("(1, 1.0), ", "", "parameters removed: 1 of 4"),
        ("(1, 1.0)", "pytest.param(1, 1.0, marks=pytest.mark.skip)", "a row is newly skipped"),
        ("def test_errors", "def errors", "pytest no longer collects it"),
        ("def test_errors", "@pytest.mark.skip\ndef test_errors", "newly marked skip"),
        ("    prepare()", "    pytest.skip('later')\n    prepare()", "skips"),
        ("class TestCart:", "class TestCart:\n    __test__ = False", "not collected: __test__ = False"),
        ("import pytest", "import pytest\npytestmark = pytest.mark.xfail", "newly marked xfail"),
        ("import pytest", "import pytest\npytest.skip('later', allow_module_level=True)", "newly marked skip"),
        ("import pytest", "import pytest\npytest.importorskip('absent')", "newly marked skip"),
        (
            "import pytest",
            "import pytest\nfrom pytest import importorskip\nimportorskip('absent')",
            "newly marked skip",
        ),
        ("import pytest", "import pytest\npytest.importorskip(modname='absent.part')", "newly marked skip"),
        ("assert result == 3.0", "result: float = 3.0\n    assert result == 3.0", "compared with itself"),
        ("class TestCart:", "class TestCart:\n    def __init__(self): ...", "not collected: its class has an __init__"),
    ],
)
def test_a_weakening_is_told(old: str, new: str, what: str) -> None:
    if "len([" in new or "sorted([" in new:
        new, old = f'{new}"a", "b"])', f'{old}"a", "b"]'

    assert (what, True) in {(each.what, each.is_strong) for each in edited(old, new)}


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("len(a) == 3", "len(a) in (3, 4)", ["only in"]),
        ("id(a) == id(b)", "id(a)", ["only truthy"]),
        ("a.dtype == int64", "isinstance(a.dtype, object)", ["only isinstance"]),
        ("len(a) == 3", "len(a) == 4", []),
        ("type(a) == Shop", "isinstance(a, Shop)", []),
    ],
)
def test_an_equality_of_a_property_is_an_equality(old: str, new: str, what: list[str]) -> None:
    found = told(f"def test_a():\n    assert {old}\n", f"def test_a():\n    assert {new}\n")

    assert [each.what for each in found] == what


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def test_errors", "def test_broken_prices"),
        ("    assert result == 3.0", "    assert 3.0 == result"),
        (
            "    result = total([1, 2])\n    assert result == 3.0",
            "    assert total([1, 2]) == 3.0\n    result = total([1, 2])",
        ),
        ("    assert result == 3.0", "    found = result\n    assert found == 3.0"),
        ("    assert result == 3.0", "    assert result == 3.0, 'the sum'"),
        ("raises(Broken", "raises(Missing"),
        (", (3, 3.5)])", "])"),
        ("(1, 1.0), (2, 2.0)", "(2, 2.0), pytest.param(1, 1.0, id='one')"),
        ("assert result == 3.0", "assert (result == 3.0) is True"),
        ("    assert result == 3.0", "    seen = {}\n    total([1], seen)\n    assert seen\n    assert result == 3.0"),
        (
            "    assert result == 3.0",
            "    found = []\n    keep(found, result)\n    for each in found:\n        assert each == 3.0",
        ),
        ("import pytest", "import numpy, pytest\npytest.importorskip('numpy.linalg')"),
        ("import pytest", "import pytest\nfrom pytest import importorskip\nimportorskip()"),
        ("    result = total([1, 2])\n", "    result: float = total([1, 2])\n"),
        ("    assert result == 3.0", "    match result.kind:\n        case 1:\n            assert result == 3.0"),
    ],
)
def test_an_honest_edit_is_no_strong_weakening(old: str, new: str) -> None:
    assert [each for each in edited(old, new) if each.is_strong] == []


def test_tests_that_became_rows_of_parameters_are_not_lost() -> None:
    before = "def test_a():\n    assert f(1) == 2\ndef test_b():\n    assert f(2) == 3\n"
    now = "@pytest.mark.parametrize('x, y', [(1, 2), (2, 3)])\ndef test_f(x, y):\n    assert f(x) == y\n"

    assert told(before, now) == []


def test_checks_that_became_a_loop_are_not_lost() -> None:
    before = "def test_a():\n    assert f(1) == 2\n    assert f(2) == 3\n    assert f(3) == 4\n"
    now = "def test_a():\n    for x, y in [(1, 2), (2, 3), (3, 4)]:\n        assert f(x) == y\n"

    assert told(before, now) == []


def test_a_row_that_got_lost_on_the_way_is_told() -> None:
    before = "".join(f"def test_{n}():\n    assert f({n}) == {n + 1}\n" for n in (3, 1, 2))
    now = "@pytest.mark.parametrize('x, y', [(1, 2), (2, 3)])\ndef test_f(x, y):\n    assert f(x) == y\n"

    assert [each.what for each in told(before, now)] == ["test vanished"]


def test_a_check_that_moved_into_a_function_that_is_called_is_not_lost() -> None:
    checks = "    assert shop.price == 1\n    assert shop.name == 'x'\n"
    before = f"def test_a():\n    shop = Shop()\n{checks}"
    now = f"def check_shop(shop):\n{checks}def test_a():\n    check_shop(Shop())\n"

    assert [each for each in told(before, now) if each.is_strong] == []


def test_checks_that_became_a_predicate_are_only_remarked_on() -> None:
    before = "def test_a():\n    shop = Shop()\n    assert shop.price == 1\n    assert shop.name == 'x'\n"
    now = (
        "def is_whole(shop):\n    return shop.price == 1\ndef test_a():\n    shop = Shop()\n    assert is_whole(shop)\n"
    )

    assert [each for each in told(before, now) if each.is_strong] == []


def test_a_check_that_a_called_function_no_longer_makes_is_told() -> None:
    before = (
        "def check(shop):\n    assert shop.price == 1\n    assert shop.name == 'x'\ndef test_a():\n    check(Shop())\n"
    )

    found = told(before, before.replace("    assert shop.name == 'x'\n", ""))

    assert [(each.what, each.before) for each in found] == [("check deleted", "assert shop.name == 'x'")]


def test_a_test_that_moved_to_another_file_is_compared_with_itself() -> None:
    test = "def test_a():\n    assert f(1) == 2\n"

    edits = compare_tests({FILE: test, "tests/test_new.py": None}, {FILE: "", "tests/test_new.py": test})

    assert (edits.weakened, edits.new, edits.edited) == ((), (), ())


def test_a_unittest_assertion_is_the_same_as_its_plain_form() -> None:
    before = (
        "class A(TestCase):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n        self.assertIn(3, g())\n"
    )
    now = "class A(TestCase):\n    def test_a(self):\n        assert f(1) == 2\n        assert 3 in g()\n"

    assert told(before, now) == []
    assert [each.what for each in told(before, before.replace("assertEqual(f(1), 2)", "assertTrue(f(1))"))] == [
        "only truthy"
    ]


@pytest.mark.parametrize(
    ("file", "before", "now", "what"),
    [
        (
            "pyproject.toml",
            "[tool.coverage.report]\nfail_under = 90",
            "[tool.coverage.report]\nfail_under = 80",
            "a threshold is lower",
        ),
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = --deselect tests/test_a.py", "tests deselected by addopts"),
        ("tox.ini", "[pytest]\ntestpaths = a b", "[pytest]\ntestpaths = a", "pytest looks at less: testpaths"),
        ("setup.cfg", "", "[tool:pytest]\npython_files = check_*.py", "pytest looks at less: python_files"),
        ("tests/conftest.py", "", "collect_ignore = ['test_a.py']", "files left out by collect_ignore"),
    ],
)
def test_a_setting_that_demands_less_is_told(file: str, before: str, now: str, what: str) -> None:
    assert [(each.what, each.is_strong) for each in compare_tests({file: before}, {file: now}).weakened] == [
        (what, True)
    ]


def test_a_setting_that_moved_to_another_file_demands_no_less() -> None:
    cfg, toml = "[tool:pytest]\naddopts = -m 'not slow'\n", "[tool.pytest.ini_options]\naddopts = \"-m 'not slow'\"\n"
    before: dict[str, str | None] = {"setup.cfg": cfg, "pyproject.toml": None}

    assert compare_tests(before, {"setup.cfg": None, "pyproject.toml": toml}).weakened == ()


def test_a_deletion_that_comes_with_other_checks_is_only_remarked_on() -> None:
    found = edited('assert result.unit == "EUR"', "assert result.currency == EUR.code")
    gone = told("def test_a():\n    assert f(1) == 2\n", "def test_b():\n    with raises(E):\n        f(3)\n")

    assert [each for each in [*found, *gone] if each.is_strong] == []


def test_a_test_of_what_was_deleted_is_only_remarked_on() -> None:
    before = {FILE: "def test_a():\n    assert old(1) == 2\n", "prices.py": "def old(x):\n    return x\n"}

    found = compare_tests(before, {FILE: "", "prices.py": ""}).weakened

    assert [(each.what, each.is_strong) for each in found] == [("test vanished", False)]


def test_an_expected_value_that_changed_is_listed_and_not_judged() -> None:
    edits = compare_tests({FILE: BEFORE}, {FILE: BEFORE.replace("== 3.0", "== 4.0")})

    assert edits.weakened == ()
    assert [(each.before, each.after) for each in edits.values] == [("assert result == 3.0", "assert result == 4.0")]


def test_new_and_edited_tests_are_listed() -> None:
    edits = compare_tests({FILE: BEFORE}, {FILE: BEFORE.replace("3.0", "4.0") + "\ndef test_new():\n    assert f()\n"})

    assert edits.new == (f"{FILE}::test_new",)
    assert edits.edited == (f"{FILE}::test_total",)
    assert edits.weakened == ()


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name)
def test_another_format_is_no_change(path: Path) -> None:
    source = path.read_text(encoding="utf-8")

    edits = compare_tests({FILE: source}, {FILE: ast.unparse(ast.parse(source))})

    assert (edits.weakened, edits.new, edits.edited) == ((), (), ())


@settings(max_examples=50, deadline=None)
@given(order=st.permutations(range(5)), names=st.lists(st.sampled_from("abcdefg"), min_size=5, max_size=5, unique=True))
def test_the_order_of_tests_and_the_names_of_locals_say_nothing(order: list[int], names: list[str]) -> None:
    tests = [f"def test_{n}():\n    {{0}} = make({n})\n    assert {{0}}.size == {n}\n" for n in range(5)]

    now = "".join(tests[n].format(names[n]) for n in order)

    assert told("".join(each.format("result") for each in tests), now) == []


def test_a_check_that_is_deleted_inside_a_case_is_told() -> None:
    before = "def test_a(x):\n    match f(x):\n        case 1:\n            g()\n            assert h(x) == 2\n"

    found = told(before, before.replace("            assert h(x) == 2\n", ""))

    assert [(each.what, each.before, each.is_strong) for each in found] == [("check deleted", "assert h(x) == 2", True)]


def test_a_name_that_is_assigned_with_an_annotation_is_what_is_assigned_to_it() -> None:
    before, now = (f"def test_a():\n    {n}: int = f(1)\n    g()\n    assert {n} == {v}\n" for n, v in ("x1", "y2"))

    assert [each.after for each in compare_tests({FILE: before}, {FILE: now}).values] == ["assert y == 2"]
