"""Argument objects for both tools, right and wrong, and pytest's own parser to say what became of them."""

import random
import tempfile
from pathlib import Path
from typing import Any

from pytest_mcp.config.model import Config
from pytest_mcp.tools import TOOLS, Tool, test_history
from tests.external.endurance.figures import Figure, Tally, part
from tests.external.endurance.oracle import Oracle
from tests.support.invented.expressions import PIECES
from tests.support.workbench import Workbench

FULL = 100_000
FILES = [
    *("test_a.py", "tests/test b.py", "tests/deep/test_c.py", "tests/--co/test_d.py", "odd/-dir/@test.py"),
    *("a=b/test.py", "-x.py", "@args"),
]
FOLDERS = [".", "tests", "tests/deep", "tests/", "./tests//deep", "odd/-dir", "inward"]
SELECTORS = ["test_x", "T", "T::t", "T::t[--co]", "t[-p x]", "t[a b=c]", "t[@f]", "--", "-p", "=", "::", "日本", "t[1"]
EXPRESSIONS = ["a", "not a", "-p", "--co", "-x and --lf", "a or (b and not c)", "p[1]"]
MEANT: dict[str, list[Any]] = {
    "pattern": ["check_*.py", "-test.py", "[a-c]test?.py", "test", "spec_*", None],
    "detail": ["auto", "tests", "full", None],
    "max_tokens": [500, 4000, 1_000_000, None],
    "verbosity": [-2, -1, 0, 1, 2, None],
    "failfast": [True, False, False, None],
    "last_failed": [True, False, None],
    "maxfail": [1, 2, 100_000, None, None],
    "show_capture": [True, False, None],
    "locals": [True, False, None],
    "timing": [True, False, None],
    "color": [True, False, None],
    "timeout": [1, 240, 3600, None],
    "changed": [True, False, "HEAD", "main", "v1.0^{commit}", "@{upstream}", None],
    "coverage": ["changed", "all", None],
    "workers": [1, 2, 64, "auto", None],
    "base": ["HEAD", "main", "HEAD~3", None],
    "mutants": [0, 3, 500, None],
    "runs": [2, 5, 50, None],
    "about": ["flaky", "slow", "failing", "test"],
    "days": [1, 30, 3650, None],
}
EVIL_WORDS = [
    *("", " ", "-", "--", "--co", "-p", "-p evil", "--rootdir=/", "-c/etc/passwd", "@args", "@/etc/passwd", "=", "~"),
    *("..", "../..", "tests/../..", "/", "/etc/passwd", "C:\\x", "file:///etc", "outward", "outward/x", "loop", "::"),
    *("up/project", "up/project/tests", "up/project/test_a.py", "up/project/tests/deep::t", "inward/deep/test_c.py"),
    *("::t", "test_a.py::", "test_a.py::t\n--co", "test_a.py\x00", "a\x1b[31m", "\u202e", "\ud800", "é" * 300),
    *("x" * 5000, "test_a.py --co", "test_a.py\t-x", "$(id)", "`id`", "; id", "%s", "{0}", "\\", "tests\\deep"),
]
EVIL_VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**400, 1.0, 1.5, float("nan"), float("inf"), -0.0),
    *([], {}, [[]], [None], {"a": 1}, [["x"] * 3], "1", "true", "null", ["test_a.py"] * 3000),
]


def measure(share: float, seed: int) -> Figure:
    rng, tally, count, accepted = random.Random(seed), Tally(), part(FULL, share), 0
    with tempfile.TemporaryDirectory() as folder:
        config = project_in(Path(folder).resolve())
        oracle = Oracle(config.root)
        for _ in range(count):
            tool = rng.choice((*TOOLS, test_history()))
            asked = any_arguments(rng, tool, config.root)
            try:
                accepted += oracle.accepts(tool, asked, config, tally)
            except Exception as error:  # noqa: BLE001 - whatever escapes is what is looked for
                tally.add("unhandled", f"{error!r} for {tool.name} {asked!r:.500}")
    words = f"fuzz arguments: {count} objects ({accepted} accepted), {tally['foreign']} foreign argv"
    return Figure(f"{words}, {tally['unhandled']} unhandled", tally)


def project_in(folder: Path) -> Config:
    """A project with odd names, and links that lead inward, outward and nowhere."""
    root = folder / "project"
    root.mkdir()
    Workbench(root).write(dict.fromkeys(FILES, ""))
    for link, target in (("inward", "tests"), ("outward", "/etc"), ("loop", "loop"), ("up", "..")):
        (root / link).symlink_to(target)
    return Workbench(root).config


def any_arguments(rng: random.Random, tool: Tool, root: Path) -> dict[str, Any]:
    """Half of the objects mean well; in the others every value may be anything, and so may the names."""
    evil = rng.choice([0.0, 0.0, 0.3, 0.8])
    names = [name for name in tool.request.model_fields if rng.random() < 0.4]
    asked = {name: any_value(rng) if rng.random() < evil else meant_value(rng, name, root) for name in names}
    if evil and rng.random() < 0.1:
        asked[rng.choice([*EVIL_WORDS, "environment", "args", "Path", "node_ids "])] = any_value(rng)
    return asked


def any_value(rng: random.Random) -> Any:
    kind = rng.randrange(6)
    if kind == 0:
        return [any_value(rng) for _ in range(rng.randrange(3))]
    if kind == 1:
        return {rng.choice(EVIL_WORDS): any_value(rng) for _ in range(rng.randrange(3))}
    if kind == 2:
        return any_expression(rng)
    return rng.choice(EVIL_VALUES if kind == 3 else EVIL_WORDS)


def any_expression(rng: random.Random) -> str:
    return rng.choice(["", " "]).join(rng.choices(PIECES, k=rng.randrange(17)))


def meant_value(rng: random.Random, name: str, root: Path) -> Any:
    match name:
        case "path":
            return any_place(rng, root)
        case "node_id":
            return any_node_id(rng, root)
        case "node_ids":
            return [any_node_id(rng, root) for _ in range(rng.randint(1, 5))]
        case "markers" | "keywords":
            return rng.choice([rng.choice(EXPRESSIONS), any_expression(rng)])
    return rng.choice(MEANT[name])


def any_place(rng: random.Random, root: Path) -> str:
    """One of the project's files or folders, in one of the ways to write it."""
    place = rng.choice(FILES + FOLDERS)
    return rng.choice([place, f"./{place}", f".//{place}", f"{root}/{place}", f"inward/../{place}", place.lstrip("-@")])


def any_node_id(rng: random.Random, root: Path) -> str:
    place = any_place(rng, root)
    word = rng.choice([*SELECTORS, rng.choice(EVIL_WORDS)])
    return rng.choice([place, f"{place}::{word}", f"./{rng.choice(FILES)}::{word}"])
