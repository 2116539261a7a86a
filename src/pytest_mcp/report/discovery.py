"""How much of a discovery is sent: every test while they fit, else counts for files, else for folders.

Pure: everything that was found, what the request says of detail and tokens, and the operator's ceiling in; the
answer out.
"""

from collections import Counter
from collections.abc import Iterator

from pytest_mcp.api.requests import DiscoverTests
from pytest_mcp.api.results import DiscoverResult, FileCount, OmittedTests
from pytest_mcp.report import collection_errors, last_resort
from pytest_mcp.report.token_limit import limit

# Folders further down are counted where this many folders lead to.
DEEPEST_FOLDER = 20


def fit_discovery(result: DiscoverResult, request: DiscoverTests, *, ceiling: int) -> DiscoverResult:
    fits = limit(request, ceiling)
    errors = [collection_errors.without_machinery(error) for error in result.collection_errors]
    listed = result if request.detail == "full" else result.model_copy(update={"collection_errors": errors})
    if fits(listed):
        return listed
    omitted = OmittedTests(tests=result.count, hint="narrow by path, markers or keywords, or raise max_tokens")
    counted = listed.model_copy(update={"tests": [], "omitted": omitted})
    for fewer in reversed(list(collection_errors.ever_fewer(result.collection_errors))):
        counted = counted.model_copy(update={"collection_errors": fewer})
        if fits(counted):
            break
    for counts in _ever_fewer(Counter(test.file for test in result.tests)):
        files = [FileCount(file=file, count=count) for file, count in counts.items()]
        counted = counted.model_copy(update={"files": files})
        if fits(counted):
            return counted
    for number in range(len(counted.notices) - 1, -1, -1):
        fewer_notices = counted.model_copy(update={"notices": last_resort.with_notices(counted.notices, number)})
        if fits(fewer_notices):
            return fewer_notices
    return next(filter(fits, last_resort.ever_less(counted)), counted)


def _ever_fewer(files: Counter[str]) -> Iterator[dict[str, int]]:
    """Counts for each file, then for folders, from the deepest to the root."""
    yield dict(files)
    deepest = min(max((file.count("/") for file in files), default=0), DEEPEST_FOLDER)
    for depth in range(deepest, -1, -1):
        folders: Counter[str] = Counter()
        for file, count in files.items():
            folders["/".join(file.split("/", DEEPEST_FOLDER + 1)[:-1][:depth]) + "/"] += count
        yield {folder if folder != "/" else "./": count for folder, count in folders.items()}
