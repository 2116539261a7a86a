"""The exit codes of `pytest-mcp run`, `discover`, `merge` and `investigate`. They are pytest's; only success is 0.

0  every selected test ran and none failed; or tests were listed, and every file could be collected; or the shard
   is empty because there are fewer files than shards
1  tests failed, or it is unknown whether they failed
2  the run did not finish: files could not be collected, an interruption, the time limit
3  an error outside the tests: in pytest, the process, the machine or pytest-mcp itself
4  usage error: the arguments or the project's configuration are invalid
5  no tests
"""

from collections.abc import Mapping

from pytest_mcp.api.errors import INTERNAL_ERROR, INVALID_PARAMS, CallError, ErrorType, ExecutionFailed
from pytest_mcp.api.results import DiscoverResult, Verdict
from pytest_mcp.report.report import Report
from pytest_mcp.terminal.output import USAGE_ERROR

PASSED = 0
FAILED = 1
INTERRUPTED = 2
BROKEN = 3
NO_TESTS = 5

OF_VERDICTS: Mapping[Verdict, int] = {"passed": PASSED, "failed": FAILED, "incomplete": FAILED, "no_tests": NO_TESTS}
# For these, pytest's own code is more precise, unless it is 0.
PREFER_PYTESTS_CODE: frozenset[Verdict] = frozenset({"failed", "incomplete"})
OF_ERROR_TYPES: Mapping[ErrorType, int] = {
    "interrupted": INTERRUPTED,
    "timeout": INTERRUPTED,
    "pytest_internal": BROKEN,
    "crash": BROKEN,
    "spawn_failure": BROKEN,
    "usage_error": USAGE_ERROR,
    "environment": USAGE_ERROR,
}
OF_OTHER_ERRORS: Mapping[int, int] = {INVALID_PARAMS: USAGE_ERROR, INTERNAL_ERROR: BROKEN}


def of_report(report: Report) -> int:
    if report.problem is not None:
        return of_error(report.problem)
    if report.is_empty_share:
        return PASSED  # the other shards have the tests; a CI job must not fail for that
    own = report.exit_code if report.verdict in PREFER_PYTESTS_CODE else 0
    return own or OF_VERDICTS[report.verdict]


def of_discovery(result: DiscoverResult) -> int:
    if result.collection_errors:
        return INTERRUPTED
    return PASSED if result.count else NO_TESTS


def of_error(error: CallError) -> int:
    return OF_ERROR_TYPES[error.error_type] if isinstance(error, ExecutionFailed) else OF_OTHER_ERRORS[error.code]
