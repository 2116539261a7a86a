"""pytest's own flags on `pytest-mcp run`, for the fingers of people who know them.

Flags that have a parameter become arguments of the tool, others options of pytest. Such options come from a person's
command line only: no tool has a parameter for them. Each is one token that begins with an option of ours, and argparse
has checked its value. For flags that are not taken, the error says what to type instead.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from pytest_mcp.cli.tool_flags import DEST_PREFIX, Arguments
from pytest_mcp.config.model import ConfigError

STDIN = "-"
# The dest of flags that become options of pytest.
_PASSED_ON = "pytest_options"
_STYLES = ("auto", "long", "short", "line", "native", "no")
# Flags that are less alike than this have nothing to do with each other: --ignore and --no-spare.
NEAR = 0.8

_IN_ADDOPTS = "set it in addopts of the project's pytest settings"

# pytest's flags that `run` does not take, and what to do instead of setting them in addopts.
_INSTEAD: Mapping[tuple[str, ...], str] = {
    ("--co", "--collect-only"): "`pytest-mcp discover` lists the tests",
    ("--ignore", "--ignore-glob"): f"name the paths that are to run, or {_IN_ADDOPTS}",
    ("--deselect",): f"leave tests out with -k 'not NAME', or {_IN_ADDOPTS}",
    ("--pdb", "--pdbcls", "--trace"): "tests cannot read input here; use `python -m pytest` for a debugger",
    ("-W", "--pythonwarnings"): "set filterwarnings in the project's pytest settings",
    ("-o", "--override-ini", "-c", "--config-file"): "change the project's own settings file",
    ("-p",): "plugins are the project's own choice; set `-p` in addopts of its settings",
    ("-r",): "-v lists every test with its outcome",
    ("--sw", "--stepwise", "--sw-skip", "--stepwise-skip"): "use -x, and then -x --lf",
    ("--nf", "--new-first"): "use --changed for the tests that changes can reach",
    ("--rootdir",): "use --root",
    ("--exitfirst",): "use -x",
    ("--full-trace",): "use --tb=long",
    ("--capture",): "only -s is taken",
    ("--cov",): "did you mean --coverage?",
    ("--fixtures", "--funcargs", "--setup-plan"): "use `python -m pytest` for that",
}


def add_to(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pytest's own flags")
    group.add_argument("-v", "--verbose", dest="louder", action="count", default=0, help="list every test")
    group.add_argument("-q", "--quiet", dest="quieter", action="count", default=0, help="print less")
    workers: dict[str, Any] = {"dest": f"{DEST_PREFIX}workers", "default": argparse.SUPPRESS, "type": _workers}
    group.add_argument("-n", "--numprocesses", metavar="N", help="the same as --workers", **workers)
    shows: dict[str, Any] = {"dest": f"{DEST_PREFIX}locals", "default": argparse.SUPPRESS, "action": "store_true"}
    group.add_argument("-l", "--showlocals", help="the same as --locals", **shows)
    passed_on: dict[str, Any] = {"dest": _PASSED_ON, "default": argparse.SUPPRESS, "action": "append_const"}
    group.add_argument("-s", const="--capture=no", help="do not capture what tests print", **passed_on)
    group.add_argument(
        "--lf", "--last-failed", const="--last-failed", help="only tests that failed before", **passed_on
    )
    group.add_argument("--ff", "--failed-first", const="--ff", help="tests that failed last time first", **passed_on)
    group.add_argument("--durations", metavar="N", type=_count, help="show the N slowest tests, 0: all")
    group.add_argument("--tb", choices=_STYLES, help="how failures are shown, as in pytest")
    group.add_argument("--junitxml", "--junit-xml", metavar="FILE", help="write a JUnit XML file")
    # The report has none.
    group.add_argument("--no-header", action="store_true", help=argparse.SUPPRESS)


def translated(options: argparse.Namespace) -> Arguments:
    """The tool's arguments for what was typed; raises ConfigError for `-` without ids."""
    level = max(-2, min(2, options.louder - options.quieter))
    given: Arguments = {"verbosity": level} if level else {}
    if level > 0:
        given["detail"] = "tests"
    if level < 0:
        given["show_capture"] = True  # a negative verbosity of the tool leaves it out, pytest's -q does not
    if has_own_tracebacks(options):
        given["detail"] = "full"
    if STDIN in getattr(options, f"{DEST_PREFIX}node_ids", ()):
        given["node_ids"] = _with_stdin(options)
    return given


def for_pytest(options: argparse.Namespace) -> tuple[str, ...]:
    passed_on = [*getattr(options, _PASSED_ON, ())]
    if options.durations is not None:
        passed_on.append(f"--durations={options.durations}")
    if has_own_tracebacks(options):
        passed_on.append(f"--tb={options.tb}")
    if options.junitxml is not None:
        passed_on.append(f"--junitxml={Path.cwd() / Path(options.junitxml).expanduser()}")
    return tuple(passed_on)


def has_own_tracebacks(options: argparse.Namespace) -> bool:
    """Whether pytest writes the tracebacks, in a style that was typed."""
    return options.tb not in (None, "line", "no")


def _with_stdin(options: argparse.Namespace) -> list[str]:
    # Loads the models of requests, and flags are parsed before those are loaded.
    from pytest_mcp.api.parameters import MAX_NODE_IDS  # noqa: PLC0415

    lines = (line.rstrip("\r\n") for line in sys.stdin)
    read = list(islice(filter(str.strip, lines), MAX_NODE_IDS + 1))
    if not read:
        raise ConfigError("There are no node ids on stdin.")
    typed = getattr(options, f"{DEST_PREFIX}node_ids")
    return [*(word for word in typed if word != STDIN), *read]


def _workers(word: str) -> int | str:
    """`-n 0` means one process without xdist, which is 1 for the tool."""
    if word in ("auto", "logical"):
        return "auto"
    return max(1, _count(word))


def _count(word: str) -> int:
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"{word!r} is not a number")
    return int(word)


def advice_on_unknown(word: str, known: Iterable[str], *, like_pytest: bool) -> str:
    """What an error says of a flag that is not taken. For a command `like_pytest`, people type pytest's flags."""
    flag = word.partition("=")[0] if word.startswith("--") else word[:2]
    if like_pytest and (instead := [sentence for flags, sentence in _INSTEAD.items() if flag in flags]):
        return f"; {instead[0]}"
    from difflib import get_close_matches  # noqa: PLC0415 - only for mistakes

    flags = [each for each in known if each.startswith("--")] if flag.startswith("--") else []
    near = get_close_matches(flag, flags, n=1, cutoff=NEAR)
    if near:
        return f"; did you mean {near[0]}?"
    return f"; if it is a flag of pytest or of a plugin, {_IN_ADDOPTS}" if like_pytest and flag else ""
