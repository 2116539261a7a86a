"""Editing JSON with comments: compared with `json` for the values, and with the old bytes for what is kept."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from pytest_mcp.cli.setup.editing.jsonc_edit import (
    DEEPEST_NESTING,
    JsoncError,
    append,
    discard,
    drop,
    member,
    put,
    read,
)
from tests.support.invented.jsonc_documents import (
    OBJECTS,
    VALUES,
    documents,
    has_room,
    layouts,
)

ENTRY = {"command": "/bin/pytest-mcp", "args": ["--root", "${workspaceFolder}"]}
KEYS = ("mcpServers", "pytest")


@given(OBJECTS, st.sampled_from([None, 1, "\t"]))
def test_what_json_writes_is_read_as_json_reads_it(value: dict[str, Any], indent: Any) -> None:
    text = json.dumps(value, indent=indent)

    assert read(text) == json.loads(text)


@given(st.text(alphabet='{}[]",:/*\\ntrue1-.e \n', max_size=12))
def test_what_json_accepts_is_accepted_and_nothing_ends_in_another_error(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None

    if isinstance(expected, dict):
        assert read(text) == expected
    else:
        with contextlib.suppress(JsoncError):
            read(text)


@given(documents() | layouts(), VALUES)
@example("{}", 1)
@example('{"mcpServers": {}}\n', 1)
@example('{\n  "a": 1, // why\n  // more\n}', 1)
@example('{"a": 1 /* b */ // c\n}', 1)
def test_to_take_out_undoes_to_put_in_byte_for_byte(text: str, value: Any) -> None:
    assume(has_room(text))

    changed = put(text, KEYS, value)

    assert drop(changed, KEYS) == text


@pytest.mark.parametrize(("text", "left"), [("", "{}"), ("\n", "\n{}"), ("// only words", "// only words\n{}")])
def test_a_text_without_an_object_ends_with_an_empty_one(text: str, left: str) -> None:
    assert drop(put(text, KEYS, ENTRY), KEYS) == left


def test_a_member_alone_is_shown_as_it_stands_in_its_table() -> None:
    assert member(KEYS, {"command": "x"}) == '  "pytest": {\n    "command": "x"\n  }'


@given(documents() | layouts(), VALUES)
def test_only_one_value_changes(text: str, value: Any) -> None:
    before = read(text)
    assume(isinstance(before.get("mcpServers", {}), dict))

    after = read(put(text, KEYS, value))

    assert after == before | {"mcpServers": before.get("mcpServers", {}) | {"pytest": value}}


@given(layouts())
def test_plain_json_stays_plain_json(text: str) -> None:
    assume(has_room(text))

    changed = put(text, KEYS, ENTRY)

    assert json.loads(changed)["mcpServers"]["pytest"] == ENTRY


@given(documents(), VALUES)
def test_comments_survive_a_value_that_is_replaced(text: str, value: Any) -> None:
    assume(has_room(text))
    first = put(text, KEYS, ENTRY)

    second = put(first, KEYS, value)

    assert drop(second, KEYS) == text


def test_a_new_text_has_every_table_on_lines_of_its_own() -> None:
    assert put("", KEYS, ENTRY) == (
        "{\n"
        '  "mcpServers": {\n'
        '    "pytest": {\n'
        '      "command": "/bin/pytest-mcp",\n'
        '      "args": ["--root", "${workspaceFolder}"]\n'
        "    }\n"
        "  }\n"
        "}"
    )


def test_a_neighbour_shows_the_indentation_and_keeps_its_comment() -> None:
    text = '{\r\n\t"servers": {\r\n\t\t"a": {} // mine\r\n\t}\r\n}'

    changed = put(text, ("servers", "b"), {"x": 1})

    assert changed == '{\r\n\t"servers": {\r\n\t\t"a": {}, // mine\r\n\t\t"b": {\r\n\t\t\t"x": 1\r\n\t\t}\r\n\t}\r\n}'


def test_trailing_commas_stay_a_habit() -> None:
    assert put('{\n  "a": 1,\n}', ("b",), 2) == '{\n  "a": 1,\n  "b": 2,\n}'


def test_an_empty_table_that_was_there_is_filled_from_its_bracket() -> None:
    text = '{\n  "mcpServers": {}\n}\n'

    changed = put(text, KEYS, {"command": "x"})

    assert changed == '{\n  "mcpServers": {"pytest": {\n    "command": "x"\n  }}\n}\n'


def test_one_between_others_is_taken_out_with_its_own_comma() -> None:
    text = '{"s": {\n  "a": 1, // one\n  "b": 2,\n  "c": 3 // three\n}}'

    assert drop(text, ("s", "b")) == '{"s": {\n  "a": 1, // one\n  "c": 3 // three\n}}'
    assert drop(text, ("s", "c")) == '{"s": {\n  "a": 1, // one\n  "b": 2 // three\n}}'
    assert drop(text, ("s", "nobody")) == text


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "line 1, column 2"),
        ('{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"),
        ('{\n  "a" 1}', "line 2, column 7"),
        ('{"a": [1 2]}', "line 1, column 10"),
        ("{a: 1}", "line 1, column 2"),
        ('{"a": NaN}', "line 1, column 7"),
        ('{"a": 01}', "line 1, column 8"),
        ('{"a": "x\ny"}', "line 1, column 9"),
        ('{"a": "x', "line 1, column 7"),
        ("{} {}", "line 1, column 4"),
        ("{} /* no end", "line 1, column 4"),
        ("[]", "line 1, column 1"),
        ("<<<<<<< HEAD\n{}", "line 1, column 1"),
    ],
)
def test_a_fault_is_told_with_its_line_and_column(text: str, place: str) -> None:
    with pytest.raises(JsoncError) as fault:
        read(text)

    assert place in str(fault.value)


@pytest.mark.parametrize("text", ['{"mcpServers": []}', '{"mcpServers": "x"}', '{"mcpServers": null}', "[]"])
def test_nothing_is_put_into_what_is_no_object(text: str) -> None:
    with pytest.raises(JsoncError):
        put(text, KEYS, ENTRY)


def test_depth_without_end_is_a_fault_like_any_other() -> None:
    deep = DEEPEST_NESTING * 100

    with pytest.raises(JsoncError):
        read('{"a": ' + "[" * deep + "]" * deep + "}")


LIST = ("permissions", "allow")


@given(documents() | layouts(), st.sampled_from([None, [], ["a"], ["a", {"b": []}]]), VALUES)
@example('{\n  "permissions": {\n    "allow": [\n      "a" // why\n    ]\n  }\n}', None, "b")
@example('{"permissions": {"allow": [ /* none */ ]}}', None, {"b": 1})
def test_to_discard_undoes_to_append_byte_for_byte(text: str, known: list[Any] | None, item: Any) -> None:
    assume(has_room(text) and item not in (known or []))
    if known is not None:
        text = put(text, LIST, known)
    before = read(text).get("permissions", {}).get("allow", [])

    one = append(text, LIST, item)
    two = append(one, LIST, "another item")

    assert read(two)["permissions"]["allow"] == [*before, item, "another item"]
    assert discard(two, LIST, "another item") == one
    assert discard(one, LIST, item) == text
    assert discard(text, LIST, "another item") == text


def test_nothing_is_appended_to_what_is_no_list() -> None:
    with pytest.raises(JsoncError):
        append('{"permissions": {"allow": {}}}', LIST, "a")
