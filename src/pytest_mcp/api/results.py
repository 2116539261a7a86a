"""The shapes of the answers. Every key is always present, in this order; absent is null.

The output schemas that clients see are derived from here. What the values are is decided in
`result` (from a run), `budget` (how much of it fits) and `explain` (from a survey).
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from pytest_mcp.config.model import MOST_SHARDS

Verdict = Literal["passed", "failed", "no_tests", "incomplete"]
Outcome = Literal["passed", "failed", "skipped", "error"]


# With detail auto, up to so many tests without a failure are listed: a targeted run shows each, a suite only counts.
LISTED_WITHOUT_FAILURE = 5


class Shape(BaseModel):
    # Each is built when it is used first: a command uses few of them, and building all takes a tenth of a second.
    model_config = ConfigDict(frozen=True, defer_build=True)


class Summary(Shape):
    total: int
    passed: int
    failed: int
    skipped: int
    errors: int
    duration: Annotated[float, Field(description="Seconds.")]


class TestResult(Shape):
    __test__ = False  # not a test class, whatever its name

    node_id: str
    outcome: Outcome
    duration: float
    message: Annotated[str | None, Field(description="Exception with its type, or the reason of a skip.")]
    traceback: Annotated[str | None, Field(description="The way to the failure, E lines, captured output.")]


class CollectionError(Shape):
    file: str
    error_type: str
    message: str
    line: int | None
    traceback: str | None
    also: Annotated[int, Field(description="How many more files have this cause.")]


class FailureGroup(Shape):
    """Failures that share one cause."""

    count: int
    message: str
    location: Annotated[str | None, Field(description="Where, or the places with counts.")]
    example: Annotated[int | None, Field(description="Index in tests of the one shown; null: none is.")]
    node_ids: Annotated[list[str] | None, Field(description="Some of the others, as different as can be.")]


class Omitted(Shape):
    """How much was left out, and which parameter brings it back."""

    passed: int
    skipped: int
    same_cause_failures: int
    text_characters: int
    hint: str


class OmittedTests(Shape):
    tests: int
    hint: str


class CoverageFile(Shape):
    """A file with lines that did not run: how many, and the first of them."""

    file: str
    count: int
    missed: list[str]
    # Null where the project does not measure branches.
    branches: list[str] | None


class OmittedCoverage(Shape):
    """Files with missed lines that are not listed."""

    files: int
    lines: int


class Coverage(Shape):
    summary: str
    percent: float | None
    # Why not everything ran that could have; null if it did.
    partial: str | None
    files: list[CoverageFile]
    # Changed source files that coverage.py has not measured.
    not_measured: list[str]
    omitted: OmittedCoverage | None


def _is_absent(value: object) -> bool:
    return value is None


class ExecuteResult(Shape):
    verdict: Annotated[Verdict, Field(description="passed only if every selected test ran and none failed.")]
    exit_code: int
    summary: Summary
    notices: list[str]
    collection_errors: list[CollectionError]
    failure_groups: list[FailureGroup]
    tests: list[TestResult]
    rerun: Annotated[dict[str, Any] | None, Field(description="Arguments that run the failures again.")]
    text_output: str
    json_report: dict[str, Any] | None
    omitted: Omitted | None
    # Only where it was asked for; nothing of it is announced, because every client would pay for that.
    coverage: Annotated[SkipJsonSchema[Coverage | None], Field(exclude_if=_is_absent)] = None


class PartialResult(ExecuteResult):
    """What had been reported when a run was cut short."""

    exit_code: int | None  # type: ignore[assignment]  # a run that did not end has no exit code
    running: list[str]
    not_run: int


class ShardFacts(Shape):
    """What `merge` needs to know of a shard. Null where the run did not get that far."""

    # Of this object; a newer one may have keys that change what the others mean.
    format: int
    index: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1, le=MOST_SHARDS)]
    tests: int | None
    total: int | None
    # Equal for shards of the same files with the same numbers of tests.
    division: str | None
    commit: str | None
    # Equal for calls with the same parameters that choose tests.
    selection: str | None
    # Modules that skip themselves on import: every shard imports all of them and counts each as a skipped test.
    skipped_modules: int


class ShardResult(ExecuteResult):
    """The answer of `run --shard`."""

    shard: ShardFacts

    @property
    def is_empty_share(self) -> bool:
        """Whether there are tests, but none for this shard, because there are fewer files than shards."""
        return self.verdict == "no_tests" and self.shard.tests == 0 and bool(self.shard.total)


class DiscoveredTest(Shape):
    node_id: str
    module: str
    class_name: Annotated[str | None, Field(alias="class")]
    function: str
    file: str
    line: int | None


class FileTests(Shape):
    file: str
    count: int
    tests: Annotated[list[str] | None, Field(description="name:line, with (n) for n parameter sets; null: counted.")]


class DiscoverResult(Shape):
    count: int
    notices: list[str]
    collection_errors: list[CollectionError]
    tests: list[DiscoveredTest]
    files: Annotated[list[FileTests], Field(description="Tests by file, when there are many.")]
    omitted: OmittedTests | None


class Interpreter(Shape):
    executable: str
    source: Annotated[str, Field(description="Where it was found.")]
    version: str | None
    prefix: str | None


class PassedOver(Shape):
    python: str
    source: str
    problem: str


class Pytest(Shape):
    version: str
    plugins: list[str] | None


class Settings(Shape):
    file: Annotated[str | None, Field(description="As seen from the root.")]
    rootdir: str
    testpaths: list[str]
    addopts: str
    markers: Annotated[list[str], Field(description="Those that the project registers.")]
    python_files: Annotated[list[str] | None, Field(description="null: pytest's own.")]


class CollectedTests(Shape):
    count: int
    deselected: int
    uncollected: Annotated[list[str], Field(description="Files that cannot be collected, and why.")]


class ForeignPackage(Shape):
    """A package of the project that was imported from elsewhere: the tests do not test the code here."""

    name: str
    file: str
    own: str


class Git(Shape):
    top_level: Annotated[str, Field(description="'.' is the root.")]
    main_checkout: Annotated[str | None, Field(description="If this is a linked worktree.")]


class TemporaryFolder(Shape):
    path: str | None
    writable: bool
    free_bytes: int | None


class Server(Shape):
    version: str
    python: str
    executable: str


class Member(Shape):
    """A member of a monorepo, as files show it: versions, and what keeps its tests from running."""

    folder: str
    python: str | None
    pytest: str | None
    problem: str | None


class OmittedEntries(Shape):
    """How many more there are."""

    candidates: int
    plugins: int
    testpaths: int
    markers: int
    python_files: int
    uncollected: int
    imported_elsewhere: int


class ExplainResult(Shape):
    ready: bool
    summary: str
    next_step: Annotated[str | None, Field(description="The one thing to do first; null when ready.")]
    problem: Annotated[str | None, Field(description="Why pytest could not collect the tests.")]
    notices: list[str]
    root: str
    interpreter: Interpreter | None
    candidates: Annotated[list[PassedOver], Field(description="Pythons that came first and cannot be used.")]
    pytest: Pytest | None
    config: Settings | None
    tests: CollectedTests | None
    imported_elsewhere: list[ForeignPackage]
    git: Git | None
    temporary_folder: TemporaryFolder
    server: Server
    omitted: OmittedEntries | None
    # Only at the root of a monorepo, if no path was asked for; not announced, as `coverage`.
    members: Annotated[SkipJsonSchema[list[Member] | None], Field(exclude_if=_is_absent)] = None
