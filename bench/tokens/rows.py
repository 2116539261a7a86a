"""The rows: a project, a question, the largest answer in tokens, and what the answer must contain."""

from collections.abc import Callable
from dataclasses import dataclass

from bench.tokens import answers, projects, truth
from bench.tokens.answers import Question, call
from bench.tokens.projects import Project
from bench.tokens.transcripts import Typed
from bench.tokens.truth import Truth

# Differs by one letter from an existing test.
MISSING = "tests/test_orders.py::test_refund_is_rejected_for_a_canceled_order"
# In seconds, enough for all tests but the one that never ends.
TIMEOUT = 40


@dataclass(frozen=True)
class Subject:
    """The parts of a row. Created on demand, because ten thousand tests take time."""

    project: Project
    question: Question
    truth: Truth
    typed: Typed | None


@dataclass(frozen=True)
class Row:
    """`goal` is the most tokens that the answer may have; None is as many as `pytest -q` prints for it."""

    name: str
    what: str
    goal: int | None
    subject: Callable[[], Subject]


def executed(project: Project) -> Subject:
    return Subject(project, call("execute_tests"), truth.of_execution(project), Typed((), project.exit_code))


def listed(project: Project) -> Subject:
    return Subject(project, call("discover_tests"), truth.of_listing(project), Typed(("--collect-only",), 0))


def counted(project: Project) -> Subject:
    return Subject(project, call("discover_tests"), truth.of_counting(project), Typed(("--collect-only",), 0))


def refused(project: Project, node_id: str) -> Subject:
    question = call("execute_tests", read=answers.error, node_ids=[node_id])
    return Subject(project, question, truth.of_refusal(node_id), Typed((node_id,), 4))


def timed_out(project: Project) -> Subject:
    question = call("execute_tests", read=answers.error, timeout=TIMEOUT)
    return Subject(project, question, truth.of_timeout(project), None)


def explained(project: Project) -> Subject:
    return Subject(project, call("explain_environment"), truth.of_explanation(project), None)


def introduced(project: Project) -> Subject:
    return Subject(project, Question("tools/list", {}, answers.words_of_tools), truth.of_tools, None)


ROWS = {
    row.name: row
    for row in (
        Row("one-passing", "1 passing test", 100, lambda: executed(projects.passing(1))),
        Row("passing", "200 passing tests", 90, lambda: executed(projects.passing(200))),
        Row("one-failing", "1 failing test, one short assertion", 200, lambda: executed(projects.one_failing())),
        Row(
            "mixed",
            "200 passing, 3 failures (one with a diff of 25 lines), 1 fixture error, 2 skips, 1 xfail",
            700,
            lambda: executed(projects.mixed()),
        ),
        Row(
            "uncollected",
            "the same, with a syntax error in one file and an import error in another",
            220,
            lambda: executed(projects.uncollected()),
        ),
        Row("one-fixture", "200 errors of one broken fixture", 250, lambda: executed(projects.one_fixture(200))),
        Row(
            "deep",
            "100 failures of one cause, ten frames deep, each after 200 printed lines",
            900,
            lambda: executed(projects.deep(100)),
        ),
        Row(
            "noisy",
            "500 failures of 12 causes, with numbers, ids, addresses and folders that differ from test to test",
            4000,
            lambda: executed(projects.noisy(500)),
        ),
        Row("missing-id", "a node id that does not exist", 150, lambda: refused(projects.passing(200), MISSING)),
        Row(
            "timeout",
            "a timeout after 3,000 passing tests and 4 failures",
            600,
            lambda: timed_out(projects.hanging(3000)),
        ),
        Row("listed", "discovery of 156 tests, all listed", None, lambda: listed(projects.passing(156))),
        Row("counted", "discovery of 10,000 tests, counted", 8000, lambda: counted(projects.passing(10_000))),
        Row("explained", "the environment of 200 tests", 500, lambda: explained(projects.passing(200))),
        Row("tools", "`tools/list`: names, descriptions, input schemas", 1800, lambda: introduced(projects.passing(1))),
    )
}
