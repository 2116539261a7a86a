"""Notices on selection: why no test was selected, or not the tests that were meant. One sentence for each cause.

Pure. In come the request and what the child reported about the project. Notices on the tests that ran are in
`execution`.
"""

from difflib import get_close_matches

from pytest_mcp.api import expressions
from pytest_mcp.api.requests import Request
from pytest_mcp.api.targets import MAX_LENGTH
from pytest_mcp.report import targets_not_run
from pytest_mcp.run.events import NothingSelected
from pytest_mcp.run.run import Run
from pytest_mcp.text import few, in_line, label, quoted

# A mark that may have been meant is searched among this many marks of at most this length.
MOST_MARKS = 500
LONGEST_MARK = 60


def of_run(run: Run[Request]) -> list[str]:
    return [
        *_nothing_selected(run),
        *_missed(run),
        *_unknown_marks(run),
        *_chosen_from_cache(run),
        *_doctests_left_out(run),
        *_unaskable(run),
    ]


def _nothing_selected(run: Run[Request]) -> list[str]:
    ledger = run.ledger
    if ledger.selected != 0 or ledger.collection_failures or ledger.skipped_modules:
        return []
    if ledger.divided is not None and ledger.divided.total:
        return []  # `shards` says why
    if ledger.unreached is not None and ledger.unreached.count:
        return []  # the notice on `changed` says it
    if ledger.deselected:
        by = " and ".join(_filters(run))
        found = f"{ledger.deselected} were collected and all were deselected by {by}"
        return [f"No test was selected: {found}{_names_meant(run)}."]
    if ledger.nothing_selected is None:
        # xdist's workers do not report what they deselected if they lack our plugin.
        asked = " and ".join(targets_not_run.asked_filters(run.request))
        return [f"No test was selected: pytest collected none{f' matching {asked}' if asked else ''}."]
    return [f"No test was selected: pytest collected none {_where(run, ledger.nothing_selected)}."]


def _names_meant(run: Run[Request]) -> str:
    known = run.ledger.nothing_selected
    near = known.near if known and run.request.keywords else []
    return f"; similar names: {few(map(quoted, dict.fromkeys(near)))}" if near else ""


def _missed(run: Run[Request]) -> list[str]:
    """One sentence for each cause. A run without any test has a notice of its own."""
    if not run.ledger.tests:
        return []
    targets: dict[str, list[str]] = {}
    for each in targets_not_run.missed(run.request, run.ledger):
        targets.setdefault(_why_missed(each), []).append(each.node_id)
    return [
        f"Named in the call, but no test of it ran: {few(map(label, names))}; {why}." for why, names in targets.items()
    ]


def _why_missed(target: targets_not_run.Missed) -> str:
    if not target.by:
        return "pytest found no test there"
    options = [by for by in target.by if by.startswith("-")]
    code = [by for by in target.by if not by.startswith("-")]
    own = [f"the project's own options (addopts: {few(map(quoted, options))})"] if options else []
    return f"left out by {' and '.join([*own, *([_code(code)] if code else [])])}"


def _code(files: list[str]) -> str:
    return f"the project's own code or a plugin ({few(map(quoted, files))})"


def _filters(run: Run[Request]) -> list[str]:
    """What may have deselected tests: the call, the project's options, or its code if it was neither of them."""
    asked = targets_not_run.asked_filters(run.request)
    known = run.ledger.nothing_selected
    if known is None:
        return asked or ["the project's own options (addopts)"]
    replaced = tuple(targets_not_run.FILTERS[name] for name in asked)
    options = [option for option in known.options if not option.startswith((*replaced, "--ignore"))]
    own = [f"the project's own options (addopts: {few(map(quoted, options))})"] if options else []
    return [*asked, *own] or ["the project's own code (a conftest.py or a plugin)"]


def _where(run: Run[Request], known: NothingSelected) -> str:
    places = "there" if run.request.targets else f"in {few(map(quoted, known.places))}"
    patterns = f"python_files ({quoted(' '.join(known.patterns))})"
    if known.matching:
        found = f"{known.matching} file(s) match {patterns}, but no test was found in them"
    else:
        found = f"no file matches {patterns}; {known.others} other .py file(s) are there"
    ignored = [option for option in known.options if option.startswith("--ignore")]
    return f"{places}: {found}" + (
        f"; the project's options ignore some: {few(map(quoted, ignored))}" if ignored else ""
    )


def _unknown_marks(run: Run[Request]) -> list[str]:
    """Reported even if tests were selected: `not slwo` selects the slow ones too."""
    marks, expression = run.ledger.marks, run.request.markers
    if marks is None or expression is None:
        return []
    known = sorted({*marks.registered, *marks.used})
    return [
        f"No collected test has the mark {quoted(name)}, and it is not registered{_suggestion(name, known)}"
        for name in dict.fromkeys(expressions.names(expression))
        if name not in known
    ]


def _suggestion(name: str, known: list[str]) -> str:
    """What is near regardless of case: `SLOW` is not `slow` for pytest."""
    short = [each for each in known if len(each) <= LONGEST_MARK][:MOST_MARKS]
    lower = {each.lower() for each in short}
    near = get_close_matches(name.lower(), sorted(lower)) if len(name) <= LONGEST_MARK else []
    close = [each for found in near for each in short if each.lower() == found]
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else "."


def _chosen_from_cache(run: Run[Request]) -> list[str]:
    told = run.ledger.from_cache
    if told is None:
        return []
    others = "others did not run" if told.certain else "others may not have run"
    options = few(map(in_line, told.options))
    # The command has only options that were typed at `pytest-mcp run`.
    who = "The command line chooses" if "--last-failed" in run.command else "The project's addopts choose"
    return [f"{who} tests by what failed last time ({options}); {others}."]


def _doctests_left_out(run: Run[Request]) -> list[str]:
    left_out = run.ledger.doctests_left_out
    if left_out is None:
        return []
    if left_out.count is None:
        why = "because the call names a folder that the project's own collection does not reach"
        return [f"Under xdist, no doctests of modules were collected, {why}."]
    first = quoted(left_out.first or "")
    why = "the project's own collection (testpaths, norecursedirs, collect_ignore) does not reach them"
    return [f"The doctests of {left_out.count} module(s) were left out and not imported, first {first}: {why}."]


def _unaskable(run: Run[Request]) -> list[str]:
    ids = run.ledger.unaskable
    if not ids:
        return []
    why = "their paths lead out of the root through a symlink, or have characters that a call cannot name ([, ::)"
    instead = "name a folder above them"
    if all(len(node_id) > MAX_LENGTH for node_id in ids):
        why, instead = f"they have more than {MAX_LENGTH:,} characters", "leave out their parameters"
    return [f"{len(ids)} test(s) cannot be run by their ids, first {quoted(ids[0])}: {why}; {instead}."]
