"""`pytest-mcp history`: call test_history from the command line. It needs `--history`, and a history that exists."""

import argparse
import os
from collections.abc import Sequence

from pytest_mcp.cli import exit_codes, local_call, tool_flags
from pytest_mcp.cli.local_call import ToolCommand
from pytest_mcp.cli.tool_flags import Arguments
from pytest_mcp.config.history import is_postgres
from pytest_mcp.config.model import ConfigError
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.history.request_and_result import (
    ChangedDuration,
    Durations,
    FailingTests,
    FlakyTest,
    HistoryResult,
    OneTest,
)
from pytest_mcp.terminal.capabilities import Screen
from pytest_mcp.terminal.colours import Colour, Lines, Painter, lines_of_notices, spaced
from pytest_mcp.terminal.output import can_show, show
from pytest_mcp.text import in_line, safe_line, span
from pytest_mcp.tools import test_history

TOOL = test_history()
BARS = "▁▂▃▄▅▆▇█"
_COLOURS: dict[str, Colour] = {"P": "green", "F": "red", "E": "red", "S": "dim"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tool_flags.add_to(parser, TOOL.name, TOOL.input_schema)
    parser.add_argument(
        f"{tool_flags.DEST_PREFIX}node_id",
        nargs="?",
        metavar="NODE_ID",
        default=argparse.SUPPRESS,
        help="the same as --node-id",
    )


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    config = load_config()
    if config.history is None:
        raise ConfigError("No runs are recorded: name the history with --history or PYTEST_MCP_HISTORY.")
    address = config.history.address
    # A server may be started before its first run. To a person, a file that is not there is a wrong path.
    if not is_postgres(address) and not os.path.exists(address):  # noqa: PTH110 - does not raise
        advice = "check the path, or record a run first, with `pytest-mcp --history FILE run`"
        raise ConfigError(f"There is no history at {in_line(address)}: {advice}.")
    return local_call.run(HistoryCommand(TOOL, options, config))


class HistoryCommand(ToolCommand):
    def for_people(self, typed: Arguments, _screen: Screen) -> Arguments:
        return {"max_tokens": self.config.most_tokens, **typed}

    def print_answer(self, _known: object, answer: HistoryResult, screen: Screen) -> None:
        show("\n".join(history_lines(answer, screen.out, has_bars=can_show(BARS))))

    def exit_code(self, _known: object, _answer: HistoryResult) -> int:
        return exit_codes.PASSED


def history_lines(result: HistoryResult, painter: Painter, *, has_bars: bool) -> Lines:
    """What is most important comes last, where a terminal stops scrolling."""
    blocks: list[Lines] = [_flaky(each, painter) for each in reversed(result.flaky or [])]
    blocks += [_failing(each, painter) for each in reversed(result.failing or [])]
    blocks += [] if result.slow is None else _slow(result.slow, painter)
    blocks += [] if result.test is None else [_test(result.test, painter, has_bars=has_bars)]
    omitted = [] if result.omitted is None else [f"{result.omitted.tests} more tests are not shown."]
    runs = f"{result.runs} recorded {'run' if result.runs == 1 else 'runs'} looked at"
    return spaced([*blocks, lines_of_notices(result.notices, painter), omitted, [painter.paint(runs, "bold")]])


def sparkline(values: Sequence[float]) -> str:
    """One bar for each value; the lowest bar is zero, so that noise does not look like a change."""
    highest = max(values, default=0.0) or 1.0
    return "".join(BARS[min(len(BARS) - 1, int(value / highest * len(BARS)))] for value in values)


def _flaky(each: FlakyTest, painter: Painter) -> Lines:
    also = f", and {each.also} more tests in the same runs" if each.also else ""
    return [
        f"{painter.paint(safe_line(each.node_id), 'bold')}: failed {each.failed} of {each.runs} times{also}",
        f"  {_letters(each.pattern, painter)}  since {_when(each.since, each.commit)}",
        *([f"  {each.hint}"] if each.hint else []),
    ]


def _failing(each: FailingTests, painter: Painter) -> Lines:
    more = each.count - len(each.node_ids)
    passed = f"; passed at {safe_line(each.passed_at)}" if each.passed_at else "; never passed"
    before = f", failed {each.failed_before} times before that" if each.failed_before else ""
    times = f"{each.runs} {'run' if each.runs == 1 else 'runs'}"
    return [
        f"{painter.paint('failing', 'bold', 'red')} since {_when(each.since, each.commit)}, {times}{passed}{before}:",
        *(f"  {safe_line(name)}" for name in each.node_ids),
        *([f"  and {more} more"] if more else []),
        *([f"  {each.hint}"] if each.hint else []),
    ]


def _slow(slow: Durations, painter: Painter) -> list[Lines]:
    slowest = [f"  {_seconds(each.median):>8}  {safe_line(each.node_id)}" for each in slow.slowest]
    changed = [_changed(each, painter) for each in [*slow.suites, *slow.changed]]
    return [
        [painter.paint("Slowest:", "bold"), *slowest] if slowest else [],
        [painter.paint("Changed:", "bold"), *changed] if changed else [],
    ]


def _changed(each: ChangedDuration, painter: Painter) -> str:
    word = painter.paint(each.in_words, "red" if each.now > each.before else "green")
    when = f"since {_when(each.since, each.commit)}, {each.runs} runs"
    return f"  {word}  {_seconds(each.before)} -> {_seconds(each.now)}  {safe_line(each.name)} ({when})"


def _test(test: OneTest, painter: Painter, *, has_bars: bool) -> Lines:
    counts = f"{test.runs} runs, {test.failed} failed, {test.skipped} skipped"
    seconds = "" if test.quartiles is None else " / ".join(_seconds(value) for value in test.quartiles)
    bars = f"  {sparkline(test.daily)}" if has_bars and len(test.daily) > 1 else ""
    return [
        painter.paint(safe_line(test.node_id), "bold"),
        f"  {_letters(test.pattern, painter)}  {counts}",
        *([f"  quartiles {seconds}{bars}"] if seconds else []),
        f"  duration: {safe_line(test.trend)}",
        *([f"  {painter.paint('flaky', 'red')}: {test.flaky}"] if test.flaky else []),
        *([f"  fails since {safe_line(test.failing_since)}"] if test.failing_since else []),
    ]


def _seconds(seconds: float) -> str:
    return span(seconds) if seconds >= 1 else f"{1000 * seconds:.0f} ms"


def _letters(pattern: str, painter: Painter) -> str:
    return "".join(painter.paint(letter, _COLOURS.get(letter, "dim")) for letter in pattern)


def _when(since: str | None, commit: str | None) -> str:
    return " ".join(filter(None, [since, f"({commit})" if commit else None])) or "an unknown time"
