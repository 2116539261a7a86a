"""A library's own suite in plain pytest, and what of the library a test could leave changed.

Plain pytest says which tests a leak breaks: what is measured must not be what it is measured by.
"""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from bench import shell
from bench.polluters.plant import ENVIRONMENT, PROCESS, Kind, Leak, attribute, container
from bench.tokens.real.checkouts import Checkout

# For one run of a suite, in seconds. A leak that makes it hang is not used.
LONGEST = 120
# Ids that pytest's summary shows unambiguously.
_LINE = re.compile(r"^(PASSED|FAILED|ERROR) ([\w./-]+::[\w.:\[\]/-]+)(?: - .*)?$", re.MULTILINE)
# Prints the functions and the containers of all modules of a package.
INSPECT = """
import importlib, json, pkgutil, sys
package = importlib.import_module(sys.argv[1])
functions, containers = [], []
inner = [found.name for found in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
for module_name in [package.__name__, *inner]:
    if "test" in module_name or module_name.endswith("__main__"):
        continue
    try:
        module = importlib.import_module(module_name)
    except ImportError:
        continue
    for name, value in sorted(vars(module).items()):
        if name.startswith("__"):
            continue
        if type(value) in (dict, list, set) and value:
            containers.append([module_name, name])
        if getattr(value, "__module__", None) != module_name:
            continue
        if type(value).__name__ == "function":
            functions.append([module_name, "", name])
        elif isinstance(value, type):
            methods = (each for each, code in sorted(vars(value).items()) if type(code).__name__ == "function")
            functions += [[module_name, name, each] for each in methods if not each.startswith("__")]
print(json.dumps([functions, containers]))
"""


@dataclass(frozen=True)
class Outcomes:
    passed: tuple[str, ...]
    failed: frozenset[str]


def run(checkout: Checkout, ids: Sequence[str] = ()) -> Outcomes | None:
    """None if it takes too long."""
    command = [str(checkout.python), "-m", "pytest", "-q", "-rA", "--tb=no", "--color=no", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *(ids or [checkout.library.tests])],
            cwd=checkout.project,
            env=shell.ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return None
    found = _LINE.findall(done.stdout)
    failed = frozenset(node_id for word, node_id in found if word != "PASSED")
    return Outcomes(tuple(node_id for word, node_id in found if word == "PASSED" and node_id not in failed), failed)


def leaks(checkout: Checkout, kind: Kind) -> list[Leak]:
    if kind in ("environment", "process"):
        return ENVIRONMENT if kind == "environment" else PROCESS
    package = checkout.library.source.rpartition("/")[2]
    done = subprocess.run(
        [checkout.python, "-c", INSPECT, package],
        cwd=checkout.project,
        env=shell.ENVIRONMENT,
        capture_output=True,
        check=True,
        timeout=LONGEST,
    )
    functions, containers = json.loads(done.stdout)
    return (
        [attribute(*each) for each in functions] if kind == "attribute" else [container(*each) for each in containers]
    )
