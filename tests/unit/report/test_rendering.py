from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mcp.report import failures, rendering
from pytest_mcp.report.frames import CAPTURED, MAX_VARIABLES, VALUES_CHARACTERS, VARIABLE_CHARACTERS, ExampleStyle
from pytest_mcp.run.events import Phase
from tests.support.invented.records import frame, ledger, phase, raised

TEST = ("tests/test_cart.py:7", "test_total", "assert total(cart) == 3")
SOURCE = ("src/shop/cart.py:12", "total", "return sum(cart)")
NODE = "tests/test_cart.py::test_total"


def rendered(*phases: Phase, **style: Any) -> list[str]:
    (record,) = ledger(*phases).completed
    return rendering.render(failures.failure_of(record), ExampleStyle(**style)).split("\n")


def chained(*links: tuple[str | None, str, list[Any]], message: str) -> Phase:
    """Exceptions from the first raised to the last, each with how the next one came about."""
    return phase(NODE, message=message, chain=[[link, None, [text], frames] for link, text, frames in links])


def test_the_last_two_frames_of_the_project_have_their_statement_and_outer_ones_only_their_place() -> None:
    outer = ("src/shop/app.py:3", "main", "run()")

    assert rendered(raised("ValueError: no", ("tests/a.py:1", "t", "main()"), outer, SOURCE, node_id=NODE)) == [
        "tests/a.py:1: in t",
        "src/shop/app.py:3: in main",
        "    run()",
        "src/shop/cart.py:12: in total",
        "    return sum(cart)",
    ]


@pytest.mark.parametrize(
    ("right", "shown"), [("'<b>...</b>'", "…"), ("'<i>...</i>'", "'<i>...</i>'"), ("'<b>'", "'<b>'")]
)
def test_a_message_says_two_long_texts_once_that_begin_and_end_alike(right: str, shown: str) -> None:
    left = right if right == "'<b>'" else "'<b>...</b>'"
    (record,) = ledger(raised(f"AssertionError: assert {left} == {right}", TEST, node_id=NODE)).completed

    message = rendering.example(failures.failure_of(record), ExampleStyle()).message

    assert message == f"AssertionError: assert {left} == {shown}"


def test_the_tests_own_statement_is_shown_however_deep_the_way_to_the_failure() -> None:
    deep = [(f"src/shop/way.py:{number}", f"step{number}", "further()") for number in range(30)]
    *_, least = ExampleStyle().reduced()

    assert rendered(raised("ValueError: no", TEST, *deep, SOURCE, node_id=NODE), **vars(least)) == [
        "tests/test_cart.py:7: in test_total",
        "    assert total(cart) == 3",
        "src/shop/cart.py:12: in total",
        "    return sum(cart)",
    ]


def test_values_of_expressions_and_marks_below_lines_are_not_said_twice() -> None:
    value = f"'{'x' * 60}'"
    text = f"AssertionError: assert {value} == 'y'\n +  where {value} = total([1])\n- one\n?  ^\n+ ore\n?  ^"

    lines = rendered(raised(text, TEST, node_id=NODE))[2:]

    assert lines == [f"E    +  where '{'x' * 19}...{'x' * 9}' = total([1])", "E   - one", "E   + ore"]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (" +    where <function total at 0x7f3a5c1e9d90> = cart.total", []),
        (" +    where contains = <Stock of 3>.contains", []),
        (" +    where <shop.cart.Cart object at 0x7f3a5c1e9d90> = add('tea', 110)", []),
        (" +  where 3 = <shop.cart.Cart object at 0x7f3a5c1e9d90>.count", ["E    +  where 3 = <shop.cart.Cart object"]),
        (
            " +  where False = <built-in method startswith of str object at 0x7f3a5c1e9d90>('x')",
            ["E    +  where False"],
        ),
        (
            " +    where <built-in method startswith of str object at 0x7f3a5c1e9d90> = 'the text'.startswith",
            ["E    + "],
        ),
        (" +  and   'a\\nb' = <built-in method join of str object at 0x7f3a5c1e9d90>(['a', 'b'])", []),
        (" +    where <built-in method joi...ct at 0x7f3a5c1e9d90> = '\\n'.join", []),
        (" +  where 1 = <function test.<locals>.<lambda> at 0x7f3a5c1e9d90>('x')", ["E    +  where 1 = <lambda>('x')"]),
        (
            " +  where 'a long text in which = is, and more of it' = shown('x')",
            ["E    +  where 'a long text in whic...ore of it' = shown('x')"],
        ),
    ],
)
def test_a_called_function_is_not_explained_but_what_it_was_called_on_is(line: str, shown: list[str]) -> None:
    lines = rendered(raised(f"AssertionError: assert False\n{line}", TEST, node_id=NODE))[2:]

    assert len(lines) == len(shown)
    assert all(one.startswith(other) for one, other in zip(lines, shown, strict=True))


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ('assert total("pens") == 3', []),
        ('assert (\n    total( "pens" )\n    == 3\n)', []),
        ("assert total(kind) == 3", ["E    +  where 1 = total('pens')"]),
    ],
)
def test_the_value_of_an_expression_is_not_told_where_message_and_statement_have_both(
    statement: str, shown: list[str]
) -> None:
    failed = raised("AssertionError: assert 1 == 3\n +  where 1 = total('pens')", (*TEST[:2], statement), node_id=NODE)

    assert [line for line in rendered(failed) if line.startswith("E")] == shown


def test_the_first_line_of_the_exception_is_left_out_where_the_message_has_it() -> None:
    lines = rendered(raised("AssertionError: assert 1 == 3\n +  where 1 = total()", TEST, node_id=NODE))

    assert lines[-1] == "E    +  where 1 = total()"
    assert not any("assert 1 == 3" in line for line in lines)


def test_frames_that_lead_into_a_test_through_pytest_are_not_told() -> None:
    """Versions of pytest before 8 do not hide them in the traceback of an exception group."""
    started = [(f"/venv/lib/python3.12/site-packages/{name}/x.py:1", "f", "g()") for name in ("start", "_pytest")]
    plugin = ("/venv/lib/python3.12/site-packages/pytest_asyncio/plugin.py:9", "inner", "run()")

    assert rendered(raised("ValueError: no", *started, plugin, TEST, node_id=NODE))[0] == (
        "... 1 frame in site-packages/pytest_asyncio"
    )
    assert rendered(raised("ValueError: no", *started, TEST, node_id=NODE))[0] == "tests/test_cart.py:7: in test_total"


def test_frames_outside_the_project_are_folded_but_for_the_one_that_raised() -> None:
    library = [(f"/venv/lib/python3.12/site-packages/{name}/core.py:{n}", "f", "g()") for n, name in enumerate("aab")]
    raising = ("/usr/lib/python3.12/json/decoder.py:355", "raw_decode", "raise JSONDecodeError()")

    assert rendered(raised("JSONDecodeError: no", TEST, *library, raising, node_id=NODE))[2:] == [
        "... 3 frames in site-packages/a, site-packages/b",
        "python3.12/json/decoder.py:355: in raw_decode",
        "    raise JSONDecodeError()",
    ]


def test_frames_of_pytest_itself_are_not_told() -> None:
    fixtures = ("/venv/lib/python3.12/site-packages/_pytest/fixtures.py:915", "call_fixture_func", "fixturefunc()")

    assert rendered(raised("ValueError: no", fixtures, TEST, node_id=NODE)) == [
        "tests/test_cart.py:7: in test_total",
        "    assert total(cart) == 3",
    ]


def test_a_recursion_is_told_once_with_how_often() -> None:
    lines = rendered(raised("RecursionError: no", TEST, *[SOURCE] * 30, node_id=NODE))

    assert lines.count("src/shop/cart.py:12: in total") == 1
    assert "    [29 more frames like this]" in lines
    assert lines[:2] == ["tests/test_cart.py:7: in test_total", "    assert total(cart) == 3"]


def test_a_generator_expression_and_its_function_are_one_frame() -> None:
    place, function, statement = (*SOURCE[:2], "return sum(item for item in cart)")
    inner, outer = frame(place, None, statement, item="None"), frame(place, function, statement, cart="[None]")
    whole = chained((None, "TypeError: no", [frame(*TEST), outer, inner]), message="TypeError: no")

    assert rendered(whole) == [
        "tests/test_cart.py:7: in test_total",
        "    assert total(cart) == 3",
        "src/shop/cart.py:12: in total",
        "    return sum(item for item in cart)",
        "    item = None, cart = [None]",
    ]


def test_the_frame_of_a_decorator_that_shows_the_definition_of_the_next_is_left_out() -> None:
    wrapper = ("tests/test_cart.py:5", "test_total", "def test_total(cart):")

    assert rendered(raised("E: no", wrapper, TEST, node_id=NODE)) == rendered(raised("E: no", TEST, node_id=NODE))


def test_a_recursion_by_way_of_several_functions_is_told_once_with_how_often() -> None:
    other = ("src/shop/cart.py:20", "part", "return total(cart)")

    assert rendered(raised("RecursionError: no", TEST, *[other, SOURCE] * 10, node_id=NODE)) == [
        "tests/test_cart.py:7: in test_total",
        "    assert total(cart) == 3",
        "src/shop/cart.py:20: in part",
        "    return total(cart)",
        "    [9 more frames like this]",
        "src/shop/cart.py:12: in total",
        "    return sum(cart)",
        "    [9 more frames like this]",
    ]


def test_a_text_that_the_message_has_whole_is_not_told_again() -> None:
    assert rendered(phase(NODE, traceback="[XPASS(strict)] known bug")) == [""]
    assert rendered(phase(NODE, traceback="one\ntwo")) == ["two"]


def test_a_chain_is_told_in_the_order_in_which_it_was_raised() -> None:
    first = ("cause", "KeyError: 'pen'", [frame("src/shop/stock.py:3", "find")])
    then = ("context", "LookupError: no pen", [frame("src/shop/stock.py:9", "look")])
    last = (None, "ShopError: closed", [frame("src/shop/cart.py:12", "total")])

    lines = rendered(chained(first, then, last, message="ShopError: closed"))

    assert [line for line in lines if not line.startswith(" ")] == [
        "src/shop/stock.py:3: in find",
        "E   KeyError: 'pen'",
        "raised from the above:",
        "src/shop/stock.py:9: in look",
        "E   LookupError: no pen",
        "raised while handling the above:",
        "src/shop/cart.py:12: in total",
    ]


@pytest.mark.parametrize(
    ("statement", "shown"),
    [
        ("assert total(\ncart) == 3", "assert total("),
        ("assert (\ntotal(cart)\n== 3\n)", "assert (total(cart)"),
        ("assert total(cart) == 3, \\\n'why'", "assert total(cart) == 3,"),
        ("return one + \\\ntwo", "return one + two"),
        ('raise Missing(\n"%s ( )" % name\n)', 'raise Missing("%s ( )" % name)'),
        ('fail("{}"\n.format(\nname,\n))', 'fail("{}".format(name,))'),
        ("raise KeyError(\n'pen',\ncart)", "raise KeyError('pen', cart)"),
        ("call(\n" + "x" * 200 + ")", "call("),
    ],
)
def test_a_statement_of_several_lines_is_one_line(statement: str, shown: str) -> None:
    lines = rendered(raised("ValueError: no", ("src/a.py:1", "f", statement), node_id=NODE))

    assert lines[1] == f"    {shown}"


def arguments(node_id: str, function: str, **values: str) -> list[str]:
    told = phase(
        node_id,
        message="E: no",
        chain=[[None, None, ["E: no"], [frame("src/a.py:1", function, f"f({', '.join(values)})", **values)]]],
    )
    return rendered(told)[2:]


def test_values_of_arguments_are_shown_but_for_bare_objects_and_self() -> None:
    assert arguments(NODE, "total", self="<Cart>", cart="[1, 2]", app="<App at 0x7f0000000000>") == [
        "    cart = [1, 2]"
    ]


def test_of_a_test_only_parameters_that_its_id_does_not_show_are_told() -> None:
    assert arguments("a.py::test_total", "test_total", tmp_path="PosixPath('/x')") == []
    assert arguments("a.py::test_total[pen]", "test_total", subtests="SubTests(ihook=<_pytest.config.X object>)") == []
    assert arguments("a.py::test_total[pen-case0]", "test_total", name="'pen'", case="{'n': 1}") == [
        "    case = {'n': 1}"
    ]


def test_long_values_are_shortened_and_many_are_not_all_shown() -> None:
    (line,) = arguments(NODE, "total", **{f"value{n}": repr("x" * 200) for n in range(9)})

    assert len(line) <= VALUES_CHARACTERS + 20
    assert line.startswith("    value0 = 'xxx")
    assert "value1 = " in line
    assert "value8" not in line


def test_of_arguments_that_the_statement_does_not_name_fewer_are_shown() -> None:
    def values(statement: str, **values: str) -> str:
        innermost = frame("src/shop/cart.py:12", "total", statement, **values)
        return rendered(chained((None, "E: no", [frame(*TEST), innermost]), message="E: no"))[-1].strip()

    long = {f"value{number}": "1" * 40 for number in range(4)}

    assert values("return sum(cart)", rate="2", cart="[1]") == "rate = 2, cart = [1]"
    assert values("raise E()", **long) == ", ".join(f"value{number} = {'1' * 40}" for number in (0, 1))
    assert values("return sum(value3)", **long).count("value") == 3


def test_values_that_hold_objects_without_a_repr_are_left_out() -> None:
    shown = arguments(NODE, "total", format="Format(begin=<function begin at 0x7f3a5c1e9d90>)", n="1 < 2 > 0")

    assert shown == ["    n = 1 < 2 > 0"]


def test_a_statement_that_an_example_above_has_is_not_repeated_but_that_of_the_test_is() -> None:
    failed = raised("ValueError: no", TEST, SOURCE, node_id=NODE)
    above = frozenset({TEST[0], SOURCE[0]})

    assert rendered(failed, stated_above=above) == [
        "tests/test_cart.py:7: in test_total",
        "    assert total(cart) == 3",
        "src/shop/cart.py:12: in total",
    ]


def variables(*lines: str) -> Phase:
    innermost = frame("src/shop/cart.py:12", "total", "return sum(cart)", cart="[1]")
    innermost[-1] = list(lines)
    return chained((None, "ValueError: no", [innermost]), message="ValueError: no")


def test_local_variables_replace_the_arguments_where_they_are_asked_for() -> None:
    told = variables("cart       = [1,\n 2]", "rate       = 'a = b'", f"text       = '{'x' * 200}'")

    assert rendered(told)[2:] == ["    cart = [1]"]
    assert rendered(told, variables=True)[2:4] == ["    cart = [1, 2]", "    rate = 'a = b'"]
    assert [len(line) for line in rendered(told, variables=True)[4:]] == [len("    ") + VARIABLE_CHARACTERS]


def test_of_many_local_variables_the_first_are_shown_and_the_others_counted() -> None:
    lines = rendered(variables(*(f"v{n} = {n}" for n in range(MAX_VARIABLES + 2))), variables=True)

    assert lines[-2:] == [f"    v{MAX_VARIABLES - 1} = {MAX_VARIABLES - 1}", "    [2 more variables]"]


def test_the_last_reduction_leaves_a_long_text_to_the_message_and_drops_local_variables() -> None:
    long = chained((None, "ValueError: " + "x" * 5000, [frame(*SOURCE)]), message="ValueError: " + "x" * 5000)
    *_, least = ExampleStyle(variables=True).reduced()

    lines = rendered(long, **vars(least))

    assert lines == ["src/shop/cart.py:12: in total", "    return sum(cart)"]
    assert not any("= " in line for line in rendered(variables("v = 1"), **vars(least)))


def test_the_last_reduction_shows_the_first_and_the_last_exceptions_of_a_long_chain() -> None:
    links: list[tuple[str | None, str, list[Any]]] = [
        ("context" if number < 8 else None, f"ValueError: {number}", []) for number in range(9)
    ]
    *_, least = ExampleStyle().reduced()
    (record,) = ledger(chained(*links, message="ValueError: 8")).completed

    assert rendering.render(failures.failure_of(record), least).split("\n") == [
        "E   ValueError: 0",
        "raised while handling the above:",
        "E   ValueError: 1",
        "raised while handling the above:",
        "[4 more exceptions]",
        "E   ValueError: 6",
        "raised while handling the above:",
        "E   ValueError: 7",
        "raised while handling the above:",
    ]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("<Cart object at 0x7f3a5c1e9d90>", "<Cart object at 0x…>"),
        ("<function f.<locals>.g at 0x7f3a5c1e9d90>", "<function f.<locals>.g at 0x…>"),
        ("<bound method A.f of <A object at 0x104f3a2b0>>", "<bound method A.f of <A object at 0x…>>"),
        ("{'a': <A at 0x7f3a5c1e9d90>, 'b': <B at 0x7f3a5c1e9d10>}", "{'a': <A at 0x…>, 'b': <B at 0x…>}"),
    ],
)
def test_addresses_of_objects_are_not_shown(told: str, shown: str) -> None:
    assert rendered(raised(f"E: no\n{told}", TEST, node_id=NODE))[-1] == f"E   {shown}"


@pytest.mark.parametrize(
    "told",
    [
        "['0xdeadbeef'] == ['0xdeadbeee']",
        "mapped at 0x7f3a5c1e9d90",
        "<Fault at 0xdeadbeef>",
        "<Register 0x7f3a5c1e9d90>",
        "<A at 0x7f3a5c1e9d90> is not <A at 0x7f3a5c1e9d10>",
    ],
)
def test_hexadecimal_values_are_shown_and_so_are_addresses_that_tell_two_objects_apart(told: str) -> None:
    assert rendered(raised(f"E: no\n{told}", TEST, node_id=NODE))[-1] == f"E   {told}"


def test_hexadecimal_values_are_shown_in_statements_variables_and_captured_output() -> None:
    value = "0xdeadbeefcafe"
    failing = [*frame(TEST[0], "test_it", f"check({value})", key=value)[:5], [f"crc = '{value}'"]]
    chain = [[None, None, ["E: no"], [failing]]]
    told = phase(NODE, message="E: no", chain=chain, sections=[["Captured stdout call", f"crc {value}"]])
    (record,) = ledger(told).completed

    lines = rendering.render(failures.failure_of(record), ExampleStyle(variables=True)).split("\n")

    assert lines[1:] == [f"    check({value})", f"    crc = '{value}'", "Captured stdout call:", f"crc {value}"]


def test_only_the_last_lines_of_what_was_captured_are_shown() -> None:
    printed = "\n".join(f"line {n}" for n in range(100))
    lines = rendered(raised("E: no", TEST, node_id=NODE, sections=[["Captured stdout call", printed]]))

    shown = lines[4:]
    assert lines[2:4] == ["Captured stdout call:", f"[... {100 - len(shown)} lines left out ...]"]
    assert lines[-1] == "line 99"
    assert CAPTURED - len("line 10\n") < len("\n".join(shown)) <= CAPTURED


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\r1%\r2%\r100%\r\n", "100%"),
        ("a\r\n", "a"),
        ("\x1b[1;31mred\x1b[0m \x1b[mplain", "red plain"),
        ("x" * 3000, f"{'x' * 250} [... 2500 characters left out ...] {'x' * 250}"),
    ],
)
def test_a_captured_line_is_what_a_terminal_would_show_in_the_end_without_colour(printed: str, shown: str) -> None:
    lines = rendered(raised("E: no", TEST, node_id=NODE, sections=[["Captured stderr call", printed]]))

    assert lines[2:] == ["Captured stderr call:", shown]


def test_what_has_no_structure_keeps_pytests_text() -> None:
    assert rendered(phase(NODE, message="X: no", traceback="001 >>> 1 + 1\nExpected:\n    3\nGot:\n    2")) == [
        "001 >>> 1 + 1",
        "Expected:",
        "    3",
        "Got:",
        "    2",
    ]


def test_a_failed_teardown_follows_the_failed_call_under_its_own_title() -> None:
    call = raised("AssertionError: assert 0", TEST, node_id=NODE)
    teardown = raised("OSError: gone", ("tests/conftest.py:9", "cart", "raise OSError"), node_id=NODE, when="teardown")

    assert rendered(call, teardown)[2:] == [
        "-- ERROR at teardown: OSError: gone",
        "tests/conftest.py:9: in cart",
        "    raise OSError",
    ]


def test_each_reduction_shows_less_and_all_keep_the_statement_and_the_lines_that_differ() -> None:
    diff = "AssertionError: assert [1] == [2]\n  Full diff:\n    [\n  -     2,\n  +     1,\n    ]"
    library = ("/usr/lib/python3.12/json/decoder.py:355", "f", "g()")
    told = raised(diff, ("tests/a.py:1", "t", "x()"), ("src/a.py:2", "f", "y()"), library, SOURCE, TEST, node_id=NODE)
    (record,) = ledger(told).completed
    failure = failures.failure_of(record)

    texts = [rendering.render(failure, style) for style in (ExampleStyle(), *ExampleStyle().reduced())]

    assert [len(text) for text in texts] == sorted([len(text) for text in texts], reverse=True)
    assert all("-     2," in text and "+     1," in text and "assert total(cart) == 3" in text for text in texts)
    assert "tests/a.py:1" not in texts[-1]


def without_equal_lines(*lines: str) -> list[str]:
    told = phase(NODE, message="X", chain=[[None, None, [*lines], []]])
    return [line.removeprefix("E   ") for line in rendered(told, equal_lines=False)]


differing = st.builds(str.__add__, st.sampled_from(["  - ", "  + "]), st.text("ab ^:", max_size=5))
equal = st.builds(str.__add__, st.just("    "), st.text("abc[]{},", min_size=1, max_size=5))


@given(st.lists(differing | equal, min_size=1, max_size=60))
def test_without_equal_lines_what_differs_survives_whole_and_in_order(lines: list[str]) -> None:
    kept = iter(without_equal_lines("assert [1] == [2]", "  At index 0 diff: 1 != 2", *lines))

    assert all(line in kept for line in lines if not line.startswith("    "))


def test_words_of_the_author_stay_and_do_not_hide_what_is_equal() -> None:
    """`assert a == b, "words"` puts the comparison a line lower."""
    words = ["AssertionError: checked were", "- the price", "  in all shops", "- the stock", "assert [1] == [2]"]

    assert without_equal_lines(*words, *["    same"] * 20, "  - 1", "  + 2") == [*words, "  - 1", "  + 2"]


def test_what_pytest_says_of_the_difference_in_words_stays() -> None:
    said = ["assert {} == {}", "  Differing items:", "  {'a': 1} != {'a': 2}", "  Full diff:", "  -  'a': 2,"]

    assert without_equal_lines(*said, "     'b': 3,") == said


def test_what_is_said_of_a_nested_attribute_stays() -> None:
    said = [
        "assert Pen() == Pen()",
        "  Drill down into differing attribute price:",
        "    price: 1 != 2",
        "  - 1",
        "  + 2",
    ]

    assert without_equal_lines(*said) == said


@pytest.mark.parametrize("indent", ["", "  ", "    "])
def test_a_list_in_the_message_of_an_exception_is_no_comparison(indent: str) -> None:
    """What is indented below a hyphen there is said only once, and nothing equals it."""
    details = [f"{indent}    field {number} is missing" for number in range(20)]
    message = ["ValueError: 2 problems", f"{indent}- the order", *details, f"{indent}- the customer"]

    assert without_equal_lines(*message) == message


def test_a_long_first_line_that_announces_others_is_shown_whole() -> None:
    announcing = "ValueError: " + "ab " * 60 + "VITAL " + "cd " * 60 + "end:"

    assert f"E   {announcing}" in rendered(raised(f"{announcing}\nsecond", TEST, node_id=NODE))


# --- exception groups ---


def test_a_group_is_told_with_each_of_its_members_and_without_the_line_that_the_message_has() -> None:
    nursery = "ExceptionGroup: nursery (2 sub-exceptions)"
    raising = frame("/usr/lib/python3.12/asyncio/taskgroups.py:145", "__aexit__", "raise me from None")
    chain = [
        ["group", None, [nursery], [frame("src/shop/app.py:3", "main", "async with group:"), raising]],
        ["member", None, ["KeyError: 'pen'"], []],
        [None, None, ["ValueError: closed", "below"], [frame("src/shop/cart.py:12", "total", "return sum(cart)")]],
    ]

    (record,) = ledger(phase(message=nursery, chain=chain)).completed

    assert rendering.render(failures.failure_of(record), ExampleStyle()).split("\n") == [
        "src/shop/app.py:3: in main",
        "    async with group:",
        "... 1 frame in python3.12/asyncio",
        "the group holds:",
        "E   KeyError: 'pen'",
        "and:",
        "src/shop/cart.py:12: in total",
        "    return sum(cart)",
        "E   ValueError: closed",
        "E   below",
    ]


def cause(message: str, *chain: tuple[str | None, str]) -> str:
    told = [[link, None, [headline], []] for link, headline in chain]
    (record,) = ledger(phase(message=message, chain=told)).completed
    return failures.failure_of(record).cause


def test_of_two_groups_the_one_that_the_message_tells_is_named() -> None:
    inner, outer = "ExceptionGroup: inner (1 sub-exception)", "ExceptionGroup: outer (1 sub-exception)"
    chain = [("group", inner), ("cause", "KeyError: 'i'"), ("group", outer), (None, "ValueError: o")]

    assert cause(outer, *chain) == f"{outer}: ValueError: o"
    assert cause("ValueError('o') [single exception in MultiError]", *chain) == f"{outer}: ValueError: o"


def test_of_a_group_in_a_group_the_outer_one_is_named() -> None:
    inner, outer = "ExceptionGroup: inner (1 sub-exception)", "ExceptionGroup: outer (1 sub-exception)"

    told = cause(
        "KeyError(1) [single exception in ExceptionGroup]", ("group", outer), ("group", inner), (None, "KeyError: 1")
    )

    assert told == f"{outer}: KeyError: 1"


def test_a_message_that_only_looks_like_that_of_a_group_stays() -> None:
    chain = [
        ("group", "ExceptionGroup: g (1 sub-exception)"),
        ("context", "KeyError: 1"),
        (None, "RuntimeError: Group]"),
    ]

    assert cause("RuntimeError: Group]", *chain) == "RuntimeError: Group]"


def test_members_that_python_did_not_write_are_counted() -> None:
    many = "ExceptionGroup: many (30 sub-exceptions)"
    members = [("member", f"ValueError: {number}") for number in range(15)]

    told = cause(many, ("group", many), *members, (None, "and 15 more exceptions"))

    assert told == f"{many}: ValueError: 0; ValueError: 1; ValueError: 2; and 27 more"
