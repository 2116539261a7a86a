"""Which tests a call meant and which ran: targets that did not run, and the notices on the selection.

A target is a node id, a file or a folder. It has run if at least one of its tests ran, or if the module that it names
skipped itself. What left a target out is reported by the child.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from pytest_mcp.api import did_you_mean, expressions
from pytest_mcp.api.requests import ExecuteTests, Request
from pytest_mcp.api.targets import MAX_LENGTH, Target
from pytest_mcp.run.events import NothingSelected
from pytest_mcp.run.ledger import Ledger
from pytest_mcp.run.run import Reach, Run
from pytest_mcp.text import few, in_line, label, quoted

# The pytest option of each filter of a request. It replaces the project's option of the same name.
_FILTERS = {"markers": "-m ", "keywords": "-k "}


@dataclass(frozen=True)
class MissedTarget:
    """A target of which no test ran: how many tests were found, and what left them out (empty if none was found)."""

    node_id: str
    found: int
    by: tuple[str, ...]


def missed_targets(request: Request, ledger: Ledger) -> list[MissedTarget]:
    """The targets that did not run, except those that only the call's own filters left out."""
    own = (*(_FILTERS[name] for name in _asked_filters(request)), *(["--lf"] if _is_last_failed(request) else []))
    missed = [MissedTarget(target.node_id, 0, ("unknown",)) for target in unexplained(request, ledger)]
    for target in unrun(request, ledger):
        left_out = ledger.left_out.get(target.node_id)
        by_others = tuple(by for by in left_out.by if not by.startswith(own)) if left_out else ()
        if left_out and (by_others or not left_out.by):
            missed.append(MissedTarget(target.node_id, left_out.found, by_others))
    return missed


def unexplained(request: Request, ledger: Ledger) -> list[Target]:
    """The targets that did not run in a complete session that never compared targets with collected tests (xdist)."""
    if ledger.ended is None or ledger.compared or ledger.collection_failures or ledger.not_run:
        return []
    return unrun(request, ledger)


def unrun(request: Request, ledger: Ledger) -> list[Target]:
    skipped = {module.id for module in ledger.skipped_modules}
    by_name = {target.node_id: target for _, target in request.targets}
    left = dict.fromkeys(by_name)
    for node_id in (*ledger.tests, *skipped):
        if not left:
            return []
        for name in _selecting(node_id):
            left.pop(name, None)
    return [by_name[name] for name in left if by_name[name].relative not in skipped]


def _selecting(node_id: str) -> Iterator[str]:
    """Every target that selects this test: folders, file, classes, the test with and without its parameters."""
    path, _, names = node_id.partition("::")
    yield from (".", path, node_id)
    yield from (path[: match.start()] for match in re.finditer("/", path))
    plain = names.partition("[")[0]
    # pytest-xdist appends @ and the test's group to its id.
    ends = (*(match.start() for match in re.finditer("::", plain)), len(plain), plain.find("@"), names.rfind("@"))
    yield from (f"{path}::{names[:end]}" for end in ends if end >= 0)


def selection_notices(run: Run[Request]) -> list[str]:
    """Why no test was selected, or not the tests that were meant. One sentence for each cause."""
    return [
        *_nothing_selected(run),
        *_missed(run),
        *_unknown_marks(run),
        *_chosen_from_cache(run),
        *_doctests_left_out(run.ledger),
        *_unaskable(run.ledger),
    ]


def _nothing_selected(run: Run[Request]) -> list[str]:
    ledger, nothing = run.ledger, run.ledger.nothing_selected
    if ledger.selected != 0 or ledger.collection_failures or ledger.skipped_modules:
        return []
    if ledger.divided is not None and ledger.divided.total:
        return []  # the notice on the shard says why
    if (ledger.unreached is not None and ledger.unreached.count) or _is_last_failed(run.request):
        return []  # the notice on `changed` or `last_failed` says it
    if ledger.deselected:
        by = " and ".join(_deselecting(run))
        why = f"{ledger.deselected} were collected and all were deselected by {by}"
    elif nothing is not None:
        why = f"pytest collected none {_where(run, nothing)}"
    else:
        # xdist's workers do not report what they deselected if they lack our plugin.
        asked = " and ".join(_asked_filters(run.request))
        why = f"pytest collected none{f' matching {asked}' if asked else ''}"
    return [f"No test was selected: {why}."]


def _asked_filters(request: Request) -> list[str]:
    return [name for name in _FILTERS if getattr(request, name) is not None]


def _deselecting(run: Run[Request]) -> list[str]:
    """What may have deselected tests: the call, the project's options, or its code if it was neither of them."""
    asked = _asked_filters(run.request)
    nothing = run.ledger.nothing_selected
    if nothing is None:
        return asked or ["the project's own options (addopts)"]
    replaced = tuple(_FILTERS[name] for name in asked)
    options = [option for option in nothing.options if not option.startswith((*replaced, "--ignore"))]
    return [*asked, *_own_options(options)] or ["the project's own code (a conftest.py or a plugin)"]


def _own_options(options: list[str]) -> list[str]:
    return [f"the project's own options (addopts: {few(map(quoted, options))})"] if options else []


def _where(run: Run[Request], nothing: NothingSelected) -> str:
    places = "there" if run.request.targets else f"in {few(map(quoted, nothing.places))}"
    ignored = [option for option in nothing.options if option.startswith("--ignore")]
    by_options = f"; the project's options ignore some: {few(map(quoted, ignored))}" if ignored else ""
    return f"{places}; python_files is {quoted(' '.join(nothing.patterns))}{by_options}"


def _missed(run: Run[Request]) -> list[str]:
    """One sentence for each cause. A run without any test has a notice of its own."""
    if not run.ledger.tests:
        return []
    targets: dict[str, list[str]] = {}
    for target in missed_targets(run.request, run.ledger):
        targets.setdefault(_why_missed(target), []).append(target.node_id)
    return [
        f"Named in the call, but no test of it ran: {few(map(label, names))}; {why}." for why, names in targets.items()
    ]


def _why_missed(target: MissedTarget) -> str:
    if not target.by:
        return "pytest found no test there"
    options = [by for by in target.by if by.startswith("-")]
    files = [by for by in target.by if not by.startswith("-")]
    code = [f"the project's own code or a plugin ({few(map(quoted, files))})"] if files else []
    return f"left out by {' and '.join([*_own_options(options), *code])}"


def _unknown_marks(run: Run[Request]) -> list[str]:
    """Reported even if tests were selected: `not slwo` selects the slow ones too."""
    marks, expression = run.ledger.marks, run.request.markers
    if marks is None or expression is None:
        return []
    known = sorted({*marks.registered, *marks.used})
    unknown = [name for name in dict.fromkeys(expressions.names(expression)) if name not in known]
    near = [did_you_mean.nearest(name, known) for name in unknown[: did_you_mean.MAX_ASKED]]
    return [
        f"No collected test has the mark {quoted(name)}, and it is not registered"
        + (f"; did you mean {quoted(meant)}?" if meant else ".")
        for name, meant in zip_longest(unknown, near)
    ]


def _is_last_failed(request: Request) -> bool:
    return isinstance(request, ExecuteTests) and request.last_failed


def _last_failed(run: Run[Request]) -> list[str]:
    """How many of how many. pytest runs all where none of the failures that it remembers is among the chosen tests."""
    cache, ledger = run.ledger.remembered, run.ledger
    if cache is None or ledger.selected is None:
        return []
    if not cache.failures:
        return ["last_failed: pytest's cache remembers no failure, so nothing ran."]
    if ledger.selected > cache.failures and ledger.from_cache is None:
        return [f"last_failed: none of {cache.failures} remembered failures is here, so pytest ran everything chosen."]
    total = max(cache.tests, ledger.selected + ledger.deselected)
    return [f"last_failed: {ledger.selected} of {total} tests; not a run of the whole suite."]


def _chosen_from_cache(run: Run[Request]) -> list[str]:
    if _is_last_failed(run.request):
        return _last_failed(run)
    chosen = run.ledger.from_cache
    if chosen is None:
        return []
    # The command has only options that were typed at `pytest-mcp run`.
    who = "The command line chooses" if "--last-failed" in run.command else "The project's addopts choose"
    return [f"{who} tests by what failed last time ({few(map(in_line, chosen.options))}); others did not run."]


def _doctests_left_out(ledger: Ledger) -> list[str]:
    left_out = ledger.doctests_left_out
    if left_out is None:
        return []
    first = quoted(left_out.first)
    why = "the project's own collection (testpaths, norecursedirs, collect_ignore) does not reach them"
    return [f"The doctests of {left_out.count} module(s) were left out and not imported, first {first}: {why}."]


def _unaskable(ledger: Ledger) -> list[str]:
    ids = ledger.unaskable
    if not ids:
        return []
    why = "their paths lead out of the root through a symlink, or have characters that a call cannot name ([, ::)"
    instead = "name a folder above them"
    if all(len(node_id) > MAX_LENGTH for node_id in ids):
        why, instead = f"they have more than {MAX_LENGTH:,} characters", "leave out their parameters"
    return [f"{len(ids)} test(s) cannot be run by their ids, first {quoted(ids[0])}: {why}; {instead}."]


def nothing_changed(reach: Reach) -> str:
    return f"changed since {in_line(reach.since)}: no file, so no test was selected."


def change_notices(run: Run[Request]) -> list[str]:
    """How many tests a change can reach, or why all. Such an answer never reads like one about the whole suite."""
    reach, ledger = run.reach, run.ledger
    if reach is None or ledger.selected is None:
        return []
    since = f"changed since {in_line(reach.since)}"
    if (why := _why_everything(reach, ledger)) is not None:
        return [f"{since}: everything, because {why}."]
    executes = isinstance(run.request, ExecuteTests)
    total = ledger.selected + (ledger.unreached.count if ledger.unreached else 0)
    files = "1 file" if reach.changed == 1 else f"{reach.changed} files"
    whole = "a run of the whole suite" if executes else "the whole suite"
    share = f"{since}: {ledger.selected} of {total} tests can be reached ({files} changed); not {whole}."
    always = f" Every change reaches {few(reach.always)}." if reach.always else ""
    return [share + always, *(_unreached_targets(run) if executes else [])]


def _why_everything(reach: Reach, ledger: Ledger) -> str | None:
    if reach.reason is not None:
        return reach.reason
    if ledger.unreached is None:
        return "pytest-xdist's workers chose the tests themselves"
    return reach.hub if ledger.unreached.count == 0 and ledger.selected else None


def _unreached_targets(run: Run[Request]) -> list[str]:
    """What the call names and the change cannot reach. It is no target that was missed."""
    missed = {target.node_id for target in missed_targets(run.request, run.ledger)}
    names = [target.node_id for target in unrun(run.request, run.ledger)]
    left_out = [label(name) for name in names if name not in missed]
    return [f"Named in the call, but not reached by the change: {few(left_out)}."] if left_out else []
