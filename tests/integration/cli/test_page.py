"""`--html`: the file that a real run writes, and that nothing else changes."""

import json
from pathlib import Path

from tests.support.commands.terminals import piped, settings_of
from tests.support.page.pages import Seen
from tests.support.workbench import Workbench

FAILING = """
    import pytest

    def test_fine(): pass

    @pytest.mark.parametrize("number", range(8))
    def test_fails(number):
        print("<b>printed</b>")
        assert [number, 1] == [number, 2]
"""


def test_a_page_beside_json_has_the_whole_run_and_changes_neither_the_answer_nor_the_exit_code(
    bench: Workbench,
) -> None:
    bench.write({"test_a.py": FAILING})
    page = bench.root / "out" / "report.html"
    page.parent.mkdir()

    done = piped(bench, "run", "--json", f"--html={page}")

    answer = json.loads(done.stdout)
    seen = Seen(page.read_text(encoding="utf-8"))
    assert done.returncode == 1
    assert done.stderr == f"pytest-mcp: the page is in {page}\n"
    assert [len(answer["tests"]), answer["json_report"], list(answer)[-1]] == [2, None, "omitted"]
    assert sum(len(rows) for _, rows in seen.data["files"]) == answer["summary"]["total"] == 9
    assert [cause["count"] for cause in seen.data["causes"]] == [group["count"] for group in answer["failure_groups"]]
    assert seen.data["causes"][0]["ids"] == [f"test_a.py::test_fails[{number}]" for number in range(8)]
    assert seen.data["failures"]["test_a.py::test_fails[3]"]["out"] == [["Captured stdout call", "<b>printed</b>\n"]]
    assert seen.data["again"] == " ".join(["pytest-mcp", *settings_of(bench), "run"])
    assert list(page.parent.iterdir()) == [page]


def test_with_a_history_the_page_has_the_runs_before_it_and_this_one(bench: Workbench) -> None:
    bench.write({"test_a.py": "def test_it(): pass\n"})
    page, history = bench.root / "page.html", f"--history={bench.root.parent / 'history.db'}"
    first = piped(bench, "run", history)
    bench.write({"test_a.py": "def test_it(): assert False\n"})

    second = piped(bench, "run", history, f"--html={page}")

    seen = Seen(page.read_text(encoding="utf-8"))
    assert (first.returncode, second.returncode) == (0, 1)
    ((_, words, results),) = seen.blocks("past")["strips"]
    assert [letter for letter, _ in results] == ["P", "F"]
    assert "failed 0 of 1 times before" in words


def test_a_viewer_without_scripts_gets_the_report_that_is_printed(bench: Workbench) -> None:
    bench.write({"test_a.py": FAILING})
    page = bench.root / "report.html"

    done = piped(bench, "run", f"--html={page}")

    plain = "".join(Seen(page.read_text(encoding="utf-8")).texts)
    assert done.stdout.strip() in plain
    assert "<b>printed</b>" in plain


def test_coverage_on_the_page_has_percentages_and_the_text_of_lines_and_deselected_tests_are_counted(
    bench: Workbench,
) -> None:
    bench = bench.using("coverage-7")
    tests = "from shop import f\n\ndef test_f(): assert f(1) == 1\n\ndef test_other(): pass\n"
    bench.write({"shop.py": "def f(x):\n    if x > 1:\n        return '</script>'\n    return x\n", "test_a.py": tests})
    page = bench.root / "report.html"

    piped(bench, "run", "-k", "test_f", "--coverage=all", f"--html={page}")

    seen = Seen(page.read_text(encoding="utf-8"))
    assert ["deselected", "deselected", 1] in seen.blocks("counts")["counts"]
    assert seen.blocks("coverage")["coverage"][0] == [
        "shop.py",
        "75 %, 1 line did not run",
        "3",
        "",
        [[3, "        return '</script>'"]],
    ]


def test_a_page_that_cannot_be_written_is_refused_before_any_test_runs(bench: Workbench, tmp_path: Path) -> None:
    bench.write({"test_a.py": "open('ran', 'w').close()\n"})

    refused = {
        "missing": piped(bench, "run", f"--html={tmp_path}/no/report.html"),
        "folder": piped(bench, "run", f"--html={tmp_path}"),
        "no page": piped(bench, "run", "--open"),
    }

    assert {name: done.returncode for name, done in refused.items()} == {"missing": 4, "folder": 4, "no page": 4}
    assert not (bench.root / "ran").exists()
