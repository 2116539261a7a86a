"""Event streams to which everything has happened that can happen to bytes, and what may not come of it."""

import json
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.process.job import Exit
from pytest_mcp.report import budget, no_result, report, verdict
from pytest_mcp.run import events
from pytest_mcp.run.decode import parse
from pytest_mcp.run.events import Event
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Run
from pytest_mcp.tools import dump
from tests.external.endurance.figures import Figure, Tally, part
from tests.support.invented.records import (
    BOUNDS,
    ENVIRONMENT,
    absent,
    exited,
    finished,
    item,
    one_test,
    phase,
    session,
    skipped,
    uncollected,
)
from tests.support.invented.streams import NODE_IDS, as_record

FULL = 50_000
CEILING = 16 * 1024 * 1024
HELLO = events.Hello(python="3.13.0", executable="python", pytest="9.2.0", error=None)
CONFIGURED = events.Configured(inifile=None, from_cache=[])
EXTRAS: list[Event] = [
    absent(),
    item(NODE_IDS[0]),
    events.Deselected(count=1, ids=NODE_IDS[2:]),
    events.Warned(message="old", category="UserWarning", when="runtest", filename="a.py", lineno=1, id=None),
    events.Marks(registered=["slow"], used=[]),
    events.DoctestsLeftOut(count=1, first="scripts/deploy.py"),
    events.Unreachable(files=["linked/test_a.py"]),
    events.NothingSelected(options=["-m slow"], patterns=["test_*.py"], places=["."], matching=0, others=1, near=[]),
    events.ImportedElsewhere(name="shop", file="/other/shop.py", own="shop.py"),
    events.Collected(collector={"nodeid": "", "outcome": "passed", "result": []}),
]
JUNK: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 10**400, 1.5, -0.0, "", "passed", "failed", "skipped", "call", "\ud800"),
    *([], {}, [[]], [None], ["a", "b"], [["a", "b"]], {"a": 1}, "x" * 1000, NODE_IDS[0], NODE_IDS[1], "0", 5),
]
REQUESTS = [ExecuteTests.model_validate(asked, context=BOUNDS) for asked in ({}, {"detail": "full"}, {"verbosity": -1})]

Record = dict[str, Any]


def measure(share: float, seed: int) -> Figure:
    rng, tally, count, passes = random.Random(seed), Tally(), part(FULL, share), 0
    for _ in range(count):
        told, true_exit = any_session(rng)
        lines = damaged(rng, told)
        try:
            passed = is_passed(lines, true_exit, rng.choice(REQUESTS))
        except Exception as error:  # noqa: BLE001 - whatever escapes is what is looked for
            tally.add("unhandled", f"{error!r} for {lines!r:.2000}")
            continue
        passes += passed
        if passed and not has_earned_it(lines, told, true_exit):
            tally.add("false pass", f"{lines!r:.2000}")
    words = f"fuzz event streams: {count} damaged streams ({passes} passes), {tally['false pass']} false passes"
    return Figure(f"{words}, {tally['unhandled']} unhandled", tally)


def is_passed(lines: list[bytes], true_exit: Exit, request: ExecuteTests) -> bool:
    """The way of every run, from the lines of its report to its answer."""
    ledger = Ledger()
    for line in lines:
        if (record := parse(line)) is not None:
            ledger.take(record)
    run = Run(request, ledger, true_exit, ("python", "-m", "pytest"), 60, ENVIRONMENT)
    judged = verdict.verdict_of(verdict.run_evidence(ledger, true_exit))
    error = no_result.diagnose(run)
    if error is not None:
        json.dumps(error.data)
    elif true_exit.code is not None:
        answer = dump(budget.fit_execution(report.execution_report(run, None), request, ceiling=CEILING))
        json.dumps(answer)
        assert answer["verdict"] == judged
    return judged == "passed"


def any_session(rng: random.Random) -> tuple[list[bytes], Exit]:
    """What a run told before anything was damaged, and how it really ended."""
    node_ids = rng.sample(NODE_IDS, rng.randrange(4))
    fates = [rng.choice(["pass", "pass", "pass", "fail", "skip", "setup only"]) for _ in node_ids]
    middle = [of_a_test(node_id, fate) for node_id, fate in zip(node_ids, fates, strict=True)]
    extras = [[extra] for extra in rng.sample([*EXTRAS, uncollected()], rng.choice([0, 0, 1, 2]))]
    failed = "fail" in fates or any(isinstance(extra, events.CollectionFailed) for [extra] in extras)
    # A plugin may say that all is well though a test has failed, and may end a session before its last test.
    status = 0 if rng.random() < 0.3 else 1 if failed else 0 if node_ids else 5
    selected = len(node_ids) + rng.choice([0, 0, 0, 1])
    told = [HELLO, CONFIGURED, *session(*extras, *middle, selected=selected, exit_status=status)]
    lines = [as_line(as_record(event, number)) for number, event in enumerate(told, start=1)]
    true_exit = exited(rng.choice([status, status, status, 0, None]))
    return lines, replace(true_exit, reason=rng.choice(["exited", "exited", "exited", "timeout", "lost"]))


def of_a_test(node_id: str, fate: str) -> list[Event]:
    match fate:
        case "fail":
            return one_test(node_id, phase(node_id, message="assert 0", traceback="E  assert 0"))
        case "skip":
            return one_test(node_id, skipped(node_id, "not today"))
        case "setup only":
            return [events.Started(node_id), finished(node_id, passed=False)]
    return one_test(node_id)


def as_line(record: Any) -> bytes:
    return json.dumps(record).encode("ascii")


def damaged(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    for _ in range(rng.randint(1, 4)):
        lines = rng.choice(DAMAGES)(rng, lines) if lines else lines
    # A damaged line may have become two, as it would in the file.
    return [line for line in b"\n".join(lines).split(b"\n") if line]


def lose(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    index = rng.randrange(len(lines))
    return lines[:index] + lines[index + 1 :]


def lose_the_end(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    return lines[: rng.randrange(len(lines))]


def double(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    index = rng.randrange(len(lines) + 1)
    return [*lines[:index], rng.choice(lines), *lines[index:]]


def shuffle(rng: random.Random, lines: list[bytes]) -> list[bytes]:
    return rng.sample(lines, len(lines))


def each(change: Callable[[random.Random, bytes], bytes]) -> Callable[[random.Random, list[bytes]], list[bytes]]:
    """The same, of one line."""

    def damage(rng: random.Random, lines: list[bytes]) -> list[bytes]:
        index = rng.randrange(len(lines))
        return [*lines[:index], change(rng, lines[index]), *lines[index + 1 :]]

    return damage


def cut(rng: random.Random, line: bytes) -> bytes:
    return line[: rng.randrange(len(line) + 1)]


def flip(rng: random.Random, line: bytes) -> bytes:
    changed = bytearray(line)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def replace_value(rng: random.Random, line: bytes) -> bytes:
    record = read(line)
    if not record:
        return as_line(rng.choice(JUNK))
    return as_line(record | {rng.choice(list(record)): rng.choice(JUNK)})


def remove_value(rng: random.Random, line: bytes) -> bytes:
    record = read(line)
    return as_line({name: record[name] for name in list(record)[: rng.randrange(len(record) + 1)]})


def garble(rng: random.Random, line: bytes) -> bytes:
    return rng.choice([rng.randbytes(rng.randrange(60)), line + line, b"[" * 5000, line.replace(b"1", b"NaN"), b"{}"])


DAMAGES = [lose, lose_the_end, double, shuffle, *map(each, (cut, flip, replace_value, remove_value, garble))]


def read(line: bytes) -> Record:
    """A line as anybody would read it, without knowing our events; nothing, where it is no object."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def has_earned_it(lines: list[bytes], told: list[bytes], true_exit: Exit) -> bool:
    """Everything that `passed` promises, from the raw lines; what was not damaged must have been heeded."""
    records = [record for record in map(read, lines) if isinstance(record.get("k"), str)]
    proven = {str(record.get("id")) for record in records if proves_an_outcome(record)}
    selections = [
        record["count"] for record in records if record["k"] == "selected" and type(record.get("count")) is int
    ]
    heeded = [read(line) for line in lines if line in told]
    return (
        true_exit.code == 0
        and any(record["k"] == "session_ended" and is_zero(record.get("exit_status")) for record in records)
        and bool(selections)
        and len(proven) >= max(selections)
        and {record["id"] for record in heeded if record["k"] == "started"} <= proven
        and not any(tells_of_a_failure(record) for record in heeded)
        and (bool(proven) or any(record["k"] == "collection_skipped" for record in records))
        and none_is_missing(records)
    )


def none_is_missing(records: list[Record]) -> bool:
    """The child numbers its records from one on; a number that nobody has seen is one that was lost."""
    seen = {record["n"] for record in records if type(record.get("n")) is int}
    return all(number in seen for number in range(1, max(seen, default=0)))


def proves_an_outcome(record: Record) -> bool:
    return (record["k"] == "finished" and record.get("passed") is True) or (
        record["k"] == "phase" and record.get("outcome") == "skipped"
    )


def tells_of_a_failure(record: Record) -> bool:
    return record["k"] == "collection_error" or record.get("outcome") == "failed"


def is_zero(value: object) -> bool:
    return type(value) is int and value == 0
