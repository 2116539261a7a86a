"""`run --shard` and `merge` as scripts use them: what is printed, where, and the exit codes."""

import json

from tests.support.commands.terminals import example, piped
from tests.support.workbench import Workbench

FILES = {
    "test_a.py": "def test_a(): assert 1 == 2\n",
    "test_b.py": "def test_b(): pass\ndef test_c(): pass\n",
}


def test_xargs_runs_the_shards_at_once_and_merge_makes_one_report(bench: Workbench) -> None:
    """The third shard is empty, which is no failure."""
    bench.write(FILES)

    done = example(bench, "xargs.sh", "3")

    assert (done.returncode, done.stderr) == (1, "")
    assert "FAILED test_a.py::test_a" in done.stdout
    assert "To run the failures again: pytest-mcp run test_a.py::test_a\n" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("failed: 1 failed, 2 passed, 6 deselected in ")


def test_an_error_says_which_shard_it_was_and_merge_says_it_did_not_finish(bench: Workbench) -> None:
    bench.write(FILES | {"test_a.py": "import os\ndef test_a(): os._exit(0)\n"})

    crashed = piped(bench, "run", "--shard=2/2", "--json")
    (bench.root / "2.json").write_text(crashed.stdout, encoding="utf-8")
    merged = piped(bench, "merge", "--json", str(bench.root / "2.json"))

    assert crashed.returncode == 3
    assert json.loads(crashed.stdout)["shard"]["index"] == 2
    answer = json.loads(merged.stdout)
    assert (merged.returncode, answer["verdict"]) == (1, "incomplete")
    assert answer["notices"][0] == "1 of 2 shards are missing: 1."
    assert " did not finish: " in answer["notices"][1]


def test_a_coverage_threshold_is_a_notice_in_a_shard(bench: Workbench) -> None:
    cov = bench.using("coverage-7")
    cov.write(
        {"pytest.ini": "[pytest]\naddopts = --cov=mod --cov-fail-under=90\n", "mod.py": "def f():\n    return 1\n"}
    )
    cov.write({f"test_{n}.py": "import mod\ndef test_it(): pass\n" for n in range(2)})

    shard = piped(cov, "run", "--shard=1/2", "--json")
    whole = piped(cov, "run", "--json")

    assert (shard.returncode, json.loads(shard.stdout)["verdict"]) == (0, "passed")
    assert any("Required test coverage of 90" in notice for notice in json.loads(shard.stdout)["notices"])
    assert (whole.returncode, json.loads(whole.stdout)["verdict"]) == (1, "failed")
