"""`pytest-mcp run`: call execute_tests from the command line.

Only flags are parsed here, and the child is started; the call itself is in `cli/run_call.py`, which is loaded while the
child starts.
"""

import argparse
import re

from pytest_mcp.cli import child_ahead, pytest_flags, tool_flags
from pytest_mcp.config.model import MAX_SHARDS, Shard
from pytest_mcp.config.options import LoadConfig
from pytest_mcp.server import fast_start

_TOOL = "execute_tests"
_PART = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tool_flags.add_to(parser, _TOOL, fast_start.input_schema(_TOOL))
    pytest_flags.add_to(parser)
    parser.add_argument(
        "--shard",
        metavar="K/N",
        type=_shard,
        help="run only part K of N of the tests, whole files each; N machines with K from 1 to N run every test once,"
        " and `pytest-mcp merge` makes one answer of theirs",
    )
    tool_flags.add_page_flags(parser)


def main(options: argparse.Namespace, load_config: LoadConfig) -> int:
    config = load_config()
    arguments = tool_flags.from_root(tool_flags.arguments(options), config.root)
    with child_ahead.started(config, arguments) as child:
        from pytest_mcp.cli import run_call  # noqa: PLC0415 - takes as long to load as pytest

        return run_call.main(options, config, child)


def _shard(typed: str) -> Shard:
    part = _PART.fullmatch(typed)
    number, of = map(int, part.groups()) if part else (0, 0)
    if not 1 <= number <= of <= MAX_SHARDS:
        rule = f"K/N with 1 <= K <= N <= {MAX_SHARDS}, such as 2/5 for the second of five parts"
        raise argparse.ArgumentTypeError(f"{typed!r} is not a part; write {rule}")
    return Shard(number, of, commit=None)
