"""How much of a discovery is sent: tests one by one while they are few, then by file, then counts.

Pure: everything that was found, what the request says of detail and tokens, and the operator's ceiling in; the answer
out. What does not fit goes from the end: the tests of the last files, then files shared by folder.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from pytest_mcp.api.reach import Reach
from pytest_mcp.api.requests import DiscoverTests
from pytest_mcp.api.results import DiscoveredTest, DiscoverResult, FileTests, OmittedTests
from pytest_mcp.report import collection_errors, truncation
from pytest_mcp.report.notices import changes
from pytest_mcp.report.tokens import Fits, limit

# More tests than this are listed by file, unless every test was asked for.
MOST_ENTRIES = 40
# Folders further down are counted where this many folders lead to.
DEEPEST_FOLDER = 20
HINT = "narrow by path, markers or keywords, or raise max_tokens"

Files = list[FileTests]


def fit_discovery(result: DiscoverResult, request: DiscoverTests, *, ceiling: int) -> DiscoverResult:
    fits = limit(request, ceiling)
    if request.detail == "full" and fits(result):
        return result
    errors = list(collection_errors.ever_fewer(result.collection_errors)) or [[]]
    listed = result.model_copy(update={"collection_errors": errors[-1]})
    if (request.detail != "auto" or result.count <= MOST_ENTRIES) and fits(listed):
        return listed
    for fewer in reversed(errors):
        bare = listed.model_copy(update={"collection_errors": fewer, "tests": []})
        if found := _by_file(bare, result.tests, fits):
            return found
    return _least(bare, result, fits)


def of_no_changes(reach: Reach) -> DiscoverResult:
    """Of a call for the tests that a change can reach, where nothing changed: nothing is collected."""
    notices = [changes.nothing(reach)]
    return DiscoverResult(count=0, notices=notices, collection_errors=[], tests=[], files=[], omitted=None)


def _by_file(bare: DiscoverResult, tests: Sequence[DiscoveredTest], fits: Fits) -> DiscoverResult | None:
    """The tests of as many files as fit and counts for the others; None if not even counts for folders fit."""
    files = _files(tests)
    counts = [file.model_copy(update={"tests": None}) for file in files]

    def whole(number: int) -> DiscoverResult:
        omitted = None if number == len(files) else _omitted(files[number:])
        return bare.model_copy(update={"files": [*files[:number], *counts[number:]], "omitted": omitted})

    if fits(whole(0)):
        return _largest(len(files), whole, fits)
    omitted = _omitted(files)
    folders = (bare.model_copy(update={"files": shared, "omitted": omitted}) for shared in _by_folder(files))
    return next(filter(fits, folders), None)


def _largest(most: int, made: Callable[[int], DiscoverResult], fits: Fits) -> DiscoverResult:
    """What is made of the largest number that fits; zero does."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if fits(made(middle)):
            least = middle
        else:
            most = middle - 1
    return made(least)


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
            count=sum(found.values()),
            tests=[name if count == 1 else f"{name} ({count})" for name, count in found.items()],
        )
        for file, found in names.items()
    ]


def _by_folder(files: Files) -> Iterator[Files]:
    """Counts for folders, from the deepest to the root."""
    deepest = min(max((file.file.count("/") for file in files), default=0), DEEPEST_FOLDER)
    for depth in range(deepest, -1, -1):
        folders: Counter[str] = Counter()
        for file in files:
            folders["/".join(file.file.split("/", DEEPEST_FOLDER + 1)[:-1][:depth]) or "."] += file.count
        yield [FileTests(file=f"{folder}/", count=count, tests=None) for folder, count in folders.items()]


def _omitted(files: Files) -> OmittedTests:
    return OmittedTests(tests=sum(file.count for file in files), hint=HINT)


def _least(bare: DiscoverResult, result: DiscoverResult, fits: Fits) -> DiscoverResult:
    """One count, and as many notices as fit."""
    omitted = OmittedTests(tests=result.count, hint=HINT)
    counted = bare.model_copy(
        update={"files": [FileTests(file="./", count=result.count, tests=None)], "omitted": omitted}
    )
    for number in range(len(counted.notices) - 1, -1, -1):
        fewer = counted.model_copy(update={"notices": truncation.first_notices(counted.notices, number)})
        if fits(fewer):
            return fewer
    return next(filter(fits, truncation.truncated(counted)), counted)
