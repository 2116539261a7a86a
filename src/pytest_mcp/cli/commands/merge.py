"""`pytest-mcp merge`: one answer and one exit code for the answers of all shards.

In come files with what `run --shard K/N --json` printed, or lines of stdin; out comes a report like that of `run`, or
with `--json` one answer of the same shape. What the answers mean together is decided in `report/shards`.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli import exit_codes, render, terminal
from pytest_mcp.cli.arguments import page_flags, tool_flags
from pytest_mcp.cli.files import page_file
from pytest_mcp.cli.output import USAGE_ERROR, print_message, show
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.page.origin import Origin
from pytest_mcp.report import serialize
from pytest_mcp.report.shards import answers
from pytest_mcp.report.shards.answers import Answer, NotAnAnswer
from pytest_mcp.report.shards.merge import merged
from pytest_mcp.text import in_line
from pytest_mcp.tools import dump

STDIN = "-"
# Four times the default of --max-reply-bytes.
LARGEST = 64 * 1024 * 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Exits with 0 only if every shard is there, of the same commit, and passed."
    parser.add_argument(
        "answers",
        nargs="+",
        metavar="ANSWER",
        help="a file with what `pytest-mcp run --shard K/N --json` printed; - for stdin with one answer on each line",
    )
    parser.add_argument("--json", action="store_true", help="print one answer of execute_tests as one line of JSON")
    page_flags.add_to(parser)


def main(options: argparse.Namespace, _load_config: LoadConfig) -> int:
    page = page_file.wanted(options)
    given, wrong = _read(options.answers)
    for sentence in wrong:
        print_message(sentence)
    if wrong:
        return USAGE_ERROR
    result = merged(given)
    if options.json:
        show(serialize.line(serialize.safe(dump(result))))
    else:
        painter = terminal.screen(os.environ).out
        show("\n".join(render.of_run(result, painter, again=_again(result), by_detail=False)))
    unwritten = page.write(result, _origin(options.answers)) if page else None
    return unwritten or exit_codes.of_execution(result)


def _origin(names: list[str]) -> Origin:
    return Origin("merged shards", command=shlex.join(["pytest-mcp", "merge", *names]), again="pytest-mcp run")


def _again(result: ExecuteResult) -> str | None:
    return None if result.rerun is None else shlex.join(["pytest-mcp", "run", *tool_flags.as_typed(result.rerun)])


def _read(names: list[str]) -> tuple[list[Answer], list[str]]:
    """The answers, and a sentence for each file or line that is none."""
    given: list[Answer] = []
    wrong: list[str] = []
    for name in names:
        try:
            texts = list(_lines(sys.stdin.buffer) if name == STDIN else _file(Path(name)))
        except OSError as error:
            wrong.append(f"{in_line(name)} cannot be read: {error.strerror}.")
            continue
        if not texts:
            wrong.append("There is no answer on stdin.")
        for label, text in texts:
            try:
                given.append(answers.parse(label, _decoded(text)))
            except NotAnAnswer as error:
                wrong.append(f"{in_line(label)} {error}.")
    return given, wrong


def _file(path: Path) -> Iterator[tuple[str, bytes]]:
    with path.open("rb") as opened:
        yield str(path), opened.read(LARGEST + 1)


def _lines(stream: BinaryIO) -> Iterator[tuple[str, bytes]]:
    number = 0
    while line := stream.readline(LARGEST + 1):
        number += 1
        if line.strip():
            yield f"line {number} of stdin", line
        if len(line) > LARGEST:
            return  # what follows is the rest of the same line


def _decoded(content: bytes) -> str:
    if len(content) > LARGEST:
        raise NotAnAnswer(f"is larger than {LARGEST // 1024 // 1024} MiB, so it is not read")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotAnAnswer("is not text in UTF-8") from error
