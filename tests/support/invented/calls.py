"""Recorded calls that no program has made, as a child would report them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_mcp.investigation.difference.call_tree import CallRecording, recording_of
from pytest_mcp.investigation.difference.values import Values
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.recordings import CallCode, CallCodes, CallRow, Calls, CallsEnded, CallValues

TEST = "tests/test_shop.py::test_it"


@dataclass(frozen=True)
class Made:
    """`given` are arguments, `state` globals; `left` what is in either of them afterwards."""

    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    calls: "Sequence[Made]" = ()
    code: int = 1
    outcome: str = "returned"
    state: Mapping[str, Any] = field(default_factory=dict)
    left: Mapping[str, Any] = field(default_factory=dict)
    yields: Sequence[Any] = ()
    file: str = "shop.py"
    phase: str = "call"


@dataclass
class Child:
    rows: list[list[Any]] = field(default_factory=lambda: [["cut", ""]])
    codes: list[CallCode] = field(default_factory=list)
    calls: list[CallRow] = field(default_factory=list)
    ended: int = 0

    def value(self, value: Any) -> int:
        if isinstance(value, str):
            row: list[Any] = ["text", value, len(value), 0]
        elif isinstance(value, list):
            row = ["list", "list", len(value), 0, *map(self.value, value)]
        elif isinstance(value, dict):
            parts = [part for pair in value.items() for part in pair]
            row = ["mapping", "dict", len(value), 0, *map(self.value, parts)]
        elif isinstance(value, Exception):
            row = ["object", type(value).__name__, "args", self.value(list(value.args))]
        elif isinstance(value, tuple):
            name, fields = value
            row = ["object", name, *(part for key, each in fields.items() for part in (key, self.value(each)))]
        else:
            row = ["atom", repr(value)]
        self.rows.append(row)
        return len(self.rows) - 1

    def call(self, made: Made, parent: int) -> None:
        names = [*made.given, *made.state]
        code = CallCode(made.file, made.name, 1, made.code, names, len(made.given), len(made.given))
        if code not in self.codes:
            self.codes.append(code)
        number = len(self.calls)
        given = [self.value(value) for value in (*made.given.values(), *made.state.values())]
        left = [part for name, value in made.left.items() for part in (names.index(name), self.value(value))]
        yields = [self.value(value) for value in made.yields]
        place = self.codes.index(code)
        row = CallRow(place, parent, made.phase, 3, made.outcome, self.value(made.result), 0, given, left, yields)
        self.calls.append(row)
        for each in made.calls:
            self.call(each, number)
        self.ended += 1
        self.calls[number] = row._replace(ended=self.ended)


def recorded(values: Values, *roots: Made) -> CallRecording:
    child = Child()
    for root in roots:
        child.call(root, -1)
    ledger = Ledger(
        call_values=[CallValues(TEST, child.rows)],
        call_codes=[CallCodes(TEST, child.codes)],
        calls=[Calls(TEST, child.calls)],
        calls_ended=[CallsEnded(TEST, complete=True, lines=[])],
    )
    recording = recording_of(ledger, TEST, values)
    assert recording is not None
    return recording
