"""Every function that reads text from outside takes time in proportion to its length.

A quadratic one would need minutes for the texts here. The limit is on the time that the processor spends, not on the
clock, and far above what any of these takes.
"""

import ast
import importlib
import pkgutil
import random
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase as Step
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pytest_mcp
from pytest_mcp import text
from pytest_mcp.api import did_you_mean, expressions
from pytest_mcp.changed import reached_names
from pytest_mcp.cli.commands import hook
from pytest_mcp.cli.setup import settings_file
from pytest_mcp.config import endpoint
from pytest_mcp.python.files import read_manifest
from pytest_mcp.python.install_lines import Situation, declaration
from pytest_mcp.python.managers import CONDA, PLAIN
from pytest_mcp.report import (
    budget,
    no_result,
    report,
    rerun,
    selection,
    serialize,
    tokens,
)
from pytest_mcp.report import discovery as listing
from pytest_mcp.run import decode
from pytest_mcp.run.events import (
    Event,
    Finished,
    Interrupted,
    Marks,
    NothingSelected,
    Started,
    UsageFault,
    Warned,
)
from pytest_mcp.server import incoming, progress
from pytest_mcp.terminal import colours
from tests.support.child import ours
from tests.support.invented.records import absent, discovery, ended, execution, item, ledger, phase, session
from tests.support.invented.records import uncollected as broken

comparisons = ours("comparisons")

CHARACTERS = 20_000
# What a linear pattern takes is a hundredth of it, what a quadratic one takes is many times as much.
MAX_CPU_SECONDS = 2.5
# Whole answers walk a text some fifty times, to estimate their tokens: a slow machine takes seconds for it.
MAX_CPU_SECONDS_OF_ANSWERS = 10.0
# A shorter text is not slow, so there is nothing to look for.
WITHOUT_SHRINKING = [Step.explicit, Step.generate]

# What the patterns of the package look for, and what they stop at.
FRAGMENTS = [
    *("a", "A", "1", " ", "\t", "\n", "\r\n", "=", "-", "_", ":", ".", "/", "'", '"', "\\", "[", "]", "(", ")", "{"),
    *("#", ",", "é", "E ", "E\n", "::", ":1", ":1: ", "a:1: ", "a.", "a-", "1 ", "1 a ", "_ ", "- ", "= ", "0x"),
    *(" in 1s", " in 1s ()", " in 1s (", "coroutine '", "cannot collect '", "Unknown pytest.mark.", "XError "),
    *('E File "', '", line 1', "Captured ", "/tmp/", "\x1b[", "\x1b[0m", "\\u", "\\ud800", "assert "),
    *("[... 1 lines left out ...]", "x.py ", "PASSED", "::a PASSED", "[100%]", "error: unrecognized arguments: "),
    *("fixture '", "not found: ", "//"),
    *("/*", "*/", "'''", '"""', "[a]", "a=1\n", "a.a=1\n", "a-a/", ".. ", "\u200b", "\ud800", "contains 1 failed"),
]
fragments = st.sampled_from(FRAGMENTS)
units = st.lists(fragments, min_size=1, max_size=3).map("".join)
# Each a beginning, what is repeated, and an end.
ATTACKS = [
    *[("", "word", ""), ("1 ", "a", ""), ("1 a", " in 1s ()", ""), ("1 a", " in 1s (", ")"), ("", "coroutine '", "")],
    *[("", "a.", "a = 1"), ("a = ", "[", ""), ("a", " ", "b"), ("[options.extras_require]\na", " ", "b")],
    *[("[... ", "9", " lines left out ...]\n"), ("x[", "a-", "]"), ("", "a/", "a"), ("E", "\n", "x")],
    *[('E File "', "a", '", line 1'), ("", "\n", ""), ("", "E  a\n", ""), ("", "::", " PASSED")],
    *[("", "import ", ""), ("", "import (#", ""), ("", "from ", "!"), ("", "[pytest", "")],
]


def long(prefix: str, unit: str, suffix: str) -> str:
    return prefix + unit * (CHARACTERS // len(unit)) + suffix


texts = st.builds(long, st.just("") | fragments, units, st.just("") | fragments)


class TooSlow(AssertionError):
    pass


@contextmanager
def limited(seconds: float = MAX_CPU_SECONDS) -> Iterator[None]:
    """Python's own pattern engine lets a signal in, so that a fault costs seconds and not minutes."""

    def stop(*_: object) -> None:
        raise TooSlow("more than linear time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def chain(said: str) -> list[Any]:
    lines = said.split("\n")
    frames = [[path, 1, said, said, [[said, said]], lines] for path in (said, f"/usr/lib/{said}", said)]
    return [[link, said, lines, frames] for link in ("cause", None)]


def events(said: str) -> list[Event]:
    """A text wherever a run can have one."""
    return session(
        Started(said),
        phase(said, message=said, traceback=said, location=[said, 1], sections=[["Captured stdout call", said]]),
        phase(f"{said}x", message=said, chain=chain(said)),
        phase(said, outcome="rerun", subtest=said),
        Finished(id=said, duration=1.0, passed=False),
        Warned(said, "RuntimeWarning", "runtest", said, 1, None),
        Warned(said, "PytestUnhandledThreadExceptionWarning", "runtest", said, 1, said),
        broken(said, traceback=said),
        absent(said, said),
        selected=3,
        exit_status=1,
    )


def judged(said: str) -> object:
    run = execution(
        [*events(said)[:-1], UsageFault([said], said), Interrupted(said, said, [said]), ended(1, stopped=said)]
    )
    return no_result.diagnose(run)


def answered(said: str) -> object:
    run = execution(events(said), stdout=said, max_tokens=500)
    return budget.fit_execution(report.execution_report(run, None), run.request, ceiling=2**24)


def listed(said: str) -> object:
    run = discovery([item(said), broken(said, traceback=said)], max_tokens=500)
    return listing.fit_discovery(listing.whole_discovery(run), run.request, ceiling=2**24)


def checked(said: str) -> None:
    with suppress(expressions.ExpressionError):
        expressions.checked(said, arguments=True)


def admit(said: str) -> None:
    with suppress(incoming.BadMessage):
        incoming.admitted(said.encode("utf-8", "replace"))


def read_settings(said: str) -> object:
    try:
        return settings_file.read(said)
    except (ValueError, RecursionError):
        return None


def of_files(said: str, folder: Path) -> object:
    for name in ("pyproject.toml", "requirements.txt", "environment.yml"):
        (folder / name).write_text(said, encoding="utf-8", errors="replace", newline="")
    situation = Situation(folder, folder, read_manifest(folder))
    return [declaration(manager, situation) for manager in (PLAIN, CONDA)]


def unselected(said: str) -> object:
    asked = execution([Marks([said, *said.split()], [said])], markers="slwo")
    nothing = execution(session(NothingSelected([said], [said], [said]), selected=0))
    return [selection.selection_notices(run) for run in (asked, nothing)]


ADMITTING = endpoint.parse("127.0.0.1:0", token=None, token_file=None, allowed_hosts=None)


FUNCTIONS: dict[str, Callable[[str], object]] = {
    "endpoint.admits": lambda said: (ADMITTING.admits_host(said), ADMITTING.admits_origin("http://" + said)),
    "expressions.checked": checked,
    "hook.test_run": lambda said: hook.test_run(f"pytest {said}", "", ""),
    "ink.columns": colours.columns,
    "settings_file.read": read_settings,
    "budget.fit_execution": answered,
    "no_result.diagnose": judged,
    "listing.fit_discovery": listed,
    "incoming.admitted": admit,
    "reached_names.mentions_in": lambda said: reached_names.mentions_in(repr(said).encode("utf-8", "replace")),
    "progress.words": lambda said: progress.words(ledger(Started(said))),
    "records.parse": lambda said: decode.parse(said.encode("utf-8", "replace")),
    "replies.safe": lambda said: serialize.line(serialize.safe({said: [said]}, colour=True)),
    "rerun.rerun_arguments": lambda said: rerun.rerun_arguments(
        [said + "x" * n for n in range(30)], execution([]).request
    ),
    "selection.selection_notices": unselected,
    "text.safe_with_colour": text.safe_with_colour,
    "text.safe_line": text.safe_line,
    "tokens.estimate": tokens.estimate,
}


def with_attacks(test: Any) -> Any:
    for attack in ATTACKS:
        test = example(long(*attack))(test)
    return test


@pytest.mark.parametrize("name", FUNCTIONS)
@with_attacks
@settings(max_examples=4, phases=WITHOUT_SHRINKING)
@given(texts)
def test_a_function_takes_no_more_than_linear_time_for_what_others_wrote(name: str, said: str) -> None:
    with limited(MAX_CPU_SECONDS_OF_ANSWERS):
        FUNCTIONS[name](said)


@with_attacks
@settings(max_examples=4, phases=WITHOUT_SHRINKING)
@given(texts)
def test_files_of_a_project_are_read_in_linear_time(tmp_path_factory: pytest.TempPathFactory, said: str) -> None:
    with limited():
        of_files(said, tmp_path_factory.mktemp("linear"))


# Similar lines, of which no two are equal: pytest's own difference of these takes a quarter of an hour.
UNLIKE = [[f"user {n}, {n * factor} points" for n in range(1500)] for factor in (7919, 104729)]
COMPARED: dict[str, list[Any]] = {
    "lists that differ everywhere": UNLIKE,
    "texts": ["\n".join(lines) for lines in UNLIKE],
    "random bytes": [list(random.Random(seed).randbytes(20_000)) for seed in (1, 2)],
    "one of many": [list(range(20_000)), [*range(19_999), 0]],
}


@pytest.mark.parametrize("kind", COMPARED)
def test_a_comparison_is_explained_in_linear_time(pytestconfig: pytest.Config, kind: str) -> None:
    compared = comparisons.Comparisons(pytestconfig)
    with limited(), comparisons.quick_differences(without_lines=True):
        first, *others = compared.explained([["[...] == [...]"]], "==", *COMPARED[kind])

    # Not so if time ran out, which is taken for an error of a value's own.
    assert first != "[...] == [...]"
    assert others


def test_what_was_meant_by_a_name_is_looked_for_in_linear_time() -> None:
    names = ["a" * 150 + str(number) for number in range(6000)]

    with limited():
        assert did_you_mean.nearest("a" * 152, names) is not None


# pattern → why it may take longer on text that it is never given.
EXEMPT = {
    "failures._TYPE_ALONE": "is matched once, with a whole line",
    "places._FILE": "is matched once, with a whole path",
    "frame._SPACES": "only sees our own style sheet",
    "entries._COMMAND": "is matched once, at the beginning of a command",
    "incoming._FIRST_ID": "is matched once, at the beginning of 1,024 bytes",
    "incoming._LAST_ID": "only sees 1,024 bytes",
}


def patterns_in(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple):
        for each in value:
            yield from patterns_in(each)
    elif hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        yield from patterns_in(tuple(getattr(value, name) for name in value.__dataclass_fields__))


def patterns() -> dict[str, re.Pattern[Any]]:
    found = {}
    for module in pkgutil.walk_packages(pytest_mcp.__path__, "pytest_mcp."):
        if not module.name.endswith((".supervisor", ".__main__")):
            for name, value in vars(importlib.import_module(module.name)).items():
                for number, pattern in enumerate(patterns_in(value)):
                    found[f"{module.name.rpartition('.')[2]}.{name}{number or ''}"] = pattern
    return found


def written_in_place() -> Iterator[tuple[str, re.Pattern[Any] | None]]:
    """Patterns that are written where they are used, with the names of their modules; None if it is not a literal."""
    for path in Path(pytest_mcp.__path__[0]).rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        for call in calls:
            if re.fullmatch(r"re\.(?!compile|escape)\w+", ast.unparse(call.func)):
                first = call.args[0]
                yield path.stem, re.compile(first.value) if isinstance(first, ast.Constant) else None


WRITTEN_IN_PLACE = list(written_in_place())
# Modules with a pattern that is put together, and what they are given.
PUT_TOGETHER = {
    "endpoint": "headers, of 16 KB at most; `endpoint.admits` above",
    "collection": "the name of a test function, at the begin of a line",
    "git_files": "a hash of one length and a name, once for each line",
}
PATTERNS = patterns() | {f"{module}: {found.pattern}": found for module, found in WRITTEN_IN_PLACE if found}


@pytest.mark.parametrize("name", sorted(PATTERNS.keys() - EXEMPT.keys()))
@with_attacks
@settings(max_examples=3, phases=WITHOUT_SHRINKING)
@given(texts)
def test_a_pattern_walks_no_text_twice(name: str, said: str) -> None:
    pattern = PATTERNS[name]
    subject = said if isinstance(pattern.pattern, str) else said.encode("utf-8", "replace")
    with limited():
        pattern.findall(subject)


def test_every_pattern_is_known_here() -> None:
    """One that is put together when it is used would be seen by no test of this file."""
    assert {module for module, pattern in WRITTEN_IN_PLACE if pattern is None} == PUT_TOGETHER.keys()
    assert PATTERNS.keys() >= EXEMPT.keys()
