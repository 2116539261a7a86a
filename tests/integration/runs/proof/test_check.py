"""`check_change` on real projects, with a real git."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Project, Steps
from pytest_mcp.tools import BY_NAME
from tests.support.commands.terminals import piped
from tests.support.git import commit_all, git
from tests.support.page.pages import Seen
from tests.support.waiting import processes_in
from tests.support.workbench import Workbench

KEYS = ["verdict", "summary", "new_tests", "weakened", "survivors", "not_covered", "notices", "rerun"]
BEFORE = {
    "shop.py": "def price(n, discount=0):\n    return n * 10\n",
    "test_shop.py": "import shop\n\ndef test_price():\n    assert shop.price(2) == 20\n",
}
AFTER = "def price(n, discount=0):\n    return n * 10 - discount\n"
PROVING = f"{BEFORE['test_shop.py']}\ndef test_discount():\n    assert shop.price(2, 3) == 17\n"


def change(bench: Workbench, before: Mapping[str, str], after: Mapping[str, str]) -> None:
    bench.write(dict(before))
    commit_all(bench.root)
    bench.write(dict(after))


def new_tests(answer: Mapping[str, Any]) -> dict[str, str]:
    return {each["node_id"].partition("::")[2]: each["at_base"] for each in answer["new_tests"]}


async def test_a_test_that_fails_at_the_base_and_kills_all_mutants_proves_a_change(every_bench: Workbench) -> None:
    change(every_bench, BEFORE, {"shop.py": AFTER, "test_shop.py": PROVING})
    seen = {path: path.read_bytes() for path in every_bench.root.rglob("*.py")}

    answer = await every_bench.check()

    assert list(answer) == KEYS
    assert answer["verdict"] == "proven"
    assert new_tests(answer) == {"test_discount": "proves"}
    assert answer["new_tests"][0]["why"] == "AssertionError: assert 20 == 17"
    summary = answer["summary"]
    assert (summary["proving"], summary["survived"], summary["changed_lines"], summary["covered_lines"]) == (1, 0, 1, 1)
    assert summary["killed"] >= 3
    assert (answer["weakened"], answer["survivors"], answer["notices"], answer["rerun"]) == ([], [], [], None)
    assert {path: path.read_bytes() for path in every_bench.root.rglob("*.py")} == seen


async def test_without_a_change_there_is_nothing_to_prove(bench: Workbench) -> None:
    change(bench, BEFORE, {"README.md": "words\n"})

    assert (await bench.check())["verdict"] == "no_change"


@pytest.mark.parametrize("path", ["requirements.txt", "pkg/prompts/system.md", "pkg/words.txt"])
async def test_a_document_that_tests_may_depend_on_is_a_change(bench: Workbench, path: str) -> None:
    change(bench, {**BEFORE, "pkg/__init__.py": "", path: "one\n"}, {path: "two\n"})

    assert (await bench.check())["verdict"] == "unproven"


async def test_comments_and_white_space_are_no_change(bench: Workbench) -> None:
    spaced = {path: f"# about it\n\n{source}\n" for path, source in BEFORE.items()}
    change(bench, BEFORE, spaced)

    answer = await bench.check()

    assert (answer["verdict"], answer["not_covered"], answer["notices"]) == ("no_change", [], [])


async def test_of_a_new_file_without_tests_the_lines_with_code_are_not_covered(bench: Workbench) -> None:
    change(bench, BEFORE, {"other.py": "# about it\n\nX = 1\n"})

    answer = await bench.check()

    assert answer["verdict"] == "unproven"
    assert (answer["not_covered"], answer["notices"]) == (
        [{"file": "other.py", "lines": "3"}],
        ["no test reaches what changed"],
    )


async def test_a_change_of_settings_alone_is_said_to_have_no_source(bench: Workbench) -> None:
    change(bench, BEFORE, {"conftest.py": "X = 1\n"})

    answer = await bench.check()

    assert (answer["verdict"], answer["survivors"]) == ("unproven", [])
    assert any("only tests or their settings changed" in notice for notice in answer["notices"])


async def test_tests_that_fail_are_the_answer_each_with_its_cause(bench: Workbench) -> None:
    tests = f"{BEFORE['test_shop.py']}\ndef test_none():\n    shop.price(None)\n"
    change(bench, BEFORE, {"shop.py": "def price(n, discount=0):\n    return n * 11\n", "test_shop.py": tests})

    answer = await bench.check()

    failing = ["test_shop.py::test_none", "test_shop.py::test_price"]
    assert (answer["verdict"], sorted(answer["rerun"]["node_ids"])) == ("failing", failing)
    assert "test_shop.py::test_price fails: AssertionError: assert 22 == 20" in answer["notices"][0]
    assert "test_shop.py::test_none fails: TypeError: unsupported operand" in answer["notices"][0]
    assert (answer["survivors"], answer["summary"]["killed"]) == ([], 0)


async def test_a_file_that_cannot_be_imported_is_the_answer(bench: Workbench) -> None:
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": f"import absent\n{PROVING}"})

    answer = await bench.check()

    assert (answer["verdict"], answer["rerun"]) == ("failing", {"node_ids": ["test_shop.py"]})
    assert "No module named 'absent'" in answer["notices"][0]


async def test_tests_that_fail_are_the_answer_also_if_there_is_no_copy_of_the_base(bench: Workbench) -> None:
    inner = bench.root / "inner"
    bench.write({"inner/a.txt": "1"})
    commit_all(inner)
    bench.write(BEFORE)
    git("submodule", "--quiet", "add", "./inner", "inner", cwd=_repository(bench))
    commit_all(bench.root)
    bench.write({"inner/a.txt": "2", "shop.py": AFTER, "test_shop.py": f"{PROVING}\ndef test_no():\n    assert 0\n"})
    commit_all(inner)

    answer = await bench.check()

    assert (answer["verdict"], answer["rerun"]) == ("failing", {"node_ids": ["test_shop.py::test_no"]})
    assert sum("the submodule inner changed" in notice for notice in answer["notices"]) == 1


def _repository(bench: Workbench) -> Path:
    git("init", "--quiet", "--initial-branch=main", cwd=bench.root)
    return bench.root


# The folder of the copy has this name.
ONLY_IN_A_COPY = "\ndef test_place():\n    assert __import__('os').path.basename(__import__('os').getcwd()) != 'tree'\n"


async def test_a_file_that_cannot_be_imported_is_the_answer_also_beside_a_test_that_fails_only_in_a_copy(
    bench: Workbench,
) -> None:
    broken = "import shop, absent\n\ndef test_other():\n    assert shop.price(1) == 10\n"
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": PROVING + ONLY_IN_A_COPY, "test_broken.py": broken})

    answer = await bench.check()

    assert (answer["verdict"], answer["rerun"]) == ("failing", {"node_ids": ["test_broken.py"]})


async def test_a_test_that_fails_only_in_a_copy_is_no_doubt(bench: Workbench) -> None:
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": PROVING + ONLY_IN_A_COPY})

    assert (await bench.check())["verdict"] == "proven"


async def test_a_file_that_cannot_be_imported_only_in_a_copy_leaves_the_change_unproven(bench: Workbench) -> None:
    tests = f"import os, shop\nassert os.path.basename(os.getcwd()) != 'tree'\n{BEFORE['test_shop.py']}"
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": PROVING, "test_copy.py": tests})

    answer = await bench.check()

    assert (answer["verdict"], answer["rerun"]) == ("unproven", None)
    assert "test_copy.py" in answer["notices"][-1]


async def test_a_change_that_no_test_reaches_is_unproven(bench: Workbench) -> None:
    change(bench, {**BEFORE, "other.py": "def f():\n    return 1\n"}, {"other.py": "def f():\n    return 2\n"})

    answer = await bench.check()

    assert (answer["verdict"], answer["not_covered"]) == ("unproven", [{"file": "other.py", "lines": "2"}])


async def test_a_vacuous_test_is_named_and_so_is_the_mutant_that_it_misses(bench: Workbench) -> None:
    vacuous = f"{BEFORE['test_shop.py']}\ndef test_discount():\n    assert shop.price(2, 0) == 20\n"
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": vacuous})

    answer = await bench.check()

    assert (answer["verdict"], new_tests(answer)) == ("weak", {"test_discount": "passes"})
    (survivor,) = answer["survivors"]
    assert (survivor["file"], survivor["line"], survivor["after"]) == ("shop.py", 2, "return n * 10 + discount")
    assert "pin what it keeps" in answer["notices"][0]


async def test_a_test_of_something_new_proves_it_only_if_it_notices_its_mutants(bench: Workbench) -> None:
    source = f"{BEFORE['shop.py']}\ndef half(n):\n    return n / 2\n\ndef third(n):\n    return n / 3\n"
    tests = "\ndef test_half():\n    assert shop.half(4) == 2\n\ndef test_third():\n    shop.third(3)\n"
    change(bench, BEFORE, {"shop.py": source, "test_shop.py": BEFORE["test_shop.py"] + tests})

    answer = await bench.check()

    assert new_tests(answer) == {"test_third": "missing", "test_half": "proves"}
    assert {survivor["line"] for survivor in answer["survivors"]} == {8}


async def test_a_weakened_test_is_the_verdict_whatever_mutants_say(bench: Workbench) -> None:
    weakened = PROVING.replace("    assert shop.price(2) == 20\n", "    shop.price(2)\n")
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": weakened})

    answer = await bench.check()

    assert answer["verdict"] == "tests_weakened"
    assert answer["weakened"][0]["before"] == "assert shop.price(2) == 20"


async def test_a_test_that_settings_no_longer_collect_was_weakened(bench: Workbench) -> None:
    slow = f"import pytest\n{BEFORE['test_shop.py']}\n@pytest.mark.slow\ndef test_slow():\n    pass\n"
    settings = "[pytest]\nmarkers = slow\n"
    before = {**BEFORE, "test_shop.py": slow, "pytest.ini": settings}
    change(bench, before, {"shop.py": AFTER, "pytest.ini": f"{settings}addopts = -m 'not slow'\n"})

    answer = await bench.check()

    assert answer["verdict"] == "tests_weakened"
    assert "test_slow" in answer["weakened"][0]["before"] or "not slow" in answer["weakened"][0]["after"]


async def test_computed_parameters_that_are_fewer_now_weaken_a_test(bench: Workbench) -> None:
    marked = "@pytest.mark.parametrize('n', range({}))\ndef test_price(n):\n    assert shop.price(n) == 10 * n\n"
    tests = f"import pytest, shop\n\n{marked}"
    change(bench, {**BEFORE, "test_shop.py": tests.format(5)}, {"shop.py": AFTER, "test_shop.py": tests.format(2)})

    answer = await bench.check()

    assert answer["verdict"] == "tests_weakened"
    assert answer["weakened"][0]["file"] == "test_shop.py"


LONG = " + ".join(["n * 0"] * 400)


async def test_a_line_that_is_nested_too_deeply_has_no_mutants(bench: Workbench) -> None:
    change(bench, BEFORE, {"shop.py": AFTER.replace(" - d", f" + {LONG} - d"), "test_shop.py": PROVING})

    answer = await bench.check()

    assert (answer["verdict"], answer["summary"]["killed"]) == ("proven", 0)
    assert "no mutants of shop.py" in answer["notices"][0]


async def test_tests_that_are_nested_too_deeply_to_be_compared_prove_nothing(bench: Workbench) -> None:
    tests = f"{PROVING}\ndef test_long():\n    n = 1\n    x = {LONG}\n    assert x == 0\n"
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": tests})

    answer = await bench.check()

    assert answer["verdict"] == "unproven"
    assert "tests were not compared" in answer["notices"][0]


async def test_a_test_that_hangs_at_the_base_proves_the_change_within_seconds(bench: Workbench) -> None:
    before = {"shop.py": "def count(n):\n    while n:\n        pass\n    return n\n", "test_shop.py": "import shop\n"}
    test = "import shop\n\ndef test_count():\n    assert shop.count(3) == 0\n"
    change(
        bench, before, {"shop.py": "def count(n):\n    while n:\n        n -= 1\n    return n\n", "test_shop.py": test}
    )

    answer = await bench.check()

    assert [each["why"] for each in answer["new_tests"]] == ["it hangs there"]


async def test_a_new_test_that_does_not_always_pass_is_named(bench: Workbench) -> None:
    flaky = f"{PROVING}\ndef test_sometimes():\n    assert hash('a') % 8 == int(__import__('os').environ['EXPECTED'])\n"
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": flaky})
    # Of the first run; that of the next ones is another one.
    expected = "0" * 0 + str(hash_of_a("0") % 8)
    moved = bench.config._replace(environment={**bench.config.environment, "PYTHONHASHSEED": "0", "EXPECTED": expected})
    tool = BY_NAME["check_change"]
    request = tool.accept({}, moved.bounds)

    answer: Any = tool.answer(await tool.handler(request, Project(moved)), request, moved)

    assert {each.node_id: each.at_base for each in answer.new_tests}["test_shop.py::test_sometimes"] == "flaky"


async def test_runs_of_a_new_test_do_not_meet_and_leave_nothing_in_the_checkout(bench: Workbench) -> None:
    claims = (
        "    with open('claim', 'x'):\n        time.sleep(1)\n    os.remove('claim')\n    open('left', 'w').close()\n"
    )
    test = f"\nimport os, time\n\ndef test_alone():\n    assert shop.price(2, 3) == 17\n{claims}"
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": BEFORE["test_shop.py"] + test})

    answer = await bench.check()

    assert new_tests(answer) == {"test_alone": "proves"}
    assert not (bench.root / "left").exists()


def hash_of_a(seed: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", "print(hash('a'))"], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
    )
    return int(done.stdout)


HOSTILE = """\
import os, shutil, signal, sys, time

def guarded(x):
    if x == {trigger}:
        {deed}
    return x

def plain(x):
    return x + 1
"""
DEEDS = {
    "kills its parent": "os.kill(os.getppid(), signal.SIGKILL)",
    "kills everything in its group": "os.killpg(0, signal.SIGKILL)",
    "closes every descriptor": "os.closerange(0, 1000)",
    "deletes the project": "shutil.rmtree(os.path.dirname(os.path.abspath(__file__)))",
    "ends the process as if all were well": "os._exit(0)",
    "never ends": "time.sleep(10_000)",
    "leaves processes behind": "os.fork() or (os.setsid(), time.sleep(10_000))",
}


@pytest.mark.parametrize("deed", DEEDS)
async def test_a_mutant_that_does_harm_does_it_to_a_copy(bench: Workbench, deed: str) -> None:
    source = HOSTILE.format(trigger=7, deed=DEEDS[deed])
    tests = "import shop\n\ndef test_guarded():\n    assert shop.guarded(1) == 1\n\ndef test_plain():\n"
    change(
        bench,
        {"shop.py": "def plain(x):\n    return x\n", "test_shop.py": "import shop\n"},
        {"shop.py": source, "test_shop.py": f"{tests}    assert shop.plain(1) == 2\n"},
    )

    answer = await bench.check(timeout=120)

    assert (bench.root / "shop.py").read_text(encoding="utf-8") == source
    is_over = any("which ended the process or its files" in each for each in answer["notices"])
    assert is_over == (deed in ("kills its parent", "deletes the project"))
    # Of the last line: another result, a difference and a larger number.
    assert is_over or answer["summary"]["killed"] >= 3
    assert not is_over or answer["summary"]["not_tried"] > 0
    assert {each["line"] for each in answer["survivors"]} <= {4, 5}
    assert not processes_in(bench.root)


async def test_progress_says_what_is_known_so_far(bench: Workbench) -> None:
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": PROVING})
    steps: list[Steps | Ledger] = []
    tool = BY_NAME["check_change"]

    await tool.handler(tool.accept({}, bench.config.bounds), Project(bench.config, on_progress=steps.append))

    words = [step.words for step in steps if isinstance(step, Steps)]
    assert words[:2] == ["comparing with the base", "collecting"]
    assert "running new and edited tests at the base" in words
    assert any(each.startswith("mutants: 1 tried, ") for each in words)
    assert [step.finished for step in steps] == list(range(1, len(steps) + 1))


async def test_outside_of_a_repository_a_check_is_refused(bench: Workbench) -> None:
    bench.write(BEFORE)

    failure = await bench.refused("check_change")

    assert (failure.code, failure.data["validation_errors"][0]["field"]) == (-32602, "base")


def test_people_and_workflows_read_the_same_verdict(bench: Workbench, tmp_path: Path) -> None:
    change(bench, BEFORE, {"shop.py": AFTER, "test_shop.py": PROVING})
    page = tmp_path / "page.html"

    person = piped(bench, "check", "HEAD", f"--html={page}")
    script, comment = piped(bench, "check", "--json", "--mutants=0"), piped(bench, "check", "--github")

    assert (person.returncode, script.returncode, comment.returncode) == (0, 0, 0)
    assert person.stdout.splitlines()[-1].startswith("proven; 2 tests ran, 1 prove it, ")
    assert json.loads(script.stdout)["summary"]["killed"] == 0
    assert comment.stdout.startswith("**Do the tests prove this change? Proven.** 2 tests ran")
    assert Seen(page.read_text(encoding="utf-8")).has_text("Proven")
