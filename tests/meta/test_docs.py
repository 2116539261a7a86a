"""The documents say what is so: generated parts are fresh, links lead somewhere, examples are real."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.tokens import projects
from bench.tokens import results as token_results
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.config.model import PREFIX
from pytest_mcp.config.options import SETTINGS
from pytest_mcp.tools import dump
from scripts import generate_figures
from tests.support.paths import ROOT
from tests.support.workbench import Workbench

GENERATOR = ROOT / "scripts" / "generate_docs.py"
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


# The answers that documents show: of a broken fixture, and of the example project.
SHOWN_IN = {"fixture": "docs/answers.md", "shop": "README.md"}


def document(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def shown_answer(name: str) -> Any:
    blocks = re.findall(r"(?ms)^```json\n(.*?)^```", document(SHOWN_IN[name]))
    (block,) = [block for block in blocks if '"verdict"' in block]
    return json.loads(block)


def without_timings(answer: dict[str, Any]) -> dict[str, Any]:
    """What is the same in every run; the marks in a traceback also depend on the version of Python."""
    tests = [{key: test[key] for key in ("node_id", "outcome", "message")} for test in answer["tests"]]
    summary = {key: value for key, value in answer["summary"].items() if key != "duration"}
    text = re.sub(r"=+|[\d.]+s\b", "", answer["text_output"]).strip()
    return answer | {"tests": tests, "summary": summary, "text_output": text}


def test_the_generated_document_and_the_snapshot_are_fresh() -> None:
    done = subprocess.run([sys.executable, GENERATOR, "--check"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_check_names_the_file_that_drifted_and_the_command_that_mends_it(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    copy = shutil.copy(GENERATOR, tmp_path / "scripts")
    (tmp_path / "src" / "pytest_mcp" / "server").mkdir(parents=True)
    for name in ("snapshot.json", "snapshot_history.json"):
        shutil.copy(SOURCES / "server" / name, tmp_path / "src" / "pytest_mcp" / "server")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tools.md").write_text("stale\n", encoding="utf-8")

    done = subprocess.run([sys.executable, copy, "--check"], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert "docs/tools.md" in done.stderr
    assert "make docs" in done.stderr
    assert "snapshot" not in done.stderr


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
    files = set(re.findall(r"`([\w/]+\.(?:py|json))`", text))

    assert rows == rooms
    assert [name for name in files if not (SOURCES / name).exists() and not (ROOT / name).exists()] == []


def test_no_file_names_a_place_of_one_machine() -> None:
    found = [
        path.relative_to(ROOT).as_posix()
        for path in own_files()
        if any(place.encode() in path.read_bytes() for place in MACHINE_PATHS)
    ]

    assert found == []


@pytest.mark.parametrize("name", SHOWN_IN)
def test_an_answer_in_a_document_has_exactly_the_keys_of_the_models(name: str) -> None:
    example = shown_answer(name)

    answer = dump(ExecuteResult.model_validate(example))

    # As text, so that the order of the keys counts too.
    assert json.dumps(answer) == json.dumps(example)


@pytest.mark.anyio
async def test_the_answer_in_the_readme_is_what_the_server_answers(bench: Workbench) -> None:
    shutil.copytree(ROOT / "examples" / "shop", bench.root, dirs_exist_ok=True)

    answer = await bench.execute(keywords="vat")

    assert without_timings(answer) == without_timings(shown_answer("shop"))


@pytest.mark.anyio
async def test_before_and_after_are_the_same_real_run(bench: Workbench) -> None:
    projects.one_fixture(200).write(bench.root)
    (before,) = re.findall(r"(?ms)^```text\n(tests/test_carts.*?)^```", document("docs/answers.md"))

    printed = bench.shell().stdout
    answer = await bench.execute()

    # In this order, with gaps.
    rest = iter(printed.splitlines())
    assert all(line in rest for line in before.splitlines())
    assert len(printed.splitlines()) > 2000
    assert without_timings(answer) == without_timings(shown_answer("fixture"))


def test_the_tokens_before_and_after_are_those_that_were_counted() -> None:
    counted = token_results.load()["one-fixture"]

    # In thousands: names of temporary folders and durations differ by some tokens from run to run.
    assert f"or {counted.printed['pytest'] // 1000},000 tokens" in document("docs/answers.md")
    assert f"whole, {counted.answer:,} tokens" in document("docs/answers.md")


@pytest.mark.parametrize("name", generate_figures.PARTS)
def test_the_figures_in_a_document_are_those_that_were_measured(name: str) -> None:
    assert generate_figures.filled(name) == document(f"docs/{name}")


def test_a_drifted_figure_is_mended_and_the_rest_is_left_alone() -> None:
    text = document("docs/answers.md")
    drifted = text.replace("| 200 passing tests |", "| 300 passing tests |")

    assert drifted != text
    assert generate_figures.filled("answers.md", drifted) == text


def test_the_page_of_settings_has_every_setting_of_the_operators_with_its_variable() -> None:
    rows = re.findall(r"(?m)^\| `(--[a-z-]+)[^|]*(?:\\\|[^|]*)*\| `(\w+)` \|", document("docs/settings.md"))

    assert rows == [(setting.flag, PREFIX + setting.name.upper()) for setting in SETTINGS]
