import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytest_mcp
from pytest_mcp.proof.arid import lines_aside, lines_with_code
from pytest_mcp.proof.mutants import Mutant, in_order, mutants_of

SOURCES = sorted(Path(pytest_mcp.__file__).parent.rglob("*.py"))


def of(source: str, file: str = "lib.py") -> list[Mutant]:
    return mutants_of(file, source, range(1, source.count("\n") + 2))


def edits(source: str) -> set[str]:
    return {mutant.after for mutant in of(source)}


@given(st.sampled_from(SOURCES))
def test_every_mutant_is_another_program_with_the_same_lines(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    source, whole = text.encode(), ast.dump(ast.parse(text))

    for mutant in mutants_of("lib.py", text, range(text.count("\n"))):
        changed = mutant.applied_to(source)
        assert changed.count(b"\n") == source.count(b"\n")
        assert ast.dump(ast.parse(changed)) != whole
        assert mutant.first <= mutant.line <= mutant.last


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {"x = a <= b"}),
        ("x = a == b", {"x = a != b"}),
        ("x = 3", {"x = 4"}),
        ("x = a * b - c", {"x = (a // b) - c", "x = a * b + c"}),
        ("x = a and b", {"x = a or b"}),
        ("x = not a", {"x = a"}),
        ("x = f(flag=True)", {"x = f(flag=False)"}),
        ("if ready:\n    go()", {"if not ready:", "pass"}),
        ("def f():\n    return g()", {"return None"}),
        ("self.x = y", {"pass"}),
        ("items.append(1)", {"pass"}),
        ("x = (a <\n     b)", {"x = (a <= b)"}),
    ],
)
def test_an_edit_is_one_that_a_test_should_notice(source: str, expected: set[str]) -> None:
    assert edits(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""Words."""',
        "import a",
        "assert x == 1",
        "x = 1 if a else 2  # pragma: no cover",
        "if TYPE_CHECKING:\n    x = 1",
        "if __name__ == '__main__':\n    main()",
        "@overload\ndef f(x=1): return 1",
        "@abstractmethod\ndef f(x): return 1",
        "def f(x):\n    raise NotImplementedError",
        "__version__ = '1' == '2'",
        "log.debug(x + 1)",
        "def __repr__(self):\n    return f'{self.x + 1}'",
        "x = f(stacklevel=2, timeout=3)",
        "x = f'{a + 1}'",
        "if x > best:\n    best = x",
        "x: int = y",
        "x = a + 'text'",
        "x = text.rfind(' ', 1)",
    ],
)
def test_nothing_is_edited_that_nobody_would_write_a_test_for(source: str) -> None:
    assert edits(source) == set()


def test_examples_files_that_cannot_be_parsed_and_lines_that_did_not_change_have_none() -> None:
    assert of("x = 1", "examples/shop.py") == []
    assert of("x = = 1") == []
    assert mutants_of("lib.py", "x = 1\ny = 2\n", [2])[0].line == 2


def test_what_is_nested_too_deeply_harms_only_if_it_changed() -> None:
    source = f"x = {' + '.join(['a'] * 700)}\ny = b < 1\n"

    assert {mutant.line for mutant in mutants_of("lib.py", source, [2])} == {2}
    with pytest.raises(RecursionError):
        mutants_of("lib.py", source, [1])


def test_every_line_comes_once_before_any_line_comes_twice() -> None:
    ordered = in_order(of("x = a < b + 1\ny = c < d + 2\n"))

    assert [mutant.line for mutant in ordered] == [1, 2, 1, 2, 1, 2]
    assert ordered[0].kind == "boundary"


def test_edits_of_a_condition_and_of_what_stands_under_it_miss_one_check() -> None:
    source = "if a < 1:\n    b.append(g + 2)\n    if c:\n        d.append(g + 2)\nelif e < 1:\n    f.append(g + 2)\n"

    assert {mutant.line: mutant.check for mutant in of(source)} == {1: 1, 2: 1, 3: 1, 4: 3, 5: 5, 6: 5}


def test_lines_aside_are_those_that_no_test_has_to_run() -> None:
    source = (
        "if TYPE_CHECKING:\n    import a\nx = 1\ndef f():\n    raise NotImplementedError\ny = 2  # pragma: no cover\n"
    )

    assert lines_aside(source) == {1, 2, 5, 6}


def test_lines_with_code_are_those_on_which_a_statement_begins() -> None:
    assert lines_with_code('"""Words."""\n\n# more\nx = (\n    1)\n') == {4}
