"""The answer of a discovery: tests one by one while they are few, then by file, then counts.

What does not fit goes from the end: entries become names, names become counts, of files, then of folders.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pytest_mcp.api.requests import DiscoverTests
from pytest_mcp.api.results import DiscoveredTest, DiscoverResult, FileTests, OmittedTests
from pytest_mcp.process import additions
from pytest_mcp.report import collection_errors, fitting, notices, selection
from pytest_mcp.report.fitting import Fits
from pytest_mcp.run.run import Reach, Run

# More tests than this are listed by file, unless every test was asked for.
MAX_ENTRIES = 40
# Folders further down are counted where this many folders lead to.
DEEPEST_FOLDER = 20
HINT = "narrow by path, markers or keywords, or raise max_tokens"

Files = list[FileTests]
Shape = Callable[[Files], Files]


def whole_discovery(run: Run[DiscoverTests]) -> DiscoverResult:
    """All that was found."""
    sentences: list[str] = additions.made("notices", partial(notices.discovery_notices, run), instead=[])
    tests = [
        DiscoveredTest.model_validate(
            {
                "node_id": item.id,
                "module": _module(item.id),
                "class": "::".join(item.classes) or None,
                "function": item.function.partition("[")[0],
                "file": item.id.partition("::")[0],
                "line": item.line,
            }
        )
        for item in run.ledger.items
    ]
    return DiscoverResult(
        count=len(tests),
        notices=sentences,
        collection_errors=list(map(collection_errors.collection_error, run.ledger.collection_failures)),
        tests=tests,
        files=_ways(run, tests) if run.request.detail in ("tests", "full") else [],
        omitted=None,
    )


def _ways(run: Run[DiscoverTests], tests: Sequence[DiscoveredTest]) -> Files:
    """Why `changed` selected each file, whose tests are listed one by one."""
    ways = run.reach.ways if run.reach is not None else {}
    counts = Counter(test.file for test in tests)
    return [FileTests(file=file, count=counts[file], tests=[], why=ways[file]) for file in counts if file in ways]


def discovery_without_changes(reach: Reach) -> DiscoverResult:
    """Of a call for the tests that a change can reach, where nothing changed: nothing is collected."""
    return DiscoverResult(
        count=0, notices=[selection.nothing_changed(reach)], collection_errors=[], tests=[], files=[], omitted=None
    )


def _module(node_id: str) -> str:
    path = node_id.partition("::")[0]
    return path.rpartition(".")[0].replace("/", ".") if "." in path.rpartition("/")[2] else path.replace("/", ".")


def fit_discovery(result: DiscoverResult, request: DiscoverTests, *, ceiling: int) -> DiscoverResult:
    fits = fitting.limit(request, ceiling)
    if request.detail == "full" and fits(result):
        return result
    errors = list(collection_errors.ever_more(result.collection_errors)) or [[]]
    listed = result.model_copy(update={"collection_errors": errors[-1]})
    if (request.detail != "auto" or result.count <= MAX_ENTRIES) and fits(listed):
        return listed
    listing = _by_file if request.detail == "auto" else _one_by_one
    for fewer in reversed(errors):
        omitted = None if fewer is errors[-1] else OmittedTests(tests=0, hint=HINT)
        bare = result.model_copy(update={"collection_errors": fewer, "tests": [], "omitted": omitted})
        if (largest := listing(bare, result.tests, fits)) is not None:
            return largest
    total = FileTests(file="./", count=result.count, tests=None)
    omitted = OmittedTests(tests=result.count, hint=HINT)
    return fitting.smallest(bare.model_copy(update={"files": [total], "omitted": omitted}), fits)


def _one_by_one(bare: DiscoverResult, tests: Sequence[DiscoveredTest], fits: Fits) -> DiscoverResult | None:
    """As many entries as fit, and the other tests by name if there is room for every name, else counted."""

    def made(number: int, shape: Shape) -> DiscoverResult:
        rest = tests[number:]
        omitted = OmittedTests(tests=len(rest), hint=HINT) if rest else bare.omitted
        return bare.model_copy(update={"tests": tests[:number], "files": shape(_files(rest)), "omitted": omitted})

    shapes: list[Shape] = [list[FileTests], _counts]
    shapes += [partial(_folders, depth=depth) for depth in _depths(_files(tests))]
    for shape in shapes:
        if fits(made(0, shape)):
            return fitting.largest(len(tests), partial(made, shape=shape), fits)
    return None


def _by_file(bare: DiscoverResult, tests: Sequence[DiscoveredTest], fits: Fits) -> DiscoverResult | None:
    """The tests of as many files as fit and counts for the others; None if not even counts for folders fit."""
    files = _files(tests)
    counts = _counts(files)

    def made(number: int) -> DiscoverResult:
        omitted = bare.omitted if number == len(files) else _omitted(files[number:])
        return bare.model_copy(update={"files": [*files[:number], *counts[number:]], "omitted": omitted})

    if fits(made(0)):
        return fitting.largest(len(files), made, fits)
    by_folder = (_folders(files, depth) for depth in _depths(files))
    shared = (bare.model_copy(update={"files": folders, "omitted": _omitted(files)}) for folders in by_folder)
    return next(filter(fits, shared), None)


def _files(tests: Sequence[DiscoveredTest]) -> Files:
    """Each file with its tests as `Class::function:line`; one with parameters once, with their number behind it."""
    names: dict[str, Counter[str]] = {}
    for test in tests:
        owner = f"{test.class_name}::" if test.class_name else ""
        line = "" if test.line is None else f":{test.line}"
        names.setdefault(test.file, Counter())[f"{owner}{test.function}{line}"] += 1
    return [
        FileTests(
            file=file,
            count=sum(counted.values()),
            tests=[name if count == 1 else f"{name} ({count})" for name, count in counted.items()],
        )
        for file, counted in names.items()
    ]


def _counts(files: Files) -> Files:
    return [file.model_copy(update={"tests": None}) for file in files]


def _folders(files: Files, depth: int) -> Files:
    """Counts for folders that are so deep; those of deeper ones are in them."""
    counts: Counter[str] = Counter()
    for file in files:
        counts["/".join(file.file.split("/", DEEPEST_FOLDER + 1)[:-1][:depth]) or "."] += file.count
    return [FileTests(file=f"{folder}/", count=count, tests=None) for folder, count in counts.items()]


def _depths(files: Files) -> Iterator[int]:
    deepest = max((file.file.count("/") for file in files), default=0)
    return reversed(range(min(deepest, DEEPEST_FOLDER) + 1))


def _omitted(files: Files) -> OmittedTests:
    return OmittedTests(tests=sum(file.count for file in files), hint=HINT)
