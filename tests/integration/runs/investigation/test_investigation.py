"""`investigate_failure` on real projects. The whole corpus runs with `make investigations`."""

import re
import threading
from dataclasses import replace
from typing import Any

import anyio
import pytest

from pytest_mcp.changed.tree_copy import ROOM_FOR_UNTRACKED
from pytest_mcp.investigation import repetitions, suspects
from pytest_mcp.investigation.repetitions import HASH_SEED, Seeds
from pytest_mcp.investigation.runner import Runner
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.run.attempt import Deadline
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Project, Steps
from pytest_mcp.tools import BY_NAME
from tests.support.git import git
from tests.support.projects.investigation_corpus import BASE, BROKEN_SHOP, GOOD, ORDER, UNCOLLECTED, VICTIM, Truth
from tests.support.runs.at_base import at_the_base, commit
from tests.support.waiting import PATIENCE
from tests.support.workbench import PYTESTS, Workbench

INVALID_PARAMS = -32602
# Seconds in which a busy machine starts a test that hangs; all of them pass.
LONG_ENOUGH = 10


async def test_node_ids_run_in_the_order_in_which_a_call_names_them(every_bench: Workbench) -> None:
    """So that `polluter.rerun` shows what it claims."""
    source = "import pathlib\ndef told(name): pathlib.Path('order').open('a').write(name + '\\n')\n"
    files = {f"test_{f}.py": f"{source}def test_0(): told('{f}0')\ndef test_1(): told('{f}1')\n" for f in "ab"}
    every_bench.write(files)
    chosen = ["b1", "a1", "a0", "b0"]

    await every_bench.execute(node_ids=[f"test_{name[0]}.py::test_{name[1]}" for name in chosen])

    assert (every_bench.root / "order").read_text(encoding="utf-8").split() == chosen


async def test_a_test_that_leaks_is_found_and_shown(bench: Workbench) -> None:
    oldest = bench.using(PYTESTS[0])
    oldest.write({**GOOD, "test_a.py": "import shop\ndef test_pollutes(): shop.PRICES['tea'] = 9\n"})

    found = await oldest.investigate(node_id=VICTIM, runs=2)

    assert (found["kind"], found["notices"]) == ("order_dependent", [])
    assert found["polluter"]["effect"] == "fails_after"
    assert found["polluter"]["node_ids"] == ["test_a.py::test_pollutes"]
    shown = await oldest.execute(**found["polluter"]["rerun"])
    assert [test["node_id"] for test in shown["tests"] if test["outcome"] == "failed"] == [VICTIM]


async def test_a_test_that_needs_another_is_told_with_each_step_in_words(bench: Workbench) -> None:
    bench.write(ORDER["a test that needs another"].files)
    steps: list[Steps | Ledger] = []
    tool = BY_NAME["investigate_failure"]
    request = tool.accept({"node_id": VICTIM, "runs": 2}, bench.config.bounds)

    findings = await tool.handler(request, Project(bench.config, on_progress=steps.append))
    found: Any = tool.answer(findings, request, bench.config)

    assert (found.kind, found.polluter.effect) == ("order_dependent", "fails_without")
    assert found.polluter.node_ids == ["test_victim.py::test_creates"]
    assert found.rerun == {"node_ids": [VICTIM]}
    words = [step.words for step in steps if isinstance(step, Steps)]
    assert {"alone 2/2: FF", "after all 3 earlier tests in its file", "bisecting 1 of 3 tests"} <= set(words)
    assert [step.finished for step in steps] == list(range(1, len(steps) + 1))


async def test_the_order_is_kept_whatever_addopts_do_to_it_and_a_call_that_cannot_show_it_is_told(
    bench: Workbench,
) -> None:
    """Two workers would run one test each, and -x would end the run at the first failure."""
    leaking = "import shop\ndef test_fails(): assert 0\ndef test_pollutes(): shop.PRICES['tea'] = 9\n"
    bench.write({**GOOD, "test_a.py": leaking, "pytest.ini": "[pytest]\naddopts = -n2 -x --lf\n"})

    found = await bench.investigate(node_id=VICTIM, runs=2)

    assert (found["kind"], found["polluter"]["node_ids"]) == ("order_dependent", ["test_a.py::test_pollutes"])
    assert "polluter.rerun does not show the effect" in found["notices"][0]


async def test_a_hash_seed_that_decides_is_named(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.write({"test_victim.py": f"import os\ndef test_it(): assert os.environ['{HASH_SEED}'] == '1'\n"})
    monkeypatch.setattr(repetitions, "hash_seeds", lambda _runner, number: [Seeds(1), *[Seeds(2)] * (number - 1)])
    monkeypatch.setattr(repetitions, "TRIES_OF_SEEDS", 1)

    found = await bench.investigate(node_id=VICTIM)

    assert (found["kind"], found["evidence"][0]) == ("flaky", "alone: PF")
    assert found["evidence"][2] == (
        "fails with PYTHONHASHSEED=2 (2 of 2 runs), passes with PYTHONHASHSEED=1 (2 of 2): the seed decides"
    )


def changed_since(bench: Workbench, truth: Truth) -> None:
    assert truth.committed is not None
    bench.write(truth.committed)
    commit(bench)
    bench.write(truth.files)


async def test_the_base_is_asked_and_the_checkout_stays_as_it_is(bench: Workbench) -> None:
    truth = BASE["at the base too"]
    changed_since(bench, truth)
    index = (bench.root / ".git" / "index").read_bytes()
    before = {path.name for path in bench.root.iterdir()}

    found = await bench.investigate(node_id=truth.node_id, runs=2)

    assert found["kind"] == truth.kind
    at_base = [each for each in found["evidence"] if each.startswith("at ")]
    assert truth.evidence in at_base[-1]
    assert (bench.root / ".git" / "index").read_bytes() == index
    assert not list((bench.root / ".git").glob("worktrees"))
    assert {path.name for path in bench.root.iterdir()} - before <= {"__pycache__"}


@pytest.mark.parametrize(
    "name", ["only now", "renamed since", "not collectable at the base", "with another value at the base"]
)
async def test_a_test_that_did_not_fail_the_same_way_at_the_base_fails_since_then(bench: Workbench, name: str) -> None:
    truth = BASE[name]
    changed_since(bench, truth)

    found = await at_the_base(bench, truth.node_id)

    assert found.kind == truth.kind
    assert truth.evidence in found.evidence[-1]


COMMENT = {"test_victim.py": f"{GOOD['test_victim.py']}# A comment.\n"}
BEFORE, SAME = "at HEAD~1: passes (1 run)", "fails the same way"
ONLY = "at HEAD: nothing differs from it, and there is no earlier commit"
# How many commits the bug is old, of so many; what is not committed; the kind and the last line of evidence.
CLEAN: dict[str, tuple[int, int, dict[str, str], str, str]] = {
    "in the last commit": (0, 2, {}, "deterministic", BEFORE),
    "three commits ago": (3, 6, {}, "deterministic", "at HEAD~4: passes (1 run)"),
    "in the last commit, beside a change that does not reach it": (0, 2, {"a.py": "x = 1\n"}, "deterministic", BEFORE),
    "in the last commit, beside a change without effect": (0, 2, COMMENT, "deterministic", BEFORE),
    "in every commit, beside a change without effect": (2, 2, COMMENT, "pre_existing", f"at HEAD~1: {SAME}"),
    "in the only commit, beside a change without effect": (0, 1, COMMENT, "pre_existing", f"at HEAD: {SAME}"),
    "in every commit": (4, 4, {}, "pre_existing", f"at HEAD~2: {SAME}"),
    "in the only commit": (0, 1, {}, "deterministic", ONLY),
}


@pytest.mark.parametrize("where", CLEAN)
async def test_where_it_fails_the_same_way_at_head_earlier_commits_are_tried(bench: Workbench, where: str) -> None:
    age, commits, uncommitted, kind, evidence = CLEAN[where]
    for number in range(commits):
        bench.write({**GOOD, **({} if number < commits - 1 - age else BROKEN_SHOP)})
        commit(bench)
    bench.write(uncommitted)

    found = await at_the_base(bench)

    assert found.kind == kind
    assert re.sub(r" \([0-9a-f]{7}\)", "", found.evidence[-1]) == evidence
    is_same = uncommitted is not COMMENT
    assert commits == 1 or found.evidence[2].startswith("the code that it runs is the same at HEAD (") == is_same


@pytest.mark.parametrize("uncommitted", [{}, COMMENT], ids=["clean", "with a change without effect"])
async def test_a_shallow_clone_is_told_where_an_earlier_commit_is_looked_for(
    bench: Workbench, uncommitted: dict[str, str]
) -> None:
    bench.write({**GOOD, **BROKEN_SHOP})
    commit(bench)
    commit(bench)
    # What a clone of depth 1 has.
    head = bench.root / ".git" / "HEAD"
    tip = (head.parent / head.read_text().removeprefix("ref: ").strip()).read_text()
    (head.parent / "shallow").write_text(tip)
    bench.write(uncommitted)

    found = await at_the_base(bench)

    assert found.kind == ("pre_existing" if uncommitted else "deterministic")
    assert "shallow" in found.evidence[-1]


PRICES = [{"lib/shop.py": f"def price(name): return {price}\n"} for price in (1, 2)]
# What is committed and what is changed then; the environment; and the last line of evidence.
AWAY: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str], str]] = {
    # An import hook of an editable install comes before every path; here a conftest does the same.
    "an import from the checkout is no answer": (
        {**PRICES[0], "conftest.py": "import sys\nsys.path.insert(0, '{lib}')\n", "pytest.ini": "[pytest]\n"},
        PRICES[1],
        {},
        "says nothing, because it imported shop from",
    ),
    # As a .pth of an editable install has it.
    "a package of the environment is the copy's": (PRICES[0], PRICES[1], {"PYTHONPATH": "{lib}"}, "passes (3 runs)"),
    "a test that removes the copy runs there once": (
        {"test_victim.py": "import os, shutil\ndef test_it(): shutil.rmtree(os.getcwd())\n"},
        {"test_victim.py": "def test_it(): assert 0\n"},
        {},
        "passes (1 run)",
    ),
}


@pytest.mark.parametrize("what", AWAY)
async def test_at_the_base_only_the_copy_counts_and_the_checkout_stays(bench: Workbench, what: str) -> None:
    committed, then, environment, evidence = AWAY[what]
    lib = str(bench.root / "lib")
    bench.write({"test_victim.py": GOOD["test_victim.py"]})
    bench.write({name: text.replace("{lib}", lib) for name, text in committed.items()})
    commit(bench)
    bench.write(then)

    found = await at_the_base(bench, runs=3, **{name: text.format(lib=lib) for name, text in environment.items()})

    assert found.kind == "deterministic"
    assert found.evidence[-1].partition(": ")[2].startswith(evidence)


async def test_a_file_that_is_a_link_out_of_the_project_at_the_base_is_not_there(bench: Workbench) -> None:
    bench.write({"shared/test_victim.py": "def test_it(): assert 0\n", "sub/pytest.ini": "[pytest]\n"})
    (bench.root / "sub" / "tests").symlink_to("../shared")
    commit(bench)
    (bench.root / "sub" / "tests").unlink()
    bench.write({"sub/tests/test_victim.py": "def test_it(): assert 0\n"})

    found = await at_the_base(replace(bench, root=bench.root / "sub"), "tests/test_victim.py::test_it")

    assert (found.kind, found.evidence[-1].partition(": ")[2]) == ("deterministic", "its file is not there")


async def test_a_failure_in_a_copy_that_lacks_something_says_nothing(bench: Workbench) -> None:
    bench.write({"test_victim.py": "def test_it(): assert 0\n"})
    commit(bench)
    bench.write({"test_victim.py": "# Changed.\ndef test_it(): assert 0\n"})
    with (bench.root / "data").open("wb") as large:
        large.truncate(ROOM_FOR_UNTRACKED.bytes + 1)

    found = await at_the_base(bench)

    assert found.kind == "deterministic"
    assert "in a copy without data (too large)" in found.evidence[-1]


async def test_files_that_a_test_has_removed_are_no_targets_any_more(bench: Workbench) -> None:
    bench.write({"test_a.py": "", "test_victim.py": ""})
    (bench.root / "test_link.py").symlink_to("/etc/hostname")
    runner = Runner(bench.config, Candidate(bench.python, ""), Deadline.after(PATIENCE))

    request = runner.request("test_gone.py", "test_a.py", "test_link.py", "test_victim.py::test_it")

    assert [target.node_id for _, target in request.targets] == ["test_a.py", "test_victim.py::test_it"]


async def test_a_file_that_cannot_be_imported_is_a_failure_with_its_reason(bench: Workbench) -> None:
    bench.write(UNCOLLECTED.files)

    found = await bench.investigate(node_id=VICTIM, runs=2)

    assert found["kind"] == "deterministic"
    assert "ModuleNotFoundError: No module named 'nowhere'" in found["confidence"]


TOO_LATE = ["The time was over before everything was tried; a larger timeout may show more."]
SWALLOWING = "import time\ndef wait():\n    try: time.sleep(600)\n    except: pass\n"
# What hangs, and where; an interruption that is swallowed has no place.
HANGS = {
    "a test": ({"test_victim.py": "import time\ndef wait(): time.sleep(600)\ndef test_it(): wait()\n"}, ":2: in wait"),
    "its file": ({"test_victim.py": "import time\ntime.sleep(600)\ndef test_it(): pass\n"}, ":2: in <module>"),
    "a test that swallows": ({"test_victim.py": f"{SWALLOWING}def test_it(): wait()\n"}, ""),
    "its file that swallows": ({"test_victim.py": f"{SWALLOWING}wait()\ndef test_it(): pass\n"}, ""),
    "a conftest": ({"conftest.py": f"{SWALLOWING}wait()\n", "test_victim.py": "def test_it(): pass\n"}, ""),
}


@pytest.mark.parametrize("what", HANGS)
async def test_a_hang_is_told_with_its_place_and_running_out_of_time_is_an_answer(bench: Workbench, what: str) -> None:
    files, place = HANGS[what]
    bench.write(files)

    found = await bench.investigate(node_id=VICTIM, timeout=LONG_ENOUGH)

    assert found["kind"] == "hangs"
    assert place in found["confidence"]
    assert not place or f"test_victim.py{place}" in found["evidence"][1]
    assert found["notices"] == TOO_LATE


async def test_ranking_that_takes_too_long_does_not_delay_the_answer(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.write({**GOOD, **BROKEN_SHOP})
    is_answered = threading.Event()
    monkeypatch.setattr(suspects, "suspects_of", lambda *_: is_answered.wait(PATIENCE) and [])

    with anyio.fail_after(PATIENCE):
        found = await bench.investigate(node_id=VICTIM, runs=2, timeout=10)
    is_answered.set()

    assert (found["kind"], found["evidence"][-1]) == ("deterministic", "suspects: not looked for, the time was over")
    assert found["notices"] == TOO_LATE


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"node_id": "test_victim.py::TestClass"}, "node_id"),
        ({"node_id": "test_victim.py::test_each"}, "node_id"),
        ({"node_id": "test_victim.py::test_nowhere"}, "node_id"),
        ({"node_id": "test_victim.py::test_it", "base": "nowhere"}, "base"),
        ({"node_id": "test_victim.py::test_it", "base": "HEAD:shop.py"}, "base"),
    ],
)
async def test_what_is_not_one_test_or_no_commit_is_refused(
    bench: Workbench, arguments: dict[str, Any], field: str
) -> None:
    several = "import pytest\n@pytest.mark.parametrize('n', [1, 2])\ndef test_each(n): pass\n"
    methods = "class TestClass:\n    def test_a(self): pass\n    def test_b(self): pass\n"
    bench.write({**GOOD, **BROKEN_SHOP, "test_victim.py": f"{GOOD['test_victim.py']}{several}{methods}"})
    if "base" in arguments:
        commit(bench)

    refused = await bench.refused("investigate_failure", **arguments)

    assert (refused.code, refused.data["field"]) == (INVALID_PARAMS, field)


def history(bench: Workbench, states: str) -> list[str]:
    """A commit for each letter: the test passes, fails, is skipped, or cannot be imported. Their subjects."""
    skipping = "import pytest\ndef price(name): pytest.skip('later')\n"
    shops = {"P": "def price(name): return 1\n", "F": BROKEN_SHOP["shop.py"], "C": "import nowhere\n", "S": skipping}
    for number, state in enumerate(states):
        files = {"test_victim.py": GOOD["test_victim.py"], "shop.py": f"{shops[state]}# {number}\n"}
        bench.write({**files, "log": f"{number}"})
        git("init", "--quiet", cwd=bench.root)
        git("add", "--all", cwd=bench.root)
        git("commit", "--quiet", "-m", f"commit {number}", cwd=bench.root)
    return [f"commit {number}" for number in range(len(states))]


@pytest.mark.parametrize(
    ("states", "base", "broken", "skipped"),
    [("PPPPFFFF", "HEAD~7", 4, 0), ("PPCPCFFFF", "HEAD~8", 5, 1), ("PFSSFFF", "HEAD~6", 1, 2)],
)
async def test_the_commit_that_broke_it_is_named(
    bench: Workbench, states: str, base: str, broken: int, skipped: int
) -> None:
    subjects = history(bench, states)

    found = await bench.investigate(node_id=VICTIM, base=base, runs=2, timeout=600)

    assert found["kind"] == "deterministic"
    assert found["broken_by"]["subject"] == subjects[broken]
    assert found["broken_by"]["files"] == ["log", "shop.py"]
    assert len(found["broken_by"]["skipped"]) == skipped


async def test_what_is_not_committed_is_no_commit(bench: Workbench) -> None:
    history(bench, "PPP")
    bench.write(BROKEN_SHOP)

    found = await bench.investigate(node_id=VICTIM, base="HEAD~2", runs=2, timeout=600)

    assert (found["kind"], found["broken_by"]) == ("deterministic", None)
    assert "broken by: what is not committed" in found["evidence"]
