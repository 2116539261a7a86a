"""How long a selection takes in projects of a size: the first, and the next after an edit, in CPU seconds."""

import time
from collections.abc import Iterator
from pathlib import Path

from pytest_mcp.changed import reach
from pytest_mcp.changed.working_tree import Changes

# In each package.
MODULES = 20
BODY = "\n".join(f"def work_{number}(given):\n    return helper_{number}(given) + given.total" for number in range(20))


def write(root: Path, count: int) -> None:
    """Modules that import the one before, and one test file for ten of them."""
    for number in range(count):
        package = root / f"pack_{number // MODULES}"
        if number % MODULES == 0:
            package.mkdir()
            (package / "__init__.py").touch()
        before = f"from pack_{(number - 1) // MODULES} import mod_{number - 1}\n" if number % MODULES else ""
        (package / f"mod_{number}.py").write_text(f"{before}LIMIT = {number}\n{BODY}\n", encoding="utf-8")
        if number % 10 == 0:
            test = f"from {package.name}.mod_{number} import work_1\ndef test_it():\n    work_1(1)\n"
            (root / f"test_{number}.py").write_text(test, encoding="utf-8")


def seconds(root: Path, count: int) -> Iterator[float]:
    write(root, count)
    path = "pack_0/mod_1.py"
    for number in range(2):
        before = (root / path).read_bytes()
        (root / path).write_bytes(before.replace(b"given.total", b"given.sum", number + 1))
        started = time.process_time()
        reach.reach_of(Changes("HEAD", "", frozenset({path}), frozenset()), {path: before}, root)
        yield time.process_time() - started
