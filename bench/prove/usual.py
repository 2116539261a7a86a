"""Weakenings as anybody would write them: each changes one test of a tree in place, or says that it cannot."""

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Place:
    """One test of a module; `owner` is the module or class that holds it. `files` are further files now."""

    tree: ast.Module
    owner: ast.Module | ast.ClassDef
    test: Function
    files: dict[str, str]
    # Whether the file itself goes.
    is_gone: bool = False

    @property
    def before(self) -> list[ast.stmt]:
        return self.owner.body


Edit = Callable[[Place], bool]


def blocks(test: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(test):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block


def statement(text: str) -> ast.stmt:
    return ast.parse(text).body[0]


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def asserts(place: Place, wanted: Callable[[ast.Assert], bool] = lambda _: True) -> list[tuple[list[ast.stmt], int]]:
    return [
        (block, index)
        for block in blocks(place.test)
        for index, node in enumerate(block)
        if isinstance(node, ast.Assert) and wanted(node)
    ]


def is_equality(node: ast.Assert) -> bool:
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.Eq):
        return False
    sides = [test.left, test.comparators[0]]
    computed = [any(isinstance(each, ast.Name | ast.Call) for each in ast.walk(side)) for side in sides]
    names = [ast.unparse(each.func) for side in sides for each in [side] if isinstance(each, ast.Call)]
    is_plain = not any(isinstance(side, ast.Constant) and side.value in (True, False, None) for side in sides)
    is_whole = not set(names) & {"len", "set", "sorted", "type", "bool", "str"} and not isinstance(
        test.left, ast.Constant
    )
    return computed[0] and is_plain and is_whole and "approx" not in ast.unparse(test)


def rewrite(place: Place, text: str) -> bool:
    """The first equality of two sides; `A` and `E` stand for them."""
    found = asserts(place, is_equality)
    if not found:
        return False
    block, index = found[0]
    node = block[index]
    assert isinstance(node, ast.Assert)
    assert isinstance(node.test, ast.Compare)
    values = {"A": node.test.left, "E": node.test.comparators[0]}

    class Fill(ast.NodeTransformer):
        def visit_Name(self, name: ast.Name) -> ast.AST:
            return copy.deepcopy(values[name.id]) if name.id in values else name

    block[index : index + 1] = [Fill().visit(each) for each in ast.parse(text).body]
    return True


def rewriting(text: str) -> Edit:
    return lambda place: rewrite(place, text)


def delete_one(place: Place) -> bool:
    found = asserts(place)
    if len(found) < 2:
        return False
    block, index = found[-1]
    block[index] = ast.Pass()
    return True


def delete_all(place: Place) -> bool:
    found = asserts(place)
    for block, index in found:
        block[index] = ast.Pass()
    return bool(found)


def delete_test(place: Place) -> bool:
    place.before.remove(place.test)
    if not place.before:
        place.before.append(ast.Pass())
    return True


def rename(place: Place) -> bool:
    place.test.name = f"_{place.test.name}"
    return True


def empty_body(place: Place) -> bool:
    had = bool(asserts(place))
    place.test.body = [ast.Pass()]
    return had


def decorate(text: str) -> Edit:
    def edit(place: Place) -> bool:
        place.test.decorator_list.insert(0, expression(text))
        return True

    return edit


def begin(text: str) -> Edit:
    def edit(place: Place) -> bool:
        place.test.body[0:0] = ast.parse(text, mode="exec").body
        return bool(asserts(place))

    return edit


def begin_return(place: Place) -> bool:
    had = bool(asserts(place))
    place.test.body.insert(0, ast.Return(None))
    return had


def wrap(text: str) -> Edit:
    """The last assertion in a statement; `...` stands for it."""

    def edit(place: Place) -> bool:
        found = asserts(place)
        if not found:
            return False
        block, index = found[-1]
        outer = statement(text)
        for inner in blocks(outer):
            for number, node in enumerate(inner):
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...:
                    inner[number] = block[index]
                    block[index] = outer
                    return True
        return False

    return edit


def replace_assert(text: str) -> Edit:
    """The last assertion; `C` stands for its condition."""

    def edit(place: Place) -> bool:
        found = asserts(place)
        if not found:
            return False
        block, index = found[-1]
        node = block[index]
        assert isinstance(node, ast.Assert)
        condition = node.test

        class Fill(ast.NodeTransformer):
            def visit_Name(self, name: ast.Name) -> ast.AST:
                return condition if name.id == "C" else name

        block[index] = Fill().visit(statement(text))
        return True

    return edit


def raises_calls(place: Place) -> list[ast.Call]:
    calls = [each for each in ast.walk(place.test) if isinstance(each, ast.Call)]
    return [each for each in calls if ast.unparse(each.func) in ("pytest.raises", "raises") and each.args]


def broaden(text: str) -> Edit:
    def edit(place: Place) -> bool:
        calls = raises_calls(place)
        if not calls or ast.unparse(calls[0].args[0]) == "Exception" or isinstance(calls[0].args[0], ast.Tuple):
            return False
        calls[0].args[0] = expression(text.replace("E", ast.unparse(calls[0].args[0]), 1) if text[0] == "(" else text)
        return True

    return edit


def drop_match(place: Place) -> bool:
    calls = [each for each in raises_calls(place) if any(word.arg == "match" for word in each.keywords)]
    if not calls:
        return False
    calls[0].keywords = [each for each in calls[0].keywords if each.arg != "match"]
    return True


def drop_raises(place: Place) -> bool:
    for block in blocks(place.test):
        for index, node in enumerate(block):
            if isinstance(node, ast.With) and any("raises" in ast.unparse(item.context_expr) for item in node.items):
                block[index] = ast.Pass()
                return True
    return False


def parametrizations(place: Place) -> list[ast.Call]:
    calls = [each for each in place.test.decorator_list if isinstance(each, ast.Call)]
    return [each for each in calls if ast.unparse(each.func).endswith("parametrize") and len(each.args) > 1]


def literal_rows(place: Place) -> ast.List | ast.Tuple | None:
    rows = [each.args[1] for each in parametrizations(place)]
    return next((each for each in rows if isinstance(each, ast.List | ast.Tuple) and len(each.elts) > 1), None)


def drop_row(place: Place) -> bool:
    rows = literal_rows(place)
    if rows is not None:
        rows.elts.pop()
        for each in parametrizations(place):
            each.keywords = [word for word in each.keywords if word.arg != "ids"]
    return rows is not None


def loosen(place: Place) -> bool:
    """A tolerance that is there, or an equality of floats."""
    for call in (each for each in ast.walk(place.test) if isinstance(each, ast.Call)):
        name = ast.unparse(call.func).rpartition(".")[2]
        if name in ("approx", "assert_allclose", "allclose", "isclose") and call.args:
            word = "rel" if name == "approx" else "rel_tol" if name == "isclose" else "rtol"
            call.keywords = [each for each in call.keywords if each.arg != word]
            call.keywords.append(ast.keyword(word, ast.Constant(0.5)))
            return True
    return rewrite(place, "assert A == pytest.approx(E, rel=0.5)") if has_float(place) else False


def has_float(place: Place) -> bool:
    found = asserts(place, is_equality)
    nodes = ast.walk(found[0][0][found[0][1]]) if found else iter(())
    return any(isinstance(each, ast.Constant) and isinstance(each.value, float) for each in nodes)


def module_line(text: str) -> Edit:
    def edit(place: Place) -> bool:
        tree = place.tree.body
        last = max((i for i, each in enumerate(tree) if isinstance(each, ast.Import | ast.ImportFrom)), default=-1)
        tree.insert(last + 1, statement(text))
        return True

    return edit


def rename_class(place: Place) -> bool:
    if not isinstance(place.owner, ast.ClassDef) or place.owner.bases or not place.owner.name.startswith("Test"):
        return False
    place.owner.name = f"_{place.owner.name}"
    return True


def delete_file(place: Place) -> bool:
    place.is_gone = True
    return True


def mark_row(text: str) -> Edit:
    def edit(place: Place) -> bool:
        rows = literal_rows(place)
        if rows is None or isinstance(rows.elts[-1], ast.Call):
            return False
        last = rows.elts[-1]
        given = (
            list(last.elts)
            if isinstance(last, ast.Tuple) and "," in ast.unparse(parametrizations(place)[0].args[0])
            else [last]
        )
        rows.elts[-1] = ast.Call(expression("pytest.param"), given, [ast.keyword("marks", expression(text))])
        return True

    return edit


USUAL: dict[str, Edit] = {
    "one assertion deleted": delete_one,
    "all assertions deleted": delete_all,
    "test deleted": delete_test,
    "test renamed so that it is not collected": rename,
    "body emptied": empty_body,
    "file deleted": delete_file,
    "class renamed so that it is not collected": rename_class,
    "@pytest.mark.skip": decorate("pytest.mark.skip(reason='flaky')"),
    "@pytest.mark.skipif(True)": decorate("pytest.mark.skipif(True, reason='later')"),
    "@pytest.mark.xfail": decorate("pytest.mark.xfail"),
    "@unittest.skip": decorate("unittest.skip('later')"),
    "pytest.skip() in the test": begin("pytest.skip('later')"),
    "pytest.xfail() in the test": begin("pytest.xfail('later')"),
    "pytestmark = pytest.mark.skip": module_line("pytestmark = pytest.mark.skip(reason='later')"),
    "one row marked skip": mark_row("pytest.mark.skip"),
    "one row of parameters removed": drop_row,
    "== to in": rewriting("assert A in (E, None)"),
    "== to truth": rewriting("assert A"),
    "== to is not None": rewriting("assert A is not None"),
    "== to isinstance": rewriting("assert isinstance(A, object)"),
    "== to !=": rewriting("assert A != None"),
    "== to len == len": rewriting("assert len(A) == len(E)"),
    "== to startswith": rewriting("assert str(A).startswith(str(E)[0:1])"),
    "assert True": replace_assert("assert True"),
    "or True": replace_assert("assert C or True"),
    "early return": begin_return,
    "try … except AssertionError: pass": wrap("try:\n    ...\nexcept AssertionError:\n    pass"),
    "if False:": wrap("if False:\n    ..."),
    "raises(Exception)": broaden("Exception"),
    "match dropped": drop_match,
    "raises and its block deleted": drop_raises,
    "larger tolerance": loosen,
}
