"""`python -m bench.tokens [ROW ...]`: call the server, count, save the counts and print them; see `--help`.

A missed goal is a result. A wrong answer is a bug, and the exit code is 1.
"""

import argparse
import importlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.__main__ import VERSIONS
from bench.tokens import answers, report, results, tokenizer
from bench.tokens.real import command as real
from bench.tokens.results import Entry
from bench.tokens.rows import ROWS, Row
from pytest_mcp import __version__
from scripts.environments import ENVIRONMENTS, make_if_needed
from scripts.npm import NotFetched, prepare

ENVIRONMENT = ENVIRONMENTS["demo"]


@dataclass(frozen=True)
class Heard:
    """The texts of one row. All rows are counted together."""

    answer: str
    printed: dict[str, str]
    complaints: tuple[str, ...]


def main(given: Sequence[str] | None = None) -> int:
    options = parsed(given)
    if options.render:
        report.write(results.load(), real.document())
        return 0
    try:
        right = [part(options) for part in parts(options)]
    except NotFetched as error:
        print(error, file=sys.stderr)
        return 1
    report.write(results.load(), real.document())
    print(real.document() if options.real else report.document(results.load(), real.document()))
    return 0 if all(right) else 1


def parts(options: argparse.Namespace) -> list[Callable[[argparse.Namespace], bool]]:
    """Everything, unless rows or the real bugs alone are asked for."""
    return [*([] if options.real else [rows]), *([] if options.rows else [real.run])]


def rows(options: argparse.Namespace) -> bool:
    """Whether every answer was right."""
    prepare([tokenizer.INSTALLED.name])
    new = counted({name: hear(ROWS[name]) for name in options.rows or ROWS})
    results.save(results.load() | new)
    return not any(entry.complaints for entry in new.values())


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.tokens", description="What an answer costs, in tokens.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"only these; there are {', '.join(ROWS)}")
    parser.add_argument("--render", action="store_true", help="count nothing; write the document again")
    real.add_options(parser)
    options = parser.parse_args(given)
    unknown = [name for name in options.rows if name not in ROWS]
    if unknown:
        parser.error(f"no such row: {', '.join(unknown)}; the rows are {', '.join(ROWS)}")
    return options


def hear(row: Row) -> Heard:
    print(f"{row.name}: {row.what}", file=sys.stderr, flush=True)
    make_if_needed(ENVIRONMENT)
    subject = row.subject()
    with tempfile.TemporaryDirectory(prefix="pytest-mcp-tokens-") as folder:
        project = subject.project.write(Path(folder).resolve() / "shop")
        answer = answers.ask(subject.question, ENVIRONMENT.python, project)
        printed = subject.typed.transcripts(ENVIRONMENT.python, project) if subject.typed else {}
    return Heard(answers.compact(answer), printed, tuple(subject.truth(answer)))


def counted(heard: dict[str, Heard]) -> dict[str, Entry]:
    texts = [text for entry in heard.values() for text in (entry.answer, *entry.printed.values())]
    counts = iter(tokenizer.count(texts))
    estimate = estimator()
    date, versions = datetime.now(UTC).date().isoformat(), used_versions()
    return {
        name: Entry(
            date,
            versions,
            answer=next(counts),
            estimate=estimate(entry.answer) if estimate else None,
            printed={way: next(counts) for way in entry.printed},
            complaints=entry.complaints,
        )
        for name, entry in heard.items()
    }


def estimator() -> Callable[[str], int] | None:
    """The server's own, if it has one."""
    try:
        estimate: Callable[[str], int] = importlib.import_module("pytest_mcp.report.tokens").estimate
    except ModuleNotFoundError:
        return None
    return estimate


def used_versions() -> str:
    """What the counts depend on, and nothing that identifies the machine."""
    told = subprocess.run([ENVIRONMENT.python, "-c", VERSIONS], capture_output=True, text=True, check=True)
    return f"pytest-mcp {__version__}, {told.stdout.strip()}"


if __name__ == "__main__":
    sys.exit(main())
