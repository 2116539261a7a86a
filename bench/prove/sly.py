"""Weakenings that a reader overlooks."""

import ast
import copy

from bench.prove.usual import (
    Edit,
    Place,
    asserts,
    begin,
    blocks,
    broaden,
    decorate,
    expression,
    is_equality,
    literal_rows,
    module_line,
    parametrizations,
    raises_calls,
    replace_assert,
    rewriting,
    statement,
    wrap,
)


def at_the_end(text: str) -> Edit:
    def edit(place: Place) -> bool:
        name = place.test.name if isinstance(place.owner, ast.Module) else f"{place.owner.name}.{place.test.name}"
        place.tree.body.append(statement(text.replace("T", name)))
        return True

    return edit


def in_class(text: str) -> Edit:
    def edit(place: Place) -> bool:
        if not isinstance(place.owner, ast.ClassDef) or place.owner.bases:
            return False
        place.owner.body.insert(0, statement(text))
        return True

    return edit


def uncalled(place: Place) -> bool:
    found = asserts(place)
    if not found:
        return False
    block, index = found[-1]
    inner = statement("def check():\n    pass")
    assert isinstance(inner, ast.FunctionDef)
    inner.body, block[index] = [block[index]], inner
    return True


def match_to(pattern: str) -> Edit:
    def edit(place: Place) -> bool:
        for call in raises_calls(place):
            for word in call.keywords:
                if (
                    word.arg == "match"
                    and isinstance(word.value, ast.Constant)
                    and len(str(word.value.value).split()) > 1
                ):
                    text = str(word.value.value)
                    word.value = ast.Constant(text.split(maxsplit=1)[0] if pattern == "FIRST" else pattern)
                    return True
        return False

    return edit


def longer_raises(place: Place) -> bool:
    """The statement before it moves in."""
    for block in blocks(place.test):
        for index, node in enumerate(block):
            if index and isinstance(node, ast.With) and "raises" in ast.unparse(node.items[0]):
                node.body.insert(0, block.pop(index - 1))
                return True
    return False


BUILTIN_PARENTS = {"KeyError": "LookupError", "IndexError": "LookupError", "ZeroDivisionError": "ArithmeticError"}
BUILTIN_PARENTS |= {
    "FileNotFoundError": "OSError",
    "UnicodeDecodeError": "ValueError",
    "NotImplementedError": "RuntimeError",
}
BUILTIN_PARENTS |= {"ValueError": "Exception", "TypeError": "Exception", "AttributeError": "Exception"}


def parent(place: Place) -> bool:
    for call in raises_calls(place):
        name = ast.unparse(call.args[0])
        if name in BUILTIN_PARENTS and BUILTIN_PARENTS[name] != "Exception":
            call.args[0] = ast.Name(BUILTIN_PARENTS[name])
            return True
    return False


def rows_in_a_variable(place: Place) -> bool:
    rows = literal_rows(place)
    if rows is None:
        return False
    call = next(each for each in parametrizations(place) if each.args[1] is rows)
    call.keywords = []
    call.args[1] = ast.Name("CASES")
    where = place.tree.body.index(place.owner if place.owner in place.tree.body else place.test)
    place.tree.body.insert(where, ast.Assign([ast.Name("CASES")], ast.List(rows.elts[:-1]), lineno=1))
    return True


def no_rows(place: Place) -> bool:
    rows = literal_rows(place)
    if rows is not None:
        rows.elts.clear()
    return rows is not None


def overwritten(text: str) -> Edit:
    """Before an equality with a name at the left."""

    def edit(place: Place) -> bool:
        for block, index in asserts(place, is_equality):
            node = block[index]
            assert isinstance(node, ast.Assert)
            assert isinstance(node.test, ast.Compare)
            left, right = node.test.left, node.test.comparators[0]
            if isinstance(left, ast.Name) and (text == "left" or isinstance(right, ast.Name)):
                a, b = (left, right) if text == "left" else (right, left)
                block.insert(index, ast.parse(f"{ast.unparse(a)} = {ast.unparse(b)}").body[0])
                return True
        return False

    return edit


def shadowed(place: Place) -> bool:
    again = copy.deepcopy(place.test)
    again.body, again.decorator_list = [ast.Pass()], []
    place.before.append(again)
    return bool(asserts(place))


def swallowing_decorator(place: Place) -> bool:
    if not isinstance(place.owner, ast.Module):
        return False
    place.tree.body.insert(
        place.tree.body.index(place.test),
        statement("def quiet(function):\n    def test(*a, **k):\n        return None\n    return test"),
    )
    place.test.decorator_list.append(ast.Name("quiet"))
    return bool(asserts(place))


def generator(place: Place) -> bool:
    had = bool(asserts(place))
    place.test.body.append(statement("yield"))
    return had and isinstance(place.test, ast.FunctionDef)


def settings(name: str, text: str) -> Edit:
    def edit(place: Place) -> bool:
        place.files[name] = text
        return True

    return edit


def fixture(place: Place) -> bool:
    place.tree.body.insert(
        place.tree.body.index(place.owner if place.owner in place.tree.body else place.test),
        statement("@pytest.fixture(autouse=True)\ndef prepared():\n    pytest.skip('later')"),
    )
    return True


def marked_slow(place: Place) -> bool:
    place.test.decorator_list.append(expression("pytest.mark.slow"))
    place.files["pytest.ini"] = "[pytest]\naddopts = -m 'not slow'\n"
    return True


def weaker_mock(place: Place) -> bool:
    for call in (each for each in ast.walk(place.test) if isinstance(each, ast.Call)):
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("assert_called_once_with", "assert_called_with"):
            call.func.attr, call.args, call.keywords = "assert_called", [], []
            return True
    return False


HOOK = """import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.skip)
"""
SLY: dict[str, Edit] = {
    "importorskip of what is not there": module_line("pytest.importorskip('not_installed_here')"),
    "pytest.skip(allow_module_level=True)": module_line("pytest.skip('later', allow_module_level=True)"),
    "__test__ = False": in_class("__test__ = False"),
    "test.__test__ = False": at_the_end("T.__test__ = False"),
    "del test": at_the_end("del T"),
    "__init__ in the class": in_class("def __init__(self):\n    pass"),
    "assertion in an uncalled function": uncalled,
    "while False:": wrap("while False:\n    ..."),
    "loop over nothing": wrap("for _ in []:\n    ..."),
    "loop over range(0)": wrap("for _ in range(0):\n    ..."),
    "if an environment variable is set": wrap("if os.environ.get('STRICT_TESTS'):\n    ..."),
    "contextlib.suppress(AssertionError)": wrap("with contextlib.suppress(AssertionError):\n    ..."),
    "try … except Exception: pytest.skip()": wrap("try:\n    ...\nexcept Exception:\n    pytest.skip('environment')"),
    "match='.*'": match_to(".*"),
    "match with one word of it": match_to("FIRST"),
    "a further statement under raises": longer_raises,
    "LookupError for KeyError": parent,
    "raises((E, Exception))": broaden("(E, Exception)"),
    "rows in a variable, one less": rows_in_a_variable,
    "no rows": no_rows,
    "result overwritten by the expected value": overwritten("left"),
    "expected value overwritten by the result": overwritten("right"),
    "slices of both sides": rewriting("assert A[:1] == E[:1]"),
    "x == x": rewriting("assert A == A"),
    "expected.startswith(actual)": rewriting("assert str(E).startswith(str(A))"),
    "actual in expected": rewriting("assert str(A) in str(E)"),
    "sets of both sides": rewriting("assert set(A) == set(E)"),
    "types of both sides": rewriting("assert type(A) == type(E)"),
    "bool of both sides": rewriting("assert bool(A) == bool(E)"),
    "a tuple is asserted": rewriting("assert (A == E, 'not equal')"),
    "or with a weaker condition": rewriting("assert A == E or A is not None"),
    "conditional expression": replace_assert("assert C if False else True"),
    "a later test of the same name": shadowed,
    "decorator that swallows": swallowing_decorator,
    "test becomes a generator": generator,
    "skipif that always holds": decorate("pytest.mark.skipif(sys.version_info >= (3,), reason='old')"),
    "autouse fixture that skips": fixture,
    "skip under a condition": begin("if not os.environ.get('FULL'):\n    pytest.skip('slow')"),
    "mark that settings deselect": marked_slow,
    "--deselect in settings": settings("pytest.ini", "[pytest]\naddopts = --deselect tests/test_x.py::test_a\n"),
    "collect_ignore": settings("tests/conftest.py", "collect_ignore = ['test_x.py']\n"),
    "hook that skips": settings("tests/conftest.py", HOOK),
    "python_files": settings("pytest.ini", "[pytest]\npython_files = check_*.py\n"),
    "assert_called() for assert_called_with()": weaker_mock,
}
