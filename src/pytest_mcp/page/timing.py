"""Where the time went: the slowest tests and files, each with its share of the longest. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_mcp.api.results import TestResult

MOST_BARS = 10
# Shorter times say nothing.
LEAST_SECONDS = 0.001


class Bar(NamedTuple):
    name: str
    seconds: float
    # Of the longest bar, in percent.
    share: float


def slowest_tests(tests: Sequence[TestResult]) -> list[Bar]:
    return _bars({test.node_id: test.duration for test in tests})


def slowest_files(tests: Sequence[TestResult]) -> list[Bar]:
    seconds: Counter[str] = Counter()
    for test in tests:
        seconds[test.node_id.partition("::")[0]] += test.duration  # type: ignore[assignment]  # a sum of floats
    return _bars(seconds)


def _bars(seconds: Mapping[str, float]) -> list[Bar]:
    longest = sorted(seconds.items(), key=lambda pair: -pair[1])[:MOST_BARS]
    return [
        Bar(name, spent, round(100 * spent / longest[0][1], 1)) for name, spent in longest if spent >= LEAST_SECONDS
    ]
