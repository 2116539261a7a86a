"""`pytest-mcp merge`: one answer and one exit code for the reports of all shards.

A file that is refused makes the answer incomplete. What they mean together: `report/shard_reports.py`.
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pytest_mcp.api.requests import ExecuteTests
from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli import exit_codes, page_file, render_run, tool_flags
from pytest_mcp.config.model import MAX_REPLY_BYTES
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.page.content import PageOrigin
from pytest_mcp.report import budget, serialize, shard_reports
from pytest_mcp.report.report import Report
from pytest_mcp.report.shard_reports import NotAReport, ShardGiven
from pytest_mcp.terminal import capabilities
from pytest_mcp.terminal.output import USAGE_ERROR, print_message, show
from pytest_mcp.text import in_line
from pytest_mcp.tools import dump

STDIN = "-"
# Four times the default of --max-reply-bytes.
MAX_FILE_BYTES = 64 * 1024 * 1024
# For people there is no limit that they could raise.
MAX_TOKENS = 1_000_000
MORE = "`pytest-mcp merge --html FILE`"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = "Exits with 0 only if every shard is there, of the same commit, and passed."
    parser.add_argument(
        "reports",
        nargs="+",
        metavar="REPORT",
        help="a file with what `pytest-mcp run --shard K/N --json` printed; - for stdin with one report on each line",
    )
    parser.add_argument("--json", action="store_true", help="print one answer of execute_tests as one line of JSON")
    tool_flags.add_page_flags(parser)


def main(options: argparse.Namespace, _load_config: LoadConfig) -> int:
    page = page_file.wanted(options)
    given, wrong = _read(options.reports)
    for sentence in wrong:
        print_message(sentence)
    if wrong:
        return USAGE_ERROR
    merged = shard_reports.merged_shards(given)
    command = shlex.join(["pytest-mcp", "merge", *options.reports])
    origin = PageOrigin("merged shards", command=command, again="pytest-mcp run")
    if options.json:
        show(serialize.line(serialize.safe(dump(_answer(merged, ExecuteTests())))))
    else:
        painter = capabilities.screen(os.environ).out
        answer = _answer(merged, ExecuteTests().model_copy(update={"max_tokens": MAX_TOKENS}))
        show(
            "\n".join(
                render_run.report_lines(merged, answer, painter, again=page_file.again(answer.rerun, origin), more=MORE)
            )
        )
    unwritten = page.write(partial(page_file.run_page, merged, origin, None)) if page else None
    return unwritten or exit_codes.of_report(merged)


def _answer(merged: Report, request: ExecuteTests) -> ExecuteResult:
    answer = budget.fit_execution(merged, request, ceiling=MAX_REPLY_BYTES)
    return answer.model_copy(
        update={"omitted": answer.omitted and answer.omitted.model_copy(update={"hint": f"{MORE} shows all of it"})}
    )


def _read(names: list[str]) -> tuple[list[ShardGiven], list[str]]:
    """The reports, and a sentence for each file that cannot be read."""
    given: list[ShardGiven] = []
    wrong: list[str] = []
    for name in names:
        try:
            contents = list(_contents(name))
        except OSError as error:
            wrong.append(f"{in_line(name)} cannot be read: {error.strerror}.")
            continue
        if not contents:
            wrong.append("There is no report on stdin.")
        given += [_parsed(label, content) for label, content in contents]
    return given, wrong


def _contents(name: str) -> Iterator[tuple[str, bytes]]:
    """The content of a file, or each line of stdin, and what it is called. Too much of it is read no further."""
    if name != STDIN:
        with Path(name).open("rb") as file:
            yield name, file.read(MAX_FILE_BYTES + 1)
        return
    for number, line in enumerate(iter(partial(sys.stdin.buffer.readline, MAX_FILE_BYTES + 1), b""), start=1):
        if line.strip():
            yield f"line {number} of stdin", line
        if len(line) > MAX_FILE_BYTES:
            return


def _parsed(label: str, content: bytes) -> ShardGiven:
    if not content.strip():
        return ShardGiven(label, refusal="is empty, so its run was killed before it could report")
    if len(content) > MAX_FILE_BYTES:
        return ShardGiven(label, refusal=f"is larger than {MAX_FILE_BYTES // 1024**2} MiB, so it is not read")
    try:
        return ShardGiven(label, shard_reports.parse(content.decode("utf-8")))
    except UnicodeDecodeError:
        return ShardGiven(label, refusal="is not text in UTF-8")
    except NotAReport as refusal:
        return ShardGiven(label, refusal=str(refusal))
