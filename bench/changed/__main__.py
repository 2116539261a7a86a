"""What `changed` selects of real commits: `python -m bench.changed FOLDER`, with clones of the repositories in FOLDER.

Of each commit it is known which test files execute a function that it changed (`commits.json`). Every rule is in force,
also those for files that are no modules. It ends with an error if an affected file was not selected.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from bench.changed import speed
from pytest_mcp.changed import reach
from pytest_mcp.changed.project_files import SETTINGS, is_test
from pytest_mcp.changed.working_tree import Changes

FOLDER = Path(__file__).parent
RESULTS = FOLDER.with_name("CHANGED.md")
HEAD = """# What `changed` selects of real commits

Measured by `make changed REPOS=FOLDER`, all rules in force. *Affected* are test files that execute a changed function;
*missed* are those of them that were not selected. Tuned on these commits. Mean and worst CPU seconds are those of one
selection in one process, so most files were parsed before.

| library | commits | missed | not affected | skipped | of Python files alone | everything | mean s | worst s |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
OTHERS = """
## Not tuned on

The newest commits that change Python files of the package. What is affected is not known here.

| library | commits | skipped | everything | mean s | worst s |
| --- | ---: | ---: | ---: | ---: | ---: |
"""
TIME = """
## Time

A project of modules that import one another, one process, CPU seconds of one core.

| modules | first selection | the next, after an edit |
| ---: | ---: | ---: |
"""
WORST = "\n## Worst rows\n\n"
# By the folder of their package.
UNTUNED = {"pylint": "pylint/", "xarray": "xarray/"}
COMMITS = 10
SIZES = (500, 20_000)


@dataclass(frozen=True)
class Row:
    commit: str
    tests: int
    affected: int
    missed: tuple[str, ...]
    skipped: int
    reason: str | None
    seconds: float
    is_python: bool


class Clone:
    def __init__(self, top: Path) -> None:
        self.top = top
        argv = ["git", "-C", str(top), "cat-file", "--batch"]
        self._batch = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self) -> None:
        self._batch.communicate()

    def files(self, commit: str) -> dict[str, str]:
        records = self.git("ls-tree", "-r", "-z", commit).split(b"\0")[:-1]
        pairs = (record.partition(b"\t") for record in records)
        return {path.decode(): described.split()[2].decode() for described, _, path in pairs}

    def content(self, name: str) -> bytes:
        """Of a blob. One git answers for all of them."""
        asked, answers = self._batch.stdin, self._batch.stdout
        assert asked is not None, "a pipe"
        assert answers is not None, "a pipe"
        asked.write(f"{name}\n".encode())
        asked.flush()
        size = int(answers.readline().split()[2])
        return answers.read(size + 1)[:-1]

    def git(self, *arguments: str) -> bytes:
        return subprocess.run(["git", "-C", self.top, *arguments], capture_output=True, check=True).stdout


def measured(clone: Clone, commit: str, known: dict[str, Any], root: Path, there: dict[str, str]) -> Row:
    before, now = clone.files(known["parent"]), clone.files(commit)
    update(clone, root, there, {path: name for path, name in now.items() if is_read(path)})
    changed = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
    contents = {path: clone.content(before[path]) if path in before else None for path in changed if is_read(path)}
    started = time.process_time()
    found = reach.reach_of(Changes("the parent", "", frozenset(changed), frozenset()), contents, root)
    seconds = time.process_time() - started
    tests = {path for path in now if path.endswith(".py") and is_test(path)}
    missed = tests.intersection(known["affected"], found.unreached)
    skipped = len(tests.intersection(found.unreached))
    affected = len(tests.intersection(known["affected"]))
    is_python = all(path.endswith(".py") for path in changed)
    return Row(commit, len(tests), affected, tuple(sorted(missed)), skipped, found.reason, seconds, is_python)


def is_read(path: str) -> bool:
    return path.endswith(".py") or PurePosixPath(path).name in SETTINGS


def update(clone: Clone, root: Path, there: dict[str, str], wanted: dict[str, str]) -> None:
    for path in there.keys() - wanted.keys():
        (root / path).unlink()
    for path, name in wanted.items():
        if there.get(path) != name:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(clone.content(name))
    there.clear()
    there.update(wanted)


def rows(clone: Clone, commits: dict[str, Any]) -> Iterator[Row]:
    there: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-changed-") as folder:
        for commit, known in commits.items():
            try:
                yield measured(clone, commit, known, Path(folder), there)
            except subprocess.CalledProcessError as error:
                print(f"{commit} is not there: {error}", file=sys.stderr)


def line(library: str, found: Sequence[Row], *, is_known: bool = True) -> str:
    seconds = [row.seconds for row in found]
    cells = [str(len(found))]
    if is_known:
        cells += [str(sum(bool(row.missed) for row in found)), share(1 - row.affected / row.tests for row in found)]
    cells.append(share(row.skipped / row.tests for row in found))
    if is_known:
        cells.append(share(row.skipped / row.tests for row in found if row.is_python))
    cells.append(str(sum(row.reason is not None for row in found)))
    return f"| {' | '.join([library, *cells])} | {sum(seconds) / len(seconds):.2f} | {max(seconds):.2f} |\n"


def share(parts: Iterable[float]) -> str:
    listed = [*parts]
    return f"{sum(listed) / len(listed):.1%}" if listed else "none"


def untuned(clone: Clone, package: str) -> dict[str, Any]:
    """The newest commits that change Python files of the package, as those that are known."""
    log = clone.git("log", "--no-merges", f"--max-count={COMMITS}", "--format=%H %P", "--", f":(glob){package}**/*.py")
    pairs = [each.split()[:2] for each in log.decode().splitlines()]
    return {commit[:8]: {"parent": parent, "affected": []} for commit, parent in pairs}


def times() -> Iterator[str]:
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="pytest-mcp-changed-") as folder:
            first, following = speed.seconds(Path(folder), size)
        yield f"| {size:,} | {first:.2f} | {following:.2f} |\n"


def worst(library: str, found: Sequence[Row]) -> Iterator[str]:
    """Of the commits that skip nothing, each reason once."""
    reasons = {row.reason: row.commit for row in found if row.reason is not None}
    yield from (f"- {library} {commit}: everything, because {reason}\n" for reason, commit in reasons.items())
    nothing = [row for row in found if row.reason is None and not row.skipped]
    yield f"- {library}: nothing skipped in {len(nothing)} more commits, {' '.join(row.commit for row in nothing)}\n"


def measured_all(clone: Clone, commits: dict[str, Any]) -> list[Row]:
    try:
        return [row for row in rows(clone, commits) if row.tests]
    finally:
        clone.close()


class Page:
    """What is known so far is written after each step: a run may be ended before it is done."""

    def __init__(self) -> None:
        self.known: list[str] = []
        self.others: list[str] = []
        self.times: list[str] = []
        self.worst: list[str] = []

    def add(self, rows: list[str], row: str, worst: Iterable[str] = ()) -> None:
        rows.append(row)
        self.worst += worst
        print(row, end="", flush=True)
        parts = [HEAD, *self.known, OTHERS, *self.others, TIME, *self.times, WORST, *self.worst]
        RESULTS.write_text("".join(parts), encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="it has a clone of each repository, by its own name")
    folder: Path = parser.parse_args().folder
    known = json.loads((FOLDER / "commits.json").read_text("utf-8"))
    page, everything = Page(), list[Row]()
    for library, repository in known["repositories"].items():
        found = measured_all(Clone(folder / repository.partition("/")[2]), known["commits"][library])
        page.add(page.known, line(library, found), worst(library, found))
        everything += found
    page.add(page.known, line("all", everything))
    for row in times():
        page.add(page.times, row)
    for library, package in UNTUNED.items():
        clone = Clone(folder / library)
        found = measured_all(clone, untuned(clone, package))
        page.add(page.others, line(library, found, is_known=False), worst(library, found))
    return int(any(row.missed for row in everything))


if __name__ == "__main__":
    sys.exit(main())
