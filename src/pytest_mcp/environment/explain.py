"""The answer of `explain_environment`, and what a person reads of it: sections of marked lines, and the summary.

Lists are bounded, and `omitted` counts what was left out. Whether the tests can run is decided in `readiness`, which
notices are added in `surroundings` and `report/notices`.
"""

import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pytest_mcp import text
from pytest_mcp.api import results
from pytest_mcp.api.errors import CallError, ExecutionFailed
from pytest_mcp.api.requests import Survey
from pytest_mcp.api.results import ExplainResult, Member
from pytest_mcp.environment import readiness, surroundings
from pytest_mcp.environment.interpreters import Trial
from pytest_mcp.environment.readiness import Standing
from pytest_mcp.environment.surroundings import MAX_TEXT, Surroundings, relative
from pytest_mcp.python.interpreter import Candidate, short
from pytest_mcp.report import notices
from pytest_mcp.run.events import Portrait
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.terminal.colours import Colour, Painter

# How many entries of each list are shown.
SHOWN = {
    "candidates": 5,
    "plugins": 20,
    "testpaths": 10,
    "markers": 20,
    "python_files": 10,
    "uncollected": 3,
    "imported_elsewhere": 3,
}
# The longest sentence or error, in characters.
MAX_SENTENCE = 1000
# pytest's own `python_files`.
_USUAL_FILES = ["test_*.py", "*_test.py"]


def explained(trial: Trial[Survey], around: Surroundings) -> ExplainResult:
    error = trial.error
    ledger = Ledger() if trial.run is None else trial.run.ledger
    standing, of_run = _standing(trial, around, ledger)
    of_host = surroundings.notices(around, ledger.portrait, len(ledger.items))
    return ExplainResult(
        ready=standing.ready,
        summary=_cut(standing.summary),
        next_step=standing.next_step and _cut(standing.next_step, MAX_SENTENCE),
        problem=error and _problem(error),
        notices=[_cut(notice, MAX_SENTENCE) for notice in (*of_run, *of_host)],
        root=str(around.root),
        interpreter=trial.chosen and _interpreter(trial.chosen, ledger),
        candidates=[results.PassedOver(**other.described()) for other in trial.rejected[: SHOWN["candidates"]]],
        pytest=_pytest(ledger),
        config=ledger.portrait and _settings(ledger.portrait, around.root),
        tests=_tests(ledger) if error is None else None,
        imported_elsewhere=_foreign(ledger),
        git=around.git,
        temporary_folder=around.temporary,
        server=around.server,
        omitted=_omitted(trial, ledger),
        members=around.members and list(around.members.listed),
        sandbox=around.sandbox and results.AroundServer(**around.sandbox._asdict()),
    )


def _standing(trial: Trial[Survey], around: Surroundings, ledger: Ledger) -> tuple[Standing, list[str]]:
    """Whether the tests can run, and the notices about the run."""
    if trial.run is not None and trial.error is None:
        return readiness.of_survey(trial.run, around), notices.discovery_notices(trial.run)
    assert trial.error is not None
    return readiness.of_failure(trial.error, trial.run, around), notices.above_root(ledger)


def _foreign(ledger: Ledger) -> list[results.ForeignPackage]:
    packages = ledger.imported_elsewhere[: SHOWN["imported_elsewhere"]]
    return [results.ForeignPackage(name=_cut(each.name), file=_cut(each.file), own=_cut(each.own)) for each in packages]


def _problem(error: CallError) -> str:
    """The first line if there is a fix: other keys contain the rest."""
    has_fix = isinstance(error, ExecutionFailed) and error.fix is not None
    return text.cut_middle(error.message.partition("\n")[0] if has_fix else error.message, MAX_SENTENCE)


def _interpreter(chosen: Candidate, ledger: Ledger) -> results.Interpreter:
    hello, portrait = ledger.hello, ledger.portrait
    return results.Interpreter(
        executable=_cut(hello.executable if hello else str(chosen.python)),
        source=short(chosen.source),
        version=hello and _cut(hello.python),
        prefix=portrait and _cut(portrait.prefix),
    )


def _pytest(ledger: Ledger) -> results.Pytest | None:
    hello, portrait = ledger.hello, ledger.portrait
    if hello is None or hello.pytest is None:
        return None
    return results.Pytest(version=_cut(hello.pytest), plugins=portrait and _first("plugins", portrait.plugins))


def _settings(portrait: Portrait, root: Path) -> results.Settings:
    file, python_files = portrait.inifile, portrait.python_files
    return results.Settings(
        # A file outside the root is not the project's: the child was told not to read one.
        file=relative(file, root) if file is not None and Path(file).is_relative_to(root) else None,
        rootdir=relative(portrait.rootdir, root),
        testpaths=_first("testpaths", portrait.testpaths),
        addopts=_cut(shlex.join(portrait.addopts)),
        markers=_first("markers", portrait.markers),
        python_files=None if python_files == _USUAL_FILES else _first("python_files", python_files),
    )


def _tests(ledger: Ledger) -> results.CollectedTests:
    broken = ledger.collection_failures[: SHOWN["uncollected"]]
    lines = [readiness.uncollected_line(event) for event in broken]
    return results.CollectedTests(count=len(ledger.items), deselected=ledger.deselected, uncollected=lines)


def _omitted(trial: Trial[Survey], ledger: Ledger) -> results.OmittedEntries | None:
    lists: dict[str, Sequence[object]] = {
        "candidates": trial.rejected,
        **{name: getattr(ledger.portrait, name, ()) for name in ("plugins", "testpaths", "markers", "python_files")},
        "uncollected": ledger.collection_failures,
        "imported_elsewhere": ledger.imported_elsewhere,
    }
    more = {name: max(0, len(entries) - SHOWN[name]) for name, entries in lists.items()}
    return results.OmittedEntries(**more) if any(more.values()) else None


def _first(name: str, entries: Sequence[str]) -> list[str]:
    return [_cut(entry) for entry in entries[: SHOWN[name]]]


def _cut(words: str, limit: int = MAX_TEXT) -> str:
    return text.cut_middle(words, limit, separator=" ")


# For people

Mark = Literal["good", "warning", "bad", "none"]

UNICODE_SIGNS = "✓✗"
# With and without Unicode.
_SIGNS: Mapping[Mark, str] = {"good": "✓+", "warning": "!!", "bad": "✗x", "none": "  "}
_COLOURS: Mapping[Mark, tuple[Colour, ...]] = {"good": ("green",), "warning": ("yellow",), "bad": ("red",), "none": ()}
# The length of the longest label.
_LABEL_WIDTH = len("temporary folder")
# Sentences are wrapped at this width. Paths and commands are not, so that they can be copied.
_SENTENCE_WIDTH = 100


class Check(NamedTuple):
    """One line: what was looked at, and what it is."""

    mark: Mark
    label: str
    text: str


Sections = Mapping[str, Iterable[Check]]


@dataclass(frozen=True)
class CheckStyle:
    """What the terminal can show."""

    has_unicode: bool
    painter: Painter

    def sections(self, sections: Sections) -> str:
        """Sections without a line are left out."""
        texts = [(title, [self._line(check) for check in checks]) for title, checks in sections.items()]
        return "\n".join("\n".join([self.painter.paint(title, "bold"), *lines, ""]) for title, lines in texts if lines)

    def closing(self, summary: str, next_step: str | None, *, is_ready: bool) -> str:
        painted = self.painter.paint(summary, "bold", *_COLOURS["good" if is_ready else "bad"])
        return painted if next_step is None else f"{painted}\nNext: {next_step}"

    def _line(self, check: Check) -> str:
        sign = self.painter.paint(_SIGNS[check.mark][not self.has_unicode], *_COLOURS[check.mark])
        label = f"{check.label:<{_LABEL_WIDTH}}  " if check.label else ""
        first, *more = check.text.splitlines() or [""]
        indent = " " * (len("  x ") + len(label))
        return "\n".join([f"  {sign} {label}{first}".rstrip(), *(indent + other for other in more)])


def explanation(result: ExplainResult) -> Sections:
    """Everything in the answer."""
    wrap = textwrap.TextWrapper(_SENTENCE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return {
        "Server": _server(result),
        "Project": _project(result),
        "Python": _python(result),
        "Tests": _test_lines(result),
        "Members": map(_member, result.members or ()),
        "Problem": [] if result.problem is None else [Check("bad", "", result.problem)],
        "Notices": [Check("warning", "", wrap.fill(notice)) for notice in result.notices],
    }


def _server(result: ExplainResult) -> Iterator[Check]:
    server, folder = result.server, result.temporary_folder
    yield Check("good", "Python", f"{server.python}, {server.executable}")
    free = "" if folder.free_bytes is None else f", {folder.free_bytes / 2**30:.1f} GB free"
    usable = "" if folder.writable else ", cannot be written to"
    yield Check("good" if folder.writable else "bad", "temporary folder", f"{folder.path or 'none'}{usable}{free}")
    if (sandbox := result.sandbox) is not None:
        network = {"open": "any host", "proxy": "hosts that its proxy allows", "none": "loopback only"}[sandbox.network]
        lost = f", for a while {', '.join(sandbox.lost)}" if sandbox.lost else ""
        sockets = "" if sandbox.unix_sockets else ", no Unix sockets"
        yield Check("good", "sandbox", f"{sandbox.by}; runs write {', '.join(sandbox.writable)}{lost}")
        yield Check("none", "network", f"{network}{sockets}")


def _project(result: ExplainResult) -> Iterator[Check]:
    yield Check("good", "root", result.root)
    if (git := result.git) is not None:
        linked = f", a linked worktree of {git.main_checkout}" if git.main_checkout else ""
        place = "the top of its checkout" if git.top_level == "." else f"a folder of the checkout {git.top_level}"
        yield Check("good", "git", f"{place}{linked}")
    if (config := result.config) is not None:
        yield Check("good", "settings", config.file or "none, pytest's defaults")
        lists = {"testpaths": config.testpaths, "python_files": config.python_files, "markers": config.markers}
        values = {"rootdir": config.rootdir if config.rootdir != "." else "", "addopts": config.addopts}
        values |= {name: ", ".join(words or ()) for name, words in lists.items()}
        yield from (Check("none", name, value) for name, value in values.items() if value)


def _python(result: ExplainResult) -> Iterator[Check]:
    for other in result.candidates:
        yield Check("warning", "rejected", f"{other.python} ({other.source}): {other.problem}")
    if (chosen := result.interpreter) is not None:
        yield Check("good", "interpreter", f"{chosen.version or 'Python'}, {chosen.executable}")
        yield Check("none", "source", chosen.source)
    elif result.members:  # each has its own
        yield Check("none", "interpreter", "none at the root")
    else:
        yield Check("bad", "interpreter", "none")
    if result.pytest is not None:
        plugins = result.pytest.plugins
        yield Check("good", "pytest", result.pytest.version)
        yield Check("none", "plugins", "unknown" if plugins is None else ", ".join(plugins) or "none")


def _test_lines(result: ExplainResult) -> Iterator[Check]:
    if (tests := result.tests) is None:
        return
    left_out = f", {tests.deselected} deselected" if tests.deselected else ""
    yield Check("good" if tests.count else "bad", "collected", f"{tests.count}{left_out}")
    yield from (Check("bad", "not collected", broken) for broken in tests.uncollected)
    for foreign in result.imported_elsewhere:
        yield Check("bad", "imported", f"{foreign.name} from {foreign.file}, not from {foreign.own}")


def _member(member: Member) -> Check:
    known = {"Python": member.python, "pytest": member.pytest}
    versions = ", ".join(f"{name} {version}" for name, version in known.items() if version)
    text = "; ".join(filter(None, [versions, member.problem])) or "ready"
    return Check("good" if member.problem is None else "warning", member.folder, text)
