"""What a call with `changed` costs: git is started a few times, and each Python file is read once."""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.captured import captured
from tests.support.git import commit_all, git
from tests.support.waiting import PATIENCE
from tests.support.workbench import Workbench

FILES = {
    "setup.py": "",
    "README.md": "",
    "low.py": "VALUE = 1\n",
    "high.py": "from low import VALUE\n",
    "test_high.py": "from high import VALUE\ndef test_high(): assert VALUE\n",
    "test_alone.py": "def test_alone(): pass\n",
}
# The command as it is, with a log of the Python files that it opens itself.
COMMAND = """
import os, sys
root, log, *sys.argv[1:] = sys.argv[1:]
log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
def hook(event, details):
    if event == "open" and isinstance(details[0], (str, bytes)):
        path = os.fsdecode(details[0])
        if path.startswith(root + "/") and path.endswith(".py"):
            os.write(log, (os.path.relpath(path, root) + "\\n").encode())
sys.addaudithook(hook)
from pytest_mcp.cli.main import main
main()
"""


@dataclass(frozen=True)
class Cost:
    answer: dict[str, Any]
    # The arguments of each git, without those that come before the command.
    gits: list[str]
    reads: Counter[str]


def cost(bench: Workbench, *flags: str, **arguments: object) -> Cost:
    folder = bench.root.parent
    log, opened = folder / "gits", folder / "opened"
    log.write_text("", encoding="utf-8")
    counting = folder / "bin" / "git"
    counting.parent.mkdir(exist_ok=True)
    counting.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec /usr/bin/git "$@"\n', encoding="utf-8")
    counting.chmod(0o755)
    command = ["call", "execute_tests", f"--root={bench.root}", f"--python={bench.python}", *flags]
    ended = captured(
        [sys.executable, "-c", COMMAND, bench.root, opened, *command, json.dumps(arguments)],
        cwd=bench.root,
        env={**bench.config.environment, "PATH": f"{counting.parent}:/usr/bin:/bin", "TMPDIR": str(folder)},
        timeout=PATIENCE,
    )
    assert ended.stdout, ended.stderr
    gits, reads = (path.read_text(encoding="utf-8").splitlines() for path in (log, opened))
    return Cost(json.loads(ended.stdout), gits, Counter(reads))


@pytest.fixture
def repository(bench: Workbench) -> Workbench:
    """On a branch, with a change that is not committed, an untracked file and a changed document."""
    bench = bench.using("coverage-7")
    bench.write(FILES)
    commit_all(bench.root)
    git("switch", "--quiet", "-c", "topic", cwd=bench.root)
    bench.write({"high.py": "from low import VALUE\nOTHER = 1\n"})
    commit_all(bench.root)
    bench.write({"low.py": "VALUE = 2\n", "new.py": "x = 1\n", "README.md": "changed\n"})
    return bench


@pytest.mark.parametrize("changed", [True, "HEAD", "main~0"])
@pytest.mark.parametrize("coverage", [None, "changed"])
def test_a_call_starts_at_most_five_gits_and_reads_each_python_file_at_most_once(
    repository: Workbench, changed: object, coverage: str | None
) -> None:
    found = cost(repository, changed=changed, coverage=coverage)

    assert found.answer["summary"]["total"] == 1
    assert 3 <= len(found.gits) <= 5
    assert found.reads == {name: 1 for name in (*FILES, "new.py") if name.endswith(".py")}
    # What an agent has written is in no command.
    assert not any("main~0" in line for line in found.gits)


def test_recording_the_run_needs_no_further_git(repository: Workbench) -> None:
    history = str(repository.root.parent / "runs.db")

    found = cost(repository, "--history", history, changed=True, coverage="changed")

    assert found.answer["summary"]["total"] == 1
    assert len(found.gits) == 5


def test_without_a_change_to_look_for_recording_starts_two(repository: Workbench) -> None:
    history = str(repository.root.parent / "runs.db")

    assert len(cost(repository, "--history", history).gits) == 2
    assert cost(repository).gits == []


def test_nothing_is_left_of_a_look(repository: Workbench) -> None:
    cost(repository, changed=True)
    before = {*repository.root.parent.iterdir()}

    cost(repository, changed=True)

    assert {*repository.root.parent.iterdir()} == before
