"""Failures as data, read from what pytest itself makes of an exception."""

import bisect
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.run.events import Chain
from tests.support.invented.records import CHAIN

# Modules of the child are not part of the package, so types are not known here.
describe = import_module("pytest_mcp.child.describe")
chain_of = describe.chain_of

SHOP = '''
def price(name, table):
    """A docstring."""
    amount = 3
    return table[name][
        "price"
    ] * amount

def sell():
    try:
        price("pen", {})
    except KeyError as error:
        raise ValueError("no pen\\n  or ink") from error

def give():
    try:
        price("pen", {})
    except KeyError:
        raise ValueError("no gift")

def endless(depth):
    return endless(depth + 1) + 1

def boast():
    price("pen", "x" * 9000)

def compute():
    raise RuntimeError("no result") from ValueError("in another process\\nline 2")

def gather():
    inner = ExceptionGroup("inner", [KeyError("k"), OSError("line one\\n  | line two")])
    try:
        sell()
    except ValueError as error:
        raise ExceptionGroup("several", [error, inner]) from None

def expect():
    try:
        gather()
    except ExceptionGroup:
        assert False, "no group expected"

def without_traceback():
    members = [OSError("disk full"), ValueError("x = = 1\\n    ^")]
    raise LookupError("below") from ExceptionGroup("never raised", members)

def quoting():
    quoted = 'Traceback (most recent call last):\\n  File "other.py", line 1, in work\\nKeyError: 1'
    raise ExceptionGroup("workers", [RuntimeError(quoted), ValueError("x")])

def forging():
    raise LookupError("below") from OSError("  + Exception Group Traceback (most recent call last):\\n  | a\\n  vital")

def after_a_group():
    try:
        gather()
    except ExceptionGroup as group:
        try:
            raise LookupError("first") from group
        except LookupError as first:
            assert [1] == [2], "second"

def untraced():
    raise LookupError("below") from KeyError("never raised")

def many():
    raise ExceptionGroup("many", [ExceptionGroup("some", [KeyError(n) for n in range(9)]) for _ in range(9)])

def retry():
    error = KeyError("pen")
    for attempt in range(45):
        try:
            raise error
        except Exception as caught:
            error = ValueError("attempt %d" % attempt)
            error.__context__ = caught
    raise error

def hidden():
    __tracebackhide__ = True
    raise ValueError("nobody sees where\\nbut this")
'''


@pytest.fixture(autouse=True)
def _in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the child is: pytest shows paths as seen from its working directory."""
    monkeypatch.chdir(tmp_path)


def explained(folder: Path, call: str, **how: Any) -> Any:
    """What pytest makes of a failure in code of this folder."""
    file = folder / "shop.py"
    file.write_text(SHOP, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(compile(SHOP, str(file), "exec"), names)
    with pytest.raises(BaseException) as raised:  # noqa: PT011 - whatever it raises is looked at
        names[call](*[0] * names[call].__code__.co_argcount)
    usual: dict[str, Any] = {"style": "long", "funcargs": True}
    return raised.getrepr(**usual | how)


def told(folder: Path, call: str, **how: Any) -> Chain:
    """As it arrives, by way of JSON; without the frame of this file."""
    chain = chain_of(explained(folder, call, **how), str(folder))
    read = CHAIN(json.loads(json.dumps(chain)))
    return tuple(
        each._replace(frames=tuple(f for f in each.frames if not f.path.endswith("test_describe.py"))) for each in read
    )


@pytest.mark.parametrize("style", ["long", "short"])
def test_a_frame_has_its_place_in_the_project_its_function_and_its_statement(tmp_path: Path, style: str) -> None:
    first, last = told(tmp_path, "sell", style=style)

    assert [(frame.place, frame.function) for frame in first.frames] == [("shop.py:11", "sell"), ("shop.py:5", "price")]
    assert [(frame.place, frame.function) for frame in last.frames] == [("shop.py:13", "sell")]
    assert first.frames[0].statement == 'price("pen", {})'
    assert (first.frames[1].statement or "").startswith("return table[name][")


def test_a_frame_of_a_module_has_no_function_even_below_a_definition(tmp_path: Path) -> None:
    source = "def price():\n    return {}['pen']\n\nPEN = price()\n"
    (tmp_path / "prices.py").write_text(source, encoding="utf-8")
    with pytest.raises(KeyError) as raised:
        exec(compile(source, str(tmp_path / "prices.py"), "exec"), {})

    (only,) = CHAIN(chain_of(raised.getrepr(style="long"), str(tmp_path)))

    assert [(frame.place, frame.function) for frame in only.frames[1:]] == [
        ("prices.py:4", None),
        ("prices.py:2", "price"),
    ]


def test_arguments_have_their_values_and_local_variables_only_when_they_were_asked_for(tmp_path: Path) -> None:
    (without, _), (asked, _) = (told(tmp_path, "sell", showlocals=shown) for shown in (False, True))

    assert without.frames[-1].arguments == (("name", "'pen'"), ("table", "{}"))
    assert without.frames[-1].variables == ()
    assert [line.split()[0] for line in asked.frames[-1].variables] == ["amount", "name", "table"]


def test_the_text_of_an_exception_has_its_lines_without_pytests_mark_and_with_their_indentation(tmp_path: Path) -> None:
    first, last = told(tmp_path, "sell")

    assert first.text == ("KeyError: 'pen'",)
    assert last.text == ("ValueError: no pen", "  or ink")


def test_a_chain_says_how_the_next_exception_came_about(tmp_path: Path) -> None:
    assert [each.link for each in told(tmp_path, "sell")] == ["cause", None]
    assert [each.link for each in told(tmp_path, "give")] == ["context", None]


def test_a_group_is_told_before_its_members_with_the_frames_of_each(tmp_path: Path) -> None:
    chain = told(tmp_path, "gather")

    assert [(raised.link, raised.text[0]) for raised in chain] == [
        ("group", "ExceptionGroup: several (2 sub-exceptions)"),
        ("cause", "KeyError: 'pen'"),
        ("member", "ValueError: no pen"),
        ("group", "ExceptionGroup: inner (2 sub-exceptions)"),
        ("member", "KeyError: 'k'"),
        (None, "OSError: line one"),
    ]
    assert chain[-1].text == ("OSError: line one", "  | line two")
    assert [(frame.path, frame.function, frame.statement) for frame in chain[2].frames] == [
        ("shop.py", "gather", "sell()"),
        ("shop.py", "sell", 'raise ValueError("no pen\\n  or ink") from error'),
    ]


def test_what_was_raised_while_a_group_was_handled_is_told_once(tmp_path: Path) -> None:
    chain = told(tmp_path, "expect")

    assert [raised.link for raised in chain][-2:] == ["context", None]
    assert [raised.text[0] for raised in chain].count("AssertionError: no group expected") == 1
    assert chain[-1].frames[-1].function == "expect"


def test_each_exception_after_a_group_is_told_once_and_in_order(tmp_path: Path) -> None:
    chain = told(tmp_path, "after_a_group")

    assert [raised.text[0] for raised in chain][-3:] == [
        "OSError: line one",
        "LookupError: first",
        "AssertionError: second",
    ]


def test_a_group_that_was_never_raised_is_told_with_its_members_and_all_lines_of_their_texts(tmp_path: Path) -> None:
    chain = told(tmp_path, "without_traceback")

    assert [(raised.link, raised.text) for raised in chain[:-1]] == [
        ("group", ("ExceptionGroup: never raised (2 sub-exceptions)",)),
        ("member", ("OSError: disk full",)),
        ("cause", ("ValueError: x = = 1", "    ^")),
    ]


def test_what_a_message_quotes_is_its_text_and_neither_a_type_nor_a_frame_nor_a_group(tmp_path: Path) -> None:
    group, quoting, other = told(tmp_path, "quoting")
    forging, _ = told(tmp_path, "forging")

    assert quoting.text[0] == "RuntimeError: Traceback (most recent call last):"
    assert (quoting.text[-1], quoting.frames, other.text) == ("KeyError: 1", (), ("ValueError: x",))
    assert group.link == "group"
    assert (forging.link, forging.text[-1]) == ("cause", "  vital")


def test_an_exception_that_was_never_raised_has_its_text_and_no_frames(tmp_path: Path) -> None:
    first, last = told(tmp_path, "untraced")

    assert (first.link, first.text, first.frames) == ("cause", ("KeyError: 'never raised'",), ())
    assert last.frames[-1].function == "untraced"


def test_where_all_frames_are_hidden_the_text_has_no_mark_and_no_hint_for_a_person(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    exec(compile(SHOP, str(tmp_path / "shop.py"), "exec"), names)
    with pytest.raises(ValueError, match="nobody") as raised:
        names["hidden"]()
    shown = raised.getrepr(style="long", tbfilter=lambda excinfo: excinfo.traceback.filter(lambda _: False))

    assert chain_of(shown, str(tmp_path)) == [[None, None, ["ValueError: nobody sees where", "but this"], []]]


def test_a_path_outside_the_root_is_absolute(tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    chain = chain_of(explained(tmp_path, "sell", abspath=True), str(inside))

    assert {frame.path for each in CHAIN(chain) for frame in each.frames} == {str(tmp_path / "shop.py"), __file__}


@pytest.mark.parametrize(
    ("compiled_as", "place"),
    [
        # Beside the package that is imported.
        ("json/fast.pyx", f"{Path(json.__file__).parent}/fast.pyx:1"),
        # A module alone, whose file has another ending.
        ("bisect.pyx", f"{Path(bisect.__file__).parent}/bisect.pyx:1"),
        # Of the project itself, or of nobody that is known.
        ("inside.pyx", "inside.pyx:1"),
        ("nowhere/fast.pyx", "nowhere/fast.pyx:1"),
    ],
)
def test_code_that_was_compiled_elsewhere_belongs_to_its_package_and_not_to_the_project(
    tmp_path: Path, compiled_as: str, place: str
) -> None:
    (tmp_path / "inside.pyx").touch()
    with pytest.raises(KeyError) as raised:
        exec(compile("{}['pen']", compiled_as, "exec"))

    (told,) = CHAIN(chain_of(raised.getrepr(style="long"), str(tmp_path)))

    assert told.frames[-1].place == place


def test_of_a_deep_recursion_the_last_frames_are_told_and_how_many_there_were(tmp_path: Path) -> None:
    (raised,) = told(tmp_path, "endless", tbfilter=False)

    assert len(raised.frames) <= describe.MAX_FRAMES
    assert raised.note is not None
    assert raised.text[0].startswith("RecursionError")


@pytest.mark.parametrize(
    ("call", "first", "left_out", "last"),
    [
        ("retry", "KeyError: 'pen'", 6, "ValueError: attempt 44"),
        ("many", "ExceptionGroup: many (9 sub-exceptions)", 51, "KeyError: 8"),
    ],
)
def test_of_many_exceptions_the_first_and_the_last_are_told_and_the_others_counted(
    tmp_path: Path, call: str, first: str, left_out: int, last: str
) -> None:
    """A record of thousands of them would be too large for the server to read."""
    chain = told(tmp_path, call)

    assert (chain[0].headline, chain[-1].headline) == (first, last)
    assert len(chain) == describe.MAX_RAISED + 1
    assert chain[describe.MAX_RAISED // 2].headline == f"and {left_out} more exceptions"


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    (raised,) = told(tmp_path, "boast", truncate_args=False)

    assert len(dict(raised.frames[-1].arguments)["table"]) == describe.MAX_VALUE


class Odd:
    @property
    def reprtraceback(self) -> object:
        raise RuntimeError("a plugin's own")


@pytest.mark.parametrize("longrepr", [None, "only text", ("path", 3, "Skipped: no"), Odd(), object()])
def test_what_has_another_shape_has_no_chain(longrepr: object) -> None:
    assert chain_of(longrepr, "/project") is None


def test_a_traceback_that_python_wrote_is_told_in_pytests_short_style(tmp_path: Path) -> None:
    written = (
        "Traceback (most recent call last):\n"
        '  File "<frozen importlib._bootstrap>", line 690, in _load_unlocked\n'
        f'  File "{tmp_path}/conftest.py", line 4, in <module>\n'
        "    import nowhere\n"
        "    ^^^^^^^^^^^^^^\n"
        "ModuleNotFoundError: No module named 'nowhere'\n"
    )

    assert describe.short_native(written, str(tmp_path)).split("\n")[1:] == [
        "conftest.py:4: in <module>",
        "    import nowhere",
        "E   ModuleNotFoundError: No module named 'nowhere'",
    ]


def test_a_text_behind_the_last_exception_is_not_lost(tmp_path: Path) -> None:
    """pytest-check tells failed checks there. pytest itself has a text only between two exceptions."""
    longrepr = explained(tmp_path, "price")
    longrepr.chain = [(*longrepr.chain[0][:2], "FAILURE: check 4 == 3")]

    assert chain_of(longrepr, str(tmp_path)) is None
    assert "FAILURE: check 4 == 3" in describe.text_of(longrepr, str(tmp_path))


def test_a_cause_without_a_traceback_is_told_by_its_text(tmp_path: Path) -> None:
    """So are exceptions of other processes, which hold the text of a traceback, and those that only a library made."""
    first, last = told(tmp_path, "compute")

    assert first[:3] == ("cause", None, ("ValueError: in another process", "line 2"))
    assert first.frames == ()
    assert [frame.place for frame in last.frames] == ["shop.py:28"]
    assert last.text == ("RuntimeError: no result",)


def test_a_stack_has_frames_of_code_whose_module_has_no_name() -> None:
    with pytest.raises(KeyboardInterrupt) as raised:
        exec(compile("raise KeyboardInterrupt", "/project/odd.py", "exec"), {"__name__": 5})

    assert describe.stack_of(raised, str)[-1] == "/project/odd.py:1: in <module>"
