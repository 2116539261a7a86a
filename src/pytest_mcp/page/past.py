"""What is recorded of the tests on a page: the last runs of those that failed and of the slowest.

Pure. In comes a content whose `past` is known, or None without a history; out comes a section, or nothing. The runs
are read in `history/last_results.py`.
"""

from collections.abc import Sequence
from statistics import median

from pytest_mcp.api.results import TestResult
from pytest_mcp.page import strip, timing
from pytest_mcp.page.content import Content
from pytest_mcp.page.strip import Result
from pytest_mcp.page.template import Markup, fill

MOST_FAILING = 50
_FAILED = ("F", "E")
_LETTERS = {"passed": "P", "failed": "F", "skipped": "S", "error": "E"}


def shown_ids(content: Content) -> list[str]:
    """One failing test of each cause first, then the others, then the slowest."""
    first = [cause.node_ids[0] for cause in content.causes if cause.node_ids]
    failing = list(dict.fromkeys([*first, *_failing(content)]))
    slowest = [bar.name for bar in timing.slowest_tests(content.tests)] if content.lists_every_test else []
    return list(dict.fromkeys([*failing[:MOST_FAILING], *slowest]))


def section(content: Content) -> Markup:
    if content.past is None:
        return Markup()
    now = {test.node_id: test for test in content.tests}
    rows = {name: _with_this_run(content.past.get(name, ()), now.get(name)) for name in shown_ids(content)}
    if not rows:
        return Markup()
    drawn = [strip.row(name, _words(content.past.get(name, ()), now.get(name)), row) for name, row in rows.items()]
    legend = f"One letter for each run, the oldest first and this one last: {strip.legend(list(rows.values()))}."
    strips = fill("strips.html", legend=f"{legend} The bar above a letter is how long the test took.", rows=drawn)
    return fill("section.html", id="past", title="Recorded runs", content=Markup("\n".join([strips, *_more(content)])))


def _failing(content: Content) -> list[str]:
    listed = [test.node_id for test in content.tests if _LETTERS[test.outcome] in _FAILED]
    return [*listed, *(node_id for cause in content.causes for node_id in cause.node_ids)]


def _with_this_run(earlier: Sequence[Result], now: TestResult | None) -> list[Result]:
    return [*earlier, *([] if now is None else [Result(_LETTERS[now.outcome], now.duration)])]


def _words(earlier: Sequence[Result], now: TestResult | None) -> str:
    took = "" if now is None else f"{now.duration:.3f} s"
    if not earlier:
        return ", ".join(filter(None, [took, "no earlier run is recorded"]))
    failed = sum(result.letter in _FAILED for result in earlier)
    passes = [result.seconds for result in earlier if result.letter == "P" and result.seconds is not None]
    usual = f"{median(passes):.3f} s when it passed" if passes else ""
    return ", ".join(filter(None, [took, usual, f"failed {failed} of {len(earlier)} times before"]))


def _more(content: Content) -> list[Markup]:
    more = len(set(_failing(content))) - MOST_FAILING
    return [fill("paragraph.html", text=f"{more:,} more failing tests are left out here.")] if more > 0 else []
