"""The answer of `explain_environment`.

Lists are bounded, and `omitted` counts what was left out. Whether the tests can run is decided in `readiness`, which
notices are added in `surroundings` and `report/notices`.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from pytest_mcp import text
from pytest_mcp.api import results
from pytest_mcp.api.errors import CallError, ExecutionFailed
from pytest_mcp.api.requests import Survey
from pytest_mcp.api.results import ExplainResult
from pytest_mcp.environment import readiness, surroundings
from pytest_mcp.environment.interpreters import Trial
from pytest_mcp.environment.surroundings import MAX_TEXT, Surroundings, relative
from pytest_mcp.python.interpreter import Candidate, short
from pytest_mcp.report import notices
from pytest_mcp.run.events import Portrait
from pytest_mcp.run.ledger import Ledger

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
# Of one sentence or error, in characters.
MAX_SENTENCE = 1000
# pytest's own `python_files`.
_USUAL_FILES = ["test_*.py", "*_test.py"]


def explained(trial: Trial[Survey], around: Surroundings) -> ExplainResult:
    run, error = trial.run, trial.error
    ledger = Ledger() if run is None else run.ledger
    if run is not None and error is None:
        standing, of_run, tests = readiness.of_survey(run, around), notices.discovery_notices(run), _tests(ledger)
    else:
        assert error is not None
        standing, of_run, tests = readiness.of_failure(error, run, around), notices.above_root(ledger), None
    of_host = surroundings.notices(around, ledger.portrait, len(ledger.items))
    foreign = ledger.imported_elsewhere[: SHOWN["imported_elsewhere"]]
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
        tests=tests,
        imported_elsewhere=[
            results.ForeignPackage(name=_cut(each.name), file=_cut(each.file), own=_cut(each.own)) for each in foreign
        ],
        git=around.git,
        temporary_folder=around.temporary,
        server=around.server,
        omitted=_omitted(trial, ledger),
        members=around.members and list(around.members.listed),
    )


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
