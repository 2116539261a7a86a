"""`python -m bench.prove.weakenings --repos FOLDER`: scripted weakenings of tests, and alarms about real commits."""

import argparse
import ast
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Literal

from bench.prove.sly import SLY
from bench.prove.usual import USUAL, Edit, Function, Place
from pytest_mcp.proof.comparison import compare_tests
from pytest_mcp.proof.suite import is_collected_file, is_test_file
from pytest_mcp.proof.weakening import Weakening

SEED = 35
MOST_TEST_FILES, MOST_TESTS, MOST_CHARACTERS = 20, 120, 15_000
# Tests of one library that one kind of weakening is tried on.
TRIALS = 1
SETTINGS = {"pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", ".coveragerc"}
TUNED = ("arrow", "attrs", "boltons", "click", "jinja", "loguru", "marshmallow", "pyjwt", "sqlparse", "structlog")
Told = Literal["strongly", "weakly", "missed"]
# Of a commit: a larger one is a move of the whole repository.
MOST_FILES = 80


def git(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", repository, *arguments], capture_output=True, check=False, timeout=120)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def places(repository: Path) -> list[tuple[str, str, str]]:
    """File, source and qualified name of tests that have a check, shuffled."""
    names = [
        each for each in git(repository, "ls-tree", "-r", "--name-only", "HEAD").splitlines() if is_collected_file(each)
    ]
    chooser = random.Random(SEED)
    chooser.shuffle(names)
    found = []
    for name in names[:MOST_TEST_FILES]:
        source = formatted(git(repository, "show", f"HEAD:{name}"))
        if len(source) > MOST_CHARACTERS:
            continue
        found += [(name, source, ".".join(path)) for path in tests_in(source)]
    chooser.shuffle(found)
    return found[:MOST_TESTS]


def formatted(source: str) -> str:
    """As the trees are written that were changed."""
    try:
        return ast.unparse(ast.parse(source))
    except SyntaxError:
        return ""


def tests_in(source: str) -> Iterator[list[str]]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in tree.body:
        if isinstance(node, Function) and node.name.startswith("test"):
            yield [node.name]
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            tests = [each.name for each in node.body if isinstance(each, Function) and each.name.startswith("test")]
            yield from ([node.name, name] for name in tests)


@cache
def alone_in(source: str, name: str) -> str:
    first, *rest = name.split(".")
    (node,) = [each for each in ast.parse(source).body if getattr(each, "name", "") == first][-1:]
    if isinstance(node, ast.ClassDef):
        node.body = [each for each in node.body if getattr(each, "name", "") in rest]
    return ast.unparse(node)


def place_of(source: str, name: str) -> Place | None:
    tree = ast.parse(source)
    first, *rest = name.split(".")
    owner: ast.Module | ast.ClassDef = tree
    if rest:
        owner = next(each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == first)
    same = [each for each in owner.body if isinstance(each, Function) and each.name == name.rpartition(".")[2]]
    return Place(tree, owner, same[-1], {}) if len(same) == 1 else None


def tried(kinds: dict[str, Edit], found: Sequence[tuple[str, str, str]], most: int) -> Iterator[tuple[str, Told]]:
    """How each kind was told, on the first tests that it can be tried on."""
    for kind, edit in kinds.items():
        count = 0
        for file, source, name in found:
            if count == most:
                break
            # The test alone is read much faster than its file.
            if (alone := place_of(alone_in(source, name), name)) is None or not edit(alone):
                continue
            place = place_of(source, name)
            if place is not None and edit(place):
                count += 1
                yield kind, told(file, source, place)


def told(file: str, source: str, place: Place) -> Told:
    now: dict[str, str | None] = {file: None if place.is_gone else ast.unparse(ast.fix_missing_locations(place.tree))}
    weakened = compare_tests({file: source} | dict.fromkeys(place.files), now | place.files).weakened
    return "strongly" if any(each.is_strong for each in weakened) else "weakly" if weakened else "missed"


def changed(repository: Path, commit: str) -> tuple[dict[str, str | None], dict[str, str | None]] | None:
    names = git(repository, "diff-tree", "-r", "--no-commit-id", "--name-only", "--no-renames", commit).splitlines()
    names = [each for each in names if each.endswith(".py") or Path(each).name in SETTINGS]
    if not any(is_test_file(each) for each in names) or len(names) > MOST_FILES:
        return None
    return sources(repository, f"{commit}^", names), sources(repository, commit, names)


def sources(repository: Path, ref: str, names: Sequence[str]) -> dict[str, str | None]:
    return {name: git(repository, "show", f"{ref}:{name}") or None for name in names}


def alarms(repository: Path, count: int, skip: int) -> Iterator[tuple[str, list[Weakening]]]:
    """About commits, no merges, that change tests: the newest but those that are skipped."""
    commits = git(repository, "log", "--no-merges", "--format=%h", f"-n{skip + count * 8}", "--", "*test*.py").split()
    both = ((commit, changed(repository, commit)) for commit in commits[skip:])
    for commit, sides in islice((each for each in both if each[1]), count):
        assert sides is not None
        yield commit, list(compare_tests(*sides).weakened)


def scripted(libraries: Sequence[tuple[str, Path]], trials: int) -> None:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for _, repository in libraries:
        tests = places(repository)
        for group, kinds in (("usual", USUAL), ("sly", SLY)):
            for kind, how in tried(kinds, tests, trials):
                counts.setdefault((group, kind), Counter())[how] += 1
    for (group, kind), row in counts.items():
        print(f"| {group} | {kind} | {row['strongly']} | {row['weakly']} | {row['missed']} |")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.prove.weakenings", description="Weakened tests told.")
    parser.add_argument("--repos", type=Path, required=True, metavar="DIR", help="clones: NAME, or OWNER+NAME/repo")
    parser.add_argument(
        "--libraries", nargs="+", default=TUNED, metavar="NAME", help="those tuned on, if none is given"
    )
    parser.add_argument("--commits", type=int, default=0, help="of each library, for false alarms")
    parser.add_argument("--skip", type=int, default=0, help="so many commits that are newer")
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each kind on each library")
    options = parser.parse_args()
    found = [(name, next(options.repos.glob(f"*+{name}/repo"), options.repos / name)) for name in options.libraries]
    if not options.commits:
        scripted(found, options.trials)
    for name, repository in found if options.commits else ():
        for commit, weakened in alarms(repository, options.commits, options.skip):
            print(
                json.dumps({"commit": f"{name} {commit}", "weakened": [asdict(each) for each in weakened]}), flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
