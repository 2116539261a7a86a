"""Whether a project's tests can run and, if not, the one thing to do first.

The facts behind it are listed in `explain`.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_mcp import text
from pytest_mcp.api.advice import Advice, Sentence, in_shell
from pytest_mcp.api.errors import CallError, ErrorType, ExecutionFailed
from pytest_mcp.api.requests import Request, Survey
from pytest_mcp.environment.surroundings import Surroundings, relative
from pytest_mcp.report import collection_errors
from pytest_mcp.run.events import CollectionFailed, Portrait
from pytest_mcp.run.run import Run

# The longest message in one line, in characters.
MAX_MESSAGE = 200
ELSEWHERE = Sentence(Advice("root", "Start the server in the project's folder, or name it with --root."))
# Followed by the command.
_BY_HAND = "Run it by hand to see the error: "
# pytest's words for two test files of one name, and the option that allows them.
_CLASH = "import file mismatch"
_IMPORTLIB = "--import-mode=importlib"
# The words of argparse, in all versions of Python and pytest.
_UNKNOWN_OPTIONS = re.compile(r"error: unrecognized arguments: (.+)")

# error → the problem, and what to do about it.
_FAILURES: Mapping[ErrorType, tuple[str, str]] = {
    "environment": ("no usable Python with pytest was found", ELSEWHERE),
    "usage_error": ("pytest rejects its configuration", "Correct what pytest names, in {settings}."),
    "timeout": (
        "the tests were not collected within {seconds} seconds",
        "Find what blocks in conftest.py or a test module at import, or raise --timeout.",
    ),
    "crash": ("pytest crashed before it had collected the tests", _BY_HAND),
    "interrupted": ("pytest was interrupted before it had collected the tests", _BY_HAND),
    "pytest_internal": ("pytest or one of its plugins failed with an internal error", _BY_HAND),
    "spawn_failure": ("no process could be started", "Free processes, memory or disk space on this machine."),
}


@dataclass(frozen=True)
class Standing:
    ready: bool
    summary: str
    next_step: str | None


def of_failure(error: CallError, run: Run[Survey] | None, around: Surroundings) -> Standing:
    """For a survey without a result; `run` is None if none began."""
    what, step = _FAILURES[error.error_type if isinstance(error, ExecutionFailed) else "usage_error"]
    fault = run.ledger.usage_fault if run else None
    settings = (fault.configuration if fault else None) or "its settings, a plugin or a conftest.py"
    if step == _BY_HAND:
        step = Sentence(_BY_HAND, in_shell(shlex.join(run.command) if run else ""))
    elif step != ELSEWHERE:
        step = step.format(settings=settings)
    summary = what.format(seconds=run.time_limit if run else None)
    return _not_ready(summary, _certain_help(error, run, around) or step)


def _certain_help(error: CallError, run: Run[Survey] | None, around: Surroundings) -> str | None:
    """What certainly helps. A folder that is no project gets no environment."""
    if unknown := _UNKNOWN_OPTIONS.search(error.message):
        return f"Install the plugin that defines {unknown[1]} into {_environment(run)}, or remove it from addopts."
    if not isinstance(error, ExecutionFailed):
        return None
    if error.error_type == "spawn_failure" and not around.temporary.writable:
        return "Set TMPDIR to a folder that can be written to."
    fix = error.fix
    return fix if fix is not None and (around.looks_like_a_project or fix.advice("python", "operator")) else None


def of_survey(run: Run[Survey], around: Surroundings) -> Standing:
    """For a survey with a result: the worst problem first."""
    ledger = run.ledger
    if ledger.collection_failures:
        return _uncollected(ledger.collection_failures, run, around)
    if ledger.imported_elsewhere:
        first = ledger.imported_elsewhere[0]
        step = f"Install this checkout as editable (pip install -e) into {_environment(run)}."
        what = f"the tests do not test the code here: {first.name} is imported from {first.file}"
        return _not_ready(what, around.installation or step)
    if not ledger.items:
        return _not_ready("no test was found", _where_tests_are(run, around))
    hello, count = ledger.hello, len(ledger.items)
    versions = "" if hello is None else f", Python {_minor(hello.python)}, pytest {_minor(hello.pytest or '')}"
    return Standing(True, f"Ready: {count} test{'s' if count > 1 else ''}{versions}", None)


def help_with(event: CollectionFailed, run: Run[Request], around: Surroundings) -> Sentence | None:
    """What certainly helps a file that cannot be collected."""
    error = collection_errors.collection_error(event)
    if _CLASH in error.message:
        return _by_importlib(run.ledger.portrait, around)
    if error.error_type.rpartition(".")[2] != "ModuleNotFoundError":
        return None
    missing = error.message.partition("'")[2].partition("'")[0].partition(".")[0]
    if missing in around.in_src:
        step = f"Install the project itself as editable into {_environment(run)}, or set pythonpath = src for pytest."
        return around.installation or Sentence(step)
    needs = f"Install what the project needs into {_environment(run)}: "
    return None if around.installation is None else Sentence(needs, around.installation)


def uncollected_line(event: CollectionFailed) -> str:
    """A collection error in one line: place, exception, message."""
    error = collection_errors.collection_error(event)
    place = error.file if error.line is None else f"{error.file}:{error.line}"
    return _line(f"{place}: {error.error_type}: {error.message}")


def _uncollected(broken: list[CollectionFailed], run: Run[Survey], around: Surroundings) -> Standing:
    files = "1 file" if len(broken) == 1 else f"{len(broken)} files"
    summary = f"{files} cannot be collected, first {uncollected_line(broken[0])}"
    error = collection_errors.collection_error(broken[0])
    correct = f"Correct {error.file}."
    if error.error_type == "ModuleNotFoundError":
        correct = f"Install what the project needs into {_environment(run)}, or correct the import."
    return _not_ready(summary, help_with(broken[0], run, around) or correct)


def _by_importlib(portrait: Portrait | None, around: Surroundings) -> Sentence:
    """Two test files have the same name, in folders without __init__.py."""
    if portrait is None or portrait.inifile is None:
        return in_shell(f"printf '[pytest]\\naddopts = {_IMPORTLIB}\\n' > pytest.ini")
    return Sentence(f"Add {_IMPORTLIB} to addopts in {_line(relative(portrait.inifile, around.root))}.")


def _where_tests_are(run: Run[Survey], around: Surroundings) -> str:
    ledger = run.ledger
    if ledger.selected is None:
        return "Remove the option from addopts that makes pytest list something else (--fixtures, --cache-show)."
    if ledger.deselected:
        return f"Change addopts, which deselects all {ledger.deselected} tests, or select tests by markers or keywords."
    if ledger.skipped_modules:
        return f"Provide what the test modules lack (they skip themselves): {_line(ledger.skipped_modules[0].reason)}"
    if not around.looks_like_a_project:
        return ELSEWHERE
    return "Write a first test in tests/test_NAME.py, or set testpaths and python_files to where the tests are."


def _not_ready(what: str, step: str) -> Standing:
    return Standing(False, f"Not ready: {what}", step)


def _environment(run: Run[Request] | None) -> str:
    return run.ledger.portrait.prefix if run and run.ledger.portrait else "the project's environment"


def _line(words: str) -> str:
    return text.cut_middle(" ".join(words.split()), MAX_MESSAGE, separator=" ")


def _minor(version: str) -> str:
    """3.12 of 3.12.1."""
    return ".".join(version.split(".")[:2])
