"""`make evaluation`: each bug mended with pytest in a shell and with this server, in a table.

MODEL=NAME lets Claude Code work with that model: it needs the program `claude` and a key. Without it a script stands
for the model, which proves the harness and nothing else; the table says so. WRITE=1 keeps what came out for documents.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.evaluation.bugs import BUGS, Bug
from bench.evaluation.workers import ClaudeCode, Script, Work, Worker, write
from bench.tokens.tokenizer import count
from scripts.environments import ENVIRONMENTS
from tests.support.waiting import processes_in

KEPT = Path(__file__).with_name("results.json")
SCRIPTED = "a script, not a model: this proves that both ways work from end to end, and nothing else"
HIDDEN = "test_hidden_from_the_worker.py"
Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.evaluation", description=__doc__)
    parser.add_argument("--model", help="the model of Claude Code; default: a script")
    parser.add_argument("--write", action="store_true", help=f"keep the results in {KEPT.name}")
    parser.add_argument("bugs", nargs="*", metavar="BUG", help=f"{', '.join(BUGS)}; default: all")
    options = parser.parse_args()
    worker: Worker = ClaudeCode(options.model) if options.model else Script()
    rows = [row for name in options.bugs or BUGS for row in both(name, worker)]
    who = f"Claude Code with {options.model}" if options.model else SCRIPTED
    print(table(who, rows))
    if options.write:
        KEPT.write_text(json.dumps({"who": who, "rows": rows}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if all(row["mended"] for row in rows) else 1


def both(name: str, worker: Worker) -> list[Row]:
    bug, python = BUGS[name], ENVIRONMENTS["demo"].python
    return [evaluated(name, way, bug, worker, python) for way in ("shell", "server")]


def evaluated(name: str, way: str, bug: Bug, worker: Worker, python: Path) -> Row:
    with tempfile.TemporaryDirectory(prefix="evaluation-") as folder:
        project = Path(folder).resolve()
        write(project, bug.files)
        if way == "shell":
            work = worker.by_shell(bug, project, python)
        else:
            work = asyncio.run(worker.by_server(bug, project, python))
        left = processes_in(project)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return row(name, way, work, left=len(left), mended=is_mended(bug, project, python))


def is_mended(bug: Bug, project: Path, python: Path) -> bool:
    write(project, {HIDDEN: bug.hidden})
    # What was mended within a second, to the same size, looks to Python like what is cached.
    uncached = ["-B", "-X", f"pycache_prefix={project / 'no-cache'}"]
    command = [str(python), *uncached, "-m", "pytest", "-q", HIDDEN]
    done = subprocess.run(command, cwd=project, stdout=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def row(name: str, way: str, work: Work, *, left: int, mended: bool) -> Row:
    return {
        "bug": name,
        "way": way,
        "mended": mended,
        "runs": len(work.read),
        "tokens": sum(count(work.read)),
        "minutes": round(work.seconds / 60, 2),
        "left": left,
        "first": work.read[0] if work.read else "",
    }


def table(who: str, rows: list[Row]) -> str:
    head = "| bug | way | mended | test runs | tokens read from tests | minutes | processes left |"
    lines = [
        f"| {each['bug']} | {each['way']} | {'yes' if each['mended'] else 'no'} | {each['runs']} | {each['tokens']:,}"
        f" | {each['minutes']} | {each['left']} |"
        for each in rows
    ]
    return "\n".join([f"Worked by {who}.", "", head, "| --- | --- | --- | --: | --: | --: | --: |", *lines])


if __name__ == "__main__":
    sys.exit(main())
