"""The documents say what is so: generated parts are fresh, links lead somewhere, examples are real."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from bench.tokens import projects
from bench.tokens import results as token_results
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli.setup.clients import CLIENTS
from pytest_mcp.tools import dump
from tests.support.paths import ROOT
from tests.support.workbench import Workbench

SOURCES = ROOT / "src" / "pytest_mcp"
# Places of one machine. Put together here, or this file would contain them.
MACHINE_PATHS = [f"/{name}/" for name in ("work", "root")]


def own_files(pattern: str = "*") -> list[Path]:
    """Every file that is, or is about to be, under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", pattern],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def anchors(document: Path) -> set[str]:
    """The names that headings have in links, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def document(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def shown_answer() -> Any:
    (block,) = re.findall(r"(?ms)^```json\n(.*?)^```", document("docs/answers.md"))
    return json.loads(block)


def without_timings(answer: dict[str, Any]) -> dict[str, Any]:
    """What is the same in every run; the marks in a traceback also depend on the version of Python."""
    tests = [{key: test[key] for key in ("node_id", "outcome", "message")} for test in answer["tests"]]
    summary = {key: value for key, value in answer["summary"].items() if key != "duration"}
    text = re.sub(r"=+|[\d.]+s\b", "", answer["text_output"]).strip()
    return answer | {"tests": tests, "summary": summary, "text_output": text}


def test_every_relative_link_leads_to_a_file_and_to_a_heading_in_it() -> None:
    links = [
        (document, target, anchor)
        for document in own_files("*.md")
        for target, anchor in re.findall(
            r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", document.read_text(encoding="utf-8")
        )
    ]
    targets = [
        (document, document.parent / target if target else document, anchor) for document, target, anchor in links
    ]

    broken = [
        f"{document.name} -> {target.name}#{anchor}"
        for document, target, anchor in targets
        if not target.exists() or (anchor and anchor not in anchors(target))
    ]

    assert links
    assert broken == []


def test_the_architecture_describes_every_room_and_names_no_file_that_is_not_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = {f"{path.relative_to(SOURCES).parts[0]}/" for path in SOURCES.glob("*/**/*.py")}

    rows = set(re.findall(r"^\| `([\w/]+/)` \|", text, re.MULTILINE))
    named = text + document("CONTRIBUTING.md").replace("NAME", "uv")
    files = set(re.findall(r"`([\w/]+/\w+\.(?:py|json))`", named))

    assert rows == rooms
    assert [name for name in files if not (SOURCES / name).exists() and not (ROOT / name).exists()] == []


def test_no_file_names_a_place_of_one_machine() -> None:
    found = [
        path.relative_to(ROOT).as_posix()
        for path in own_files()
        if any(place.encode() in path.read_bytes() for place in MACHINE_PATHS)
    ]

    assert found == []


def test_the_answer_in_the_document_has_exactly_the_keys_of_the_models() -> None:
    example = shown_answer()

    answer = dump(ExecuteResult.model_validate(example))

    # As text, so that the order of the keys counts too.
    assert json.dumps(answer) == json.dumps(example)


async def test_before_and_after_are_the_same_real_run(bench: Workbench) -> None:
    projects.one_fixture(200).write(bench.root)
    (before,) = re.findall(r"(?ms)^```text\n(tests/test_carts.*?)^```", document("docs/answers.md"))

    printed = bench.shell().stdout
    answer = await bench.execute()

    # In this order, with gaps.
    rest = iter(printed.splitlines())
    assert all(line in rest for line in before.splitlines())
    assert len(printed.splitlines()) > 2000
    assert without_timings(answer) == without_timings(shown_answer())


def test_the_tokens_before_and_after_are_those_that_were_counted() -> None:
    counted = token_results.load()["one-fixture"]

    # In thousands: names of temporary folders and durations differ by some tokens from run to run.
    assert f"or {counted.printed['pytest'] // 1000},000 tokens" in document("docs/answers.md")
    assert f"whole, {counted.answer:,} tokens" in document("docs/answers.md")


def test_setup_says_of_each_program_what_it_was_seen_to_ask() -> None:
    """In the words of the row of the client: nothing, one tool or "a tool"."""
    seen = json.loads(document("docs/clients.json"))
    asked = {}
    for client in CLIENTS:
        program = seen.get({"gemini": "gemini-cli"}.get(client.name, client.name))
        if program is not None:
            tools = [tool for tool in ("discover_tests", "execute_tests") if tool not in program["runs_unasked"]]
            asked[client.name] = "a tool" if len(tools) == 2 else "".join(f"`{tool}`" for tool in tools)

    assert len(asked) == len(seen)
    assert asked == {client.name: client.asks for client in CLIENTS if client.name in asked}
