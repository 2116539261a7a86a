"""How much of a discovery is sent: every test if they fit, otherwise counts per file, otherwise counts per folder.

Pure: the complete result, the request's detail and max_tokens, and the operator's ceiling in; the answer out.
"""

from collections import Counter
from collections.abc import Iterator

from pytest_mcp.api.requests import DiscoverTests
from pytest_mcp.api.results import DiscoverResult, FileCount, OmittedTests
from pytest_mcp.report import collection_errors, tokens, truncation

# Tests in deeper folders count for their ancestor at this depth.
DEEPEST_FOLDER = 20


def fit_discovery(result: DiscoverResult, request: DiscoverTests, *, ceiling: int) -> DiscoverResult:
    fits = tokens.limit(request, ceiling)
    errors = [collection_errors.without_outside_frames(error) for error in result.collection_errors]
    listed = result if request.detail == "full" else result.model_copy(update={"collection_errors": errors})
    if fits(listed):
        return listed
    omitted = OmittedTests(tests=result.count, hint="narrow by path, markers or keywords, or raise max_tokens")
    counted = listed.model_copy(update={"tests": [], "omitted": omitted})
    for fewer in collection_errors.reduced(errors):
        counted = counted.model_copy(update={"collection_errors": fewer})
        if fits(counted):
            break
    for counts in _counts(Counter(test.file for test in result.tests)):
        files = [FileCount(file=file, count=count) for file, count in counts.items()]
        counted = counted.model_copy(update={"files": files})
        if fits(counted):
            return counted
    for number in range(len(counted.notices) - 1, -1, -1):
        fewer_notices = counted.model_copy(update={"notices": truncation.first_notices(counted.notices, number)})
        if fits(fewer_notices):
            return fewer_notices
    return next(filter(fits, truncation.truncated(counted)), counted)


def _counts(files: Counter[str]) -> Iterator[dict[str, int]]:
    """Counts per file, then per folder, from the deepest folders to the root."""
    yield dict(files)
    deepest = min(max((file.count("/") for file in files), default=0), DEEPEST_FOLDER)
    for depth in range(deepest, -1, -1):
        folders: Counter[str] = Counter()
        for file, count in files.items():
            folders["/".join(file.split("/", DEEPEST_FOLDER + 1)[:-1][:depth]) + "/"] += count
        yield {folder if folder != "/" else "./": count for folder, count in folders.items()}
