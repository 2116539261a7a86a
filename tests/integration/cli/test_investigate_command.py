"""`pytest-mcp investigate` as a person or a script has it: what is printed, where, and the exit code."""

import json

from tests.support.commands.terminals import Terminal, piped, remains
from tests.support.page.pages import Seen
from tests.support.projects.investigation_corpus import ALWAYS, VICTIM
from tests.support.waiting import processes_in
from tests.support.workbench import Workbench


def test_a_person_reads_what_was_tried_and_last_of_all_the_kind_and_gets_a_page_of_it(bench: Workbench) -> None:
    bench.write(ALWAYS.files)
    page = bench.root / "page.html"

    done = piped(bench, "investigate", VICTIM, "--runs", "2", f"--html={page}")

    first, *_, last = done.stdout.splitlines()
    seen = Seen(page.read_text(encoding="utf-8"))
    assert (done.returncode, done.stderr) == (1, f"pytest-mcp: the page is in {page}\n")
    assert first.startswith("alone: FF (")
    assert last.startswith("fails always; confidence medium: failed in 2 of 2 runs alone")
    for text in ("Fails always", first, "FF", f"investigate {VICTIM} --runs=2", f"run {VICTIM}"):
        assert seen.has_text(text)
    assert [frame["path"] for frame in seen.data["failures"][VICTIM]["parts"][0]["chain"][0]["frames"]]


def test_a_script_gets_the_answer_of_the_tool(bench: Workbench) -> None:
    bench.write({"test_victim.py": "def test_it(): pass\n"})

    done = piped(bench, "investigate", "--json", "--runs=2", VICTIM)

    answer = json.loads(done.stdout)
    assert (done.returncode, answer["kind"], answer["rerun"]) == (0, "passes", None)
    keys = [
        "kind",
        "confidence",
        "evidence",
        "first_difference",
        "broken_by",
        "suspects",
        "polluter",
        "notices",
        "rerun",
    ]
    assert list(answer) == keys


def test_what_is_not_one_test_is_a_usage_error(bench: Workbench) -> None:
    bench.write(ALWAYS.files)

    page = bench.root / "page.html"

    nothing, a_file = piped(bench, "investigate"), piped(bench, "investigate", "test_victim.py", f"--html={page}")
    a_name = piped(bench, "investigate", "test_withdraw")

    assert (nothing.returncode, a_file.returncode, a_name.returncode) == (4, 4, 4)
    advice = "name one test as FILE::NAME; pytest-mcp discover -k test_withdraw lists it"
    assert f"test_withdraw: {advice}" in a_name.stderr
    assert "must name one test" in page.read_text(encoding="utf-8")
    assert "NODE_ID" in nothing.stderr
    assert "must name one test" in a_file.stderr


def test_a_terminal_shows_each_step_and_ctrl_c_ends_it_without_a_trace(bench: Workbench) -> None:
    source = "import pathlib, time\ndef test_it():\n    pathlib.Path('there').touch()\n    time.sleep(600)\n"
    bench.write({"test_victim.py": source})

    with Terminal(bench, "investigate", VICTIM) as terminal:
        terminal.until(lambda: (bench.root / "there").exists() and any("collecting" in line for line in terminal.drawn))
        terminal.press(b"\x03")
        code = terminal.end()

    assert code == 2
    assert "interrupted (SIGINT)" in terminal.text
    assert processes_in(bench.root) == []
    assert remains(bench) == []
