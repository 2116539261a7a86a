"""`python -m bench.prove.weakenings --repos FOLDER`: scripted weakenings of tests, and alarms about real commits."""

import argparse
import ast
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from bench.prove.sly import SLY
from bench.prove.usual import USUAL, Edit, Function, Place
from pytest_mcp.proof.suite import is_collected_file, is_test_file
from pytest_mcp.proof.weakening import Sources, compare_tests

SEED = 35
MOST_TEST_FILES, MOST_TESTS, MOST_CHARACTERS = 20, 120, 15_000
# Tests of one library that one kind of weakening is tried on.
TRIALS = 3
SETTINGS = {"pyproject.toml", "setup.cfg", "tox.ini", "pytest.ini", ".coveragerc"}
TUNED = ("arrow", "attrs", "boltons", "click", "jinja", "loguru", "marshmallow", "pyjwt", "sqlparse", "structlog")
HELD_OUT = (
    *("more-itertools", "pvlib-python", "pylint", "rich", "seaborn", "sqlglot", "sqlite-utils", "tenacity"),
    *("werkzeug", "xarray"),
)
# Of a commit: a larger one is a move of the whole repository.
MOST_FILES = 80


@dataclass(frozen=True)
class Trial:
    library: str
    group: str
    kind: str
    test: str
    # strongly, weakly, missed
    told: str
    what: str


@dataclass(frozen=True)
class Alarm:
    library: str
    commit: str
    file: str
    line: int
    what: str
    before: str
    after: str
    is_strong: bool


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


def tried(
    library: str, group: str, kinds: dict[str, Edit], found: Sequence[tuple[str, str, str]], most: int
) -> Iterator[Trial]:
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
                yield trial(library, group, kind, f"{file}::{name}", source, place)


def trial(library: str, group: str, kind: str, test: str, source: str, place: Place) -> Trial:
    file = test.partition("::")[0]
    now: dict[str, str | None] = {file: None if place.is_gone else ast.unparse(ast.fix_missing_locations(place.tree))}
    edits = compare_tests({file: source} | dict.fromkeys(place.files), now | place.files)
    strong = [each for each in edits.weakened if each.is_strong]
    first = (strong or list(edits.weakened) or [None])[0]
    told = "strongly" if strong else "weakly" if first else "missed"
    return Trial(library, group, kind, test, told, first.what if first else "")


def changed(repository: Path, commit: str) -> tuple[Sources, Sources] | None:
    names = git(repository, "diff-tree", "-r", "--no-commit-id", "--name-only", "--no-renames", commit).splitlines()
    names = [each for each in names if each.endswith(".py") or Path(each).name in SETTINGS]
    if not any(is_test_file(each) for each in names) or len(names) > MOST_FILES:
        return None
    sides = [
        {name: git(repository, "show", f"{ref}:{name}") or None for name in names} for ref in (f"{commit}^", commit)
    ]
    return sides[0], sides[1]


def alarms(library: str, repository: Path, count: int) -> tuple[int, list[Alarm]]:
    """About the newest commits, no merges, that change tests."""
    commits = git(repository, "log", "--no-merges", "--format=%H", f"-n{count * 8}", "--", "*test*.py").split()
    found, done = [], 0
    for commit in commits:
        sides = changed(repository, commit) if done < count else None
        if sides is not None:
            done += 1
            for each in compare_tests(*sides).weakened:
                found.append(
                    Alarm(library, commit[:9], each.file, each.line, each.what, each.before, each.after, each.is_strong)
                )
    return done, found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.prove.weakenings", description="Weakened tests told.")
    parser.add_argument("--repos", type=Path, required=True, metavar="DIR", help="clones: NAME, or OWNER+NAME/repo")
    parser.add_argument("--held-out", action="store_true", help="those that nobody tuned on")
    parser.add_argument("--commits", type=int, default=0, help="of each library, for false alarms")
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each kind on each library")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    names = HELD_OUT if options.held_out else TUNED
    trials: list[Trial] = []
    told: list[Alarm] = []
    commits = 0
    for name in names:
        print(name, file=sys.stderr, flush=True)
        repository = next(each for pattern in (name, f"*+{name}/repo") for each in options.repos.glob(pattern))
        if options.commits:
            done, found = alarms(name, repository, options.commits)
            commits += done
            told += found
        else:
            tests = places(repository)
            for group, kinds in (("usual", USUAL), ("sly", SLY)):
                trials += tried(name, group, kinds, tests, options.trials)
        if options.out:
            data = {"trials": [asdict(each) for each in trials], "alarms": [asdict(each) for each in told]}
            options.out.write_text(json.dumps(data | {"commits": commits}, indent=1))
    for group in ("usual", "sly"):
        of = [each for each in trials if each.group == group]
        kinds = dict.fromkeys(each.kind for each in of)
        for kind in kinds:
            row = [each.told for each in of if each.kind == kind]
            if row.count("strongly") < len(row):
                misses = {
                    f"{each.what}: {each.library} {each.test}"
                    for each in of
                    if each.kind == kind and each.told != "strongly"
                }
                print(
                    f"{kind:50} {row.count('strongly'):3} {row.count('weakly'):3} {row.count('missed'):3}   {sorted(misses)[:2]}"
                )
        row = [each.told for each in of]
        print(group, len(kinds), {each: row.count(each) for each in ("strongly", "weakly", "missed")})
    print(commits, "commits", sum(each.is_strong for each in told), "strong", len(told), "alarms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
