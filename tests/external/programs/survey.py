"""What a program does with this server's answers: several trials become one entry of the records."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.external.programs import tap
from tests.external.programs.models import Call
from tests.external.programs.programs import Program
from tests.external.programs.records import Entry, Seen, Wait
from tests.external.programs.trials import SIZES, Outcome, Trial, run

ERRORS = (
    Call("validation", "execute_tests", {"path": "nowhere"}),
    Call("usage", "execute_tests", {"node_ids": ["test_fine.py::test_nowhere"]}),
    Call("environment", "execute_tests", {}, server="broken"),
    Call("timeout", "execute_tests", {"path": "test_stuck.py", "timeout": 3}),
    Call("crash", "execute_tests", {"path": "test_crash.py"}),
)
EVERYTHING = {"detail": "tests", "max_tokens": 1_000_000}
RESULTS = (
    Call("passed", "execute_tests", {"path": "test_fine.py"}),
    Call("failed", "execute_tests", {"path": "test_bad.py"}),
    *(Call(f"{count} tests", "discover_tests", {"path": f"test_{count}.py", **EVERYTHING}) for count in SIZES),
)
BOTH = (
    Call("listed", "discover_tests", {"path": "test_fine.py"}),
    Call("run", "execute_tests", {"path": "test_fine.py"}),
)
ENDLESS = ("--timeout=3600", "--max-timeout=3600")
Wire = list[dict[str, Any]]


def surveyed(program: Program) -> Entry:
    usual = tried(program, Trial((*RESULTS, *ERRORS)))
    if not usual.requests:
        raise RuntimeError(f"{program.title} offers no tool of ours to its model: {usual.output[-2000:]}")
    as_results = tried(program, Trial(ERRORS, flags=("--errors=result",)))
    unasked = tried(program, Trial(BOTH, permitted=False))
    said = [entry["client"] for entry in usual.wire["pytest"] if "client" in entry]
    variables = usual.wire["pytest"][0]["variables"]
    return Entry(
        version=program.version,
        date=datetime.now(UTC).date().isoformat(),
        protocol=protocol(said[0]),
        opening=said[0]["method"],
        hands_on_variables="VIRTUAL_ENV" in variables,
        hides_tools=usual.searched,
        runs_unasked=tuple(call["params"]["name"] for call in called(unasked.wire["pytest"])),
        calls=seen((*RESULTS, *ERRORS), usual),
        calls_with_results=seen(ERRORS, as_results),
    )


def waited(programs: Sequence[Program], seconds: int) -> list[tuple[Wait, Wait]]:
    """How long each waits for an answer that does not come: in silence, and with progress every second. All at once."""
    with ThreadPoolExecutor(2 * len(programs)) as pool:
        silent = [pool.submit(wait, program, "test_stuck.py", seconds) for program in programs]
        talking = [pool.submit(wait, program, "test_talking.py", seconds) for program in programs]
        return [(mute.result(), loud.result()) for mute, loud in zip(silent, talking, strict=True)]


def wait(program: Program, path: str, seconds: int) -> Wait:
    call = Call("endless", "execute_tests", {"path": path})
    outcome = tried(program, Trial([call], flags=ENDLESS, seconds=seconds))
    gave_up = len(outcome.times) > 1
    return Wait(seconds, round(outcome.times[-1] - outcome.times[0]) if gave_up else None)


def tried(program: Program, trial: Trial) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-", ignore_cleanup_errors=True) as folder:
        return run(program, trial, Path(folder).resolve())


def protocol(message: Mapping[str, Any]) -> str:
    params = message["params"]
    version: str = params.get("protocolVersion") or params["_meta"]["io.modelcontextprotocol/protocolVersion"]
    return version


def seen(calls: tuple[Call, ...], outcome: Outcome) -> dict[str, Seen]:
    answers = {name: answered(wire) for name, wire in outcome.wire.items()}
    return {
        call.name: judged(answers[call.server].pop(0), shown) for call, shown in zip(calls, outcome.shown, strict=True)
    }


def answered(wire: Wire) -> list[dict[str, Any]]:
    """The server's answers to calls, in the order of the calls."""
    said = {entry["server"].get("id"): entry["server"] for entry in wire if "server" in entry}
    return [said[message["id"]] for message in called(wire)]


def called(wire: Wire) -> list[dict[str, Any]]:
    asked = [entry["client"] for entry in wire if "client" in entry]
    return [message for message in asked if message.get("method") == "tools/call"]


def judged(answer: dict[str, Any], shown: str) -> Seen:
    error, said = told(answer)
    parts = marked(shown) if error is None else recognised(error, shown)
    return Seen(None if error is None else error["code"], parts, len(said), len(shown))


def told(answer: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The error, if it is one, and all that the server said."""
    if "error" in answer:
        return answer["error"], json.dumps(answer["error"], ensure_ascii=False)
    said: str = answer["result"]["content"][0]["text"]
    return json.loads(said) if answer["result"].get("isError") else None, said


def marked(shown: str) -> tuple[str, ...]:
    return tuple(mark.rpartition(" ")[2] for mark in tap.MARKS if mark in shown)


def recognised(error: dict[str, Any], shown: str) -> tuple[str, ...]:
    lines = [plain(line) for line in error["message"].splitlines()]
    has_message = lines[0] in plain(shown) and lines[-1] in plain(shown)
    found = {
        # Programs have errors of their own, with codes that are the same.
        "code": has_message and str(error["code"]) in shown,
        "message": has_message,
        "data": any(f'"{key}":' in plain(shown) for key in ("validation_errors", "error_type")),
    }
    return tuple(part for part, is_there in found.items() if is_there)


def plain(shown: str) -> str:
    """Text within JSON, and JSON within JSON, has its quotes escaped."""
    return shown.replace("\\", "").strip()
