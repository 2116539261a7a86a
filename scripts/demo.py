"""`make demo`: find and fix one bug through the real server, as an agent would.

The example project is copied into a temporary folder, so the original does not change. Exits with 0 only
if the verdict of the last run is "passed".
"""

import asyncio
import difflib
import json
import shutil
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

# Python puts only the folder of a script on its path; `scripts` is a package of the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from scripts.environments import ENVIRONMENTS, make

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "shop"
FAULTY_FILE = "shop/cart.py"
BUG, FIX = "VAT = 0.2\n", 'VAT = Decimal("0.2")\n'

# Longer JSON is broken into several lines.
WIDE = 150

Answer = dict[str, Any]


def main() -> int:
    say("Setting up: a copy of examples/shop in a temporary folder, and an environment with pytest")
    prepare_environment()
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-demo-") as folder:
        project = copy_example(Path(folder))
        verdict = asyncio.run(walk_through(project))
    say(f"Done. The last verdict is {verdict!r}.")
    return 0 if verdict == "passed" else 1


def prepare_environment() -> None:
    environment = ENVIRONMENTS["demo"]
    if environment.is_complete:
        print(f".envs/{environment.name} exists already")
        return
    print(f"creating .envs/{environment.name} with {', '.join(environment.packages)} (only the first time)", flush=True)
    make(environment)


def copy_example(folder: Path) -> Path:
    project = folder / EXAMPLE.name
    shutil.copytree(EXAMPLE, project, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    # The server looks for a .venv in the project, as it would in a real one.
    (project / ".venv").symlink_to(ENVIRONMENTS["demo"].python.parent.parent, target_is_directory=True)
    return project


async def walk_through(project: Path) -> str:
    """Every answer that is printed comes from the server."""
    say("Starting the server in that folder, on stdio: python -m pytest_mcp")
    server = StdioServerParameters(command=sys.executable, args=["-m", "pytest_mcp"], cwd=project)
    async with Client(server) as client:
        say("1. Which tests are there?")
        show_tests(await call(client, "discover_tests", {}))
        say("2. Run all of them")
        failing = await call(client, "execute_tests", {})
        show_failures(failing)
        say("3. The cause is one line. Fix it")
        print("\n".join(f"      {line}" for line in fix(project / FAULTY_FILE)))
        say("4. Run only the failed tests, with the arguments in the answer's rerun")
        show(await call(client, "execute_tests", failing["rerun"] or {}), "verdict", "summary", "tests")
        say("5. Run all of them again")
        last = await call(client, "execute_tests", {})
        show(last, "verdict", "exit_code", "summary", "omitted")
    return str(last["verdict"])


async def call(client: Client, tool: str, arguments: Answer) -> Answer:
    print(f"--> {tool} {json.dumps(arguments)}", flush=True)
    result = await client.call_tool(tool, arguments)
    assert isinstance(result.structured_content, dict)
    return result.structured_content


def show_tests(answer: Answer) -> None:
    show(answer, "count", "notices", "collection_errors")
    for test in answer["tests"]:
        print(f"      {test['node_id']}  (line {test['line']})")


def show_failures(answer: Answer) -> None:
    show(answer, "verdict", "exit_code", "summary", "failure_groups", "rerun", "omitted")
    example = answer["tests"][answer["failure_groups"][0]["example"]]
    print(f"<-- the traceback of {example['node_id']}, from tests")
    print("\n".join(f"      {line}".rstrip() for line in example["traceback"].splitlines()))


def fix(file: Path) -> list[str]:
    """Returns the difference."""
    before = file.read_text(encoding="utf-8")
    after = before.replace(BUG, FIX)
    file.write_text(after, encoding="utf-8")
    names = (f"a/{FAULTY_FILE}", f"b/{FAULTY_FILE}")
    return list(difflib.unified_diff(before.splitlines(), after.splitlines(), *names, n=1, lineterm=""))


def show(answer: Answer, *keys: str) -> None:
    """Print these keys unchanged, one on a line, and the names of the others."""
    print(f"<-- {', '.join(keys)}; not shown here: {', '.join(key for key in answer if key not in keys)}")
    for key in keys:
        print(textwrap.indent(f"{key}: {pretty(answer[key])}", " " * 6))


def pretty(value: Any) -> str:
    """JSON that is broken into lines only if a line would be too long."""
    compact = json.dumps(value)
    if len(compact) <= WIDE or not isinstance(value, (dict, list)):
        return compact
    parts = [pretty(e) for e in value] if isinstance(value, list) else [f'"{k}": {pretty(v)}' for k, v in value.items()]
    return compact[0] + "\n" + textwrap.indent(",\n".join(parts), "  ") + "\n" + compact[-1]


def say(words: str) -> None:
    print(f"\n== {words}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
