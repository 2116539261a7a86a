"""Anything a child could ever write into its report, true or not."""

import json
from typing import Any, get_args, get_type_hints

from hypothesis import strategies as st

from pytest_mcp.run.decode import KINDS
from pytest_mcp.run.events import Chain, Event, Item, Phase, Selected, Started, Timed
from pytest_mcp.run.recordings import CallCode, CallRow
from tests.support.invented.records import (
    CHAIN,
    absent,
    ended,
    finished,
    one_test,
    phase,
    session,
    skipped,
    uncollected,
)

WORDS = {kind: word for word, kind in KINDS.items()}
NODE_IDS = ["test_a.py::a", "test_a.py::b", "tests/test_c.py::T::c[1]"]

whole = st.integers(min_value=-(10**15), max_value=10**15)
number = st.floats(min_value=-1e15, max_value=1e15)
words = st.text(st.characters(codec=None), max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | whole | number | words | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
objects = st.dictionaries(words, json_values, max_size=3)
OF_HINT: dict[Any, st.SearchStrategy[Any]] = {
    str: words,
    str | None: st.none() | words,
    int: whole,
    int | None: st.none() | whole,
    float: number,
    float | None: st.none() | number,
    bool: st.booleans(),
    list[str]: st.lists(words, max_size=3),
    list[int]: st.lists(whole, max_size=3),
    list[str] | None: st.none() | st.lists(words, max_size=3),
    list[tuple[str, str]]: st.lists(st.tuples(words, words), max_size=3),
    list[Item]: st.lists(st.builds(Item, words, st.lists(words, max_size=2), words, st.none() | whole), max_size=3),
    list[list[int]]: st.lists(st.lists(whole, max_size=3), max_size=2),
    list[list[Any]]: st.lists(st.lists(json_values, max_size=3), max_size=3),
    list[CallCode]: st.lists(
        st.builds(CallCode, words, words, whole, whole, st.lists(words, max_size=2), whole, whole), max_size=2
    ),
    list[CallRow]: st.lists(
        st.builds(CallRow, whole, whole, words, whole, words, whole, whole, *[st.lists(whole, max_size=2)] * 3),
        max_size=2,
    ),
    list[list[int]] | None: st.none() | st.lists(st.tuples(whole, whole).map(list), max_size=3),
    tuple[str, int] | None: st.none() | st.tuples(words, whole),
    dict[str, Any]: objects,
    dict[str, Any] | None: st.none() | objects,
}

maybe_words = st.none() | words
frames = st.tuples(
    words,
    st.integers(min_value=0, max_value=10**9 - 1),
    maybe_words,
    maybe_words,
    st.lists(st.tuples(words, words).map(list), max_size=2),
    st.lists(words, max_size=2),
).map(list)
# As the child writes them: the link to the next exception, a note, the lines of its text, and its frames.
chains = st.lists(
    st.tuples(
        st.sampled_from([None, "cause", "context"]) | words,
        maybe_words,
        st.lists(words, max_size=3),
        st.lists(frames, max_size=3),
    ).map(list),
    max_size=3,
)


def fields_of(kind: type[Event]) -> dict[str, Any]:
    return get_type_hints(kind)


executed = st.lists(st.tuples(words, st.sampled_from(["1", "3-5,9"])), max_size=3)
OF_HINT[dict[str, str]] = st.dictionaries(words, st.sampled_from(["1", "3-5,9"]), max_size=2)
OF_HINT[Chain | None] = (st.none() | chains).map(CHAIN)
OF_HINT[dict[str, list[tuple[str, str]]]] = st.dictionaries(words, executed, max_size=2)
for hint in get_type_hints(Timed).values():
    if hint not in OF_HINT:
        (row,) = get_args(hint)
        OF_HINT[hint] = st.lists(st.tuples(*(OF_HINT[part] for part in get_args(row))), max_size=3)
ways_up = st.lists(st.sampled_from(["../pytest.ini", "../../conftest.py"]), max_size=3)
# Values of these fields decide what a record means, so most of them are meant.
OF_NAME: dict[str, st.SearchStrategy[Any]] = {
    "id": st.sampled_from(NODE_IDS) | words,
    "when": st.sampled_from(["setup", "call", "teardown"]),
    "outcome": st.sampled_from(["passed", "failed", "skipped", "rerun"]) | words,
    "exit_status": st.sampled_from([0, 1, 5]) | whole,
    "settings": ways_up,
    "conftests": ways_up,
    "ranges": st.sampled_from(["", "1", "3-5,9"]),
}


def any_of(kind: type[Event]) -> st.SearchStrategy[Event]:
    return st.builds(kind, **{name: OF_NAME.get(name, OF_HINT[hint]) for name, hint in fields_of(kind).items()})


any_event: st.SearchStrategy[Any] = st.one_of([any_of(kind) for kind in KINDS.values()])


def line_of(event: Event, **other: Any) -> bytes:
    return json.dumps({**as_record(event), **other}).encode("ascii")


def as_record(event: Event, number: int = 1) -> dict[str, Any]:
    """As the child writes it."""
    kind = type(event)
    return {"k": WORDS[kind], "n": number, **{name: getattr(event, name) for name in fields_of(kind)}}


@st.composite
def altered_records(draw: st.DrawFn) -> bytes:
    """A record of ours with some of its values replaced by anything that JSON can say."""
    record = draw(any_event | any_of(Phase))
    names = list(fields_of(type(record)))
    replaced = draw(st.dictionaries(st.sampled_from(names), json_values, max_size=2)) if names else {}
    return line_of(record, **replaced)


told_of_a_test: st.SearchStrategy[Any] = st.sampled_from(NODE_IDS).flatmap(
    lambda node_id: st.sampled_from(
        [
            Started(node_id),
            finished(node_id),
            finished(node_id, passed=False),
            phase(node_id),
            phase(node_id, when="teardown"),
            phase(node_id, subtest="[part]"),
            phase(node_id, outcome="rerun"),
            skipped(node_id, "no"),
        ]
    )
)
told_of_a_session: st.SearchStrategy[Any] = st.sampled_from(
    [Selected(0), Selected(4), uncollected(), absent(), ended(0), ended(1)]
)


@st.composite
def damaged_sessions(draw: st.DrawFn) -> list[Event]:
    """A green session to which every accident may have happened: records lost, doubled, added, out of order."""
    node_ids = draw(st.lists(st.sampled_from(NODE_IDS), unique=True))
    exit_status = draw(st.sampled_from([0, 0, 0, 1]))
    stream = session(*map(one_test, node_ids), selected=len(node_ids), exit_status=exit_status)
    lost = draw(st.sets(st.integers(min_value=0, max_value=len(stream) - 1), max_size=2))
    stream = [record for index, record in enumerate(stream) if index not in lost]
    for stray in draw(st.lists(told_of_a_test | told_of_a_session | any_event, max_size=3)):
        stream.insert(draw(st.integers(min_value=0, max_value=len(stream))), stray)
    return draw(st.permutations(stream)) if draw(st.booleans()) else stream
