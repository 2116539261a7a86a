"""The shapes of the answers. Every key is always present, in this order; absent is null.

The output schemas that clients see and docs/tools.md are derived from here.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WrapValidator

from pytest_mcp.api.advice import Sentence

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
    errors: int = Field(description="Failures in fixtures, and files that could not be collected.")
    duration: float = Field(description="Seconds.")


class TestResult(Shape):
    __test__ = False  # not a test class, whatever its name

    node_id: str
    outcome: Outcome
    duration: float
    message: str | None = Field(description="The exception with its type, or the reason for a skip.")
    traceback: str | None = Field(description="Frames, the exception's text, captured output.")


class CollectionError(Shape):
    file: str
    error_type: str = Field(description="The exception's class.")
    message: str
    line: int | None
    traceback: str | None
    also: int = Field(description="How many more files have this cause.")


# Keeps a sentence with advice in it as it is.
Worded = Annotated[str, WrapValidator(lambda given, check: given if isinstance(given, Sentence) else check(given))]
Notices = Annotated[list[Worded], Field(description="Read these before you trust the rest.")]
Uncollected = Annotated[list[CollectionError], Field(description="Files that cannot be imported, one for each cause.")]


class FailureGroup(Shape):
    """Failures that share one cause."""

    count: int
    message: str
    location: str | None = Field(description="Where it was raised; several places with their counts.")
    example: int | None = Field(description="Index in tests of a failure of this group; null: none is shown.")
    node_ids: list[str] | None = Field(description="Up to two more failures of this group.")


class Omitted(Shape):
    """How much was left out, and which parameter brings it back."""

    passed: int
    skipped: int
    same_cause_failures: int = Field(description="Counted in failure_groups only.")
    text_characters: int
    hint: str


class OmittedTests(Shape):
    """How many tests are not listed, and what to do about it."""

    tests: int
    hint: str


class CoverageFile(Shape):
    """A file with lines that did not run: how many, and the first of them."""

    file: str
    count: int
    missed: list[str] = Field(description="Lines that did not run, as 3-5.")
    branches: list[str] | None = Field(description="Branches not taken, as 3->5; null: not measured.")


class OmittedCoverage(Shape):
    """Files with missed lines that are not listed."""

    files: int
    lines: int


class Coverage(Shape):
    summary: str
    percent: float | None = Field(description="Lines that ran; of the changed lines, with coverage: changed.")
    partial: str | None = Field(description="Why other tests did not run; null: all ran.")
    files: list[CoverageFile]
    not_measured: list[str] = Field(description="Changed files that coverage.py has not measured.")
    omitted: OmittedCoverage | None


class NamedTests(Shape):
    """How many tests, and those of them that fit."""

    count: int
    node_ids: list[str]


class AgainstBase(Shape):
    """The tests of this run, compared with another commit. A group that is null was not looked for."""

    ref: str
    new: NamedTests | None = Field(description="Failing tests that pass there, or are not there.")
    old: NamedTests | None = Field(description="That fail there in the same way.")
    changed: NamedTests | None = Field(description="That fail there in another way.")
    mended: NamedTests | None = Field(description="That fail there and pass now.")


class Spent(Shape):
    name: str
    seconds: float
    calls: int


class FixtureTime(Shape):
    name: str
    scope: str
    place: str
    seconds: float = Field(description="Its setup.")
    calls: int
    teardown: float
    sleeping: float = Field(description="In time.sleep, part of its setup.")
    slowest: str = Field(description="For which test.")


class TestTime(Shape):
    __test__ = False

    node_id: str
    setup: float
    call: float
    teardown: float
    sleeping: float


class Timing(Shape):
    """Where the time went, in seconds, longest first."""

    saving: str = Field(description="The largest one.")
    seconds: float
    before_tests: float = Field(description="Until the first test.")
    workers: int = Field(description="Of pytest-xdist, added up.")
    parts: list[Spent]
    imports: list[Spent] = Field(description="Own modules; other packages as a whole.")
    collection: list[Spent] = Field(description="Without imports.")
    fixtures: list[FixtureTime]
    tests: list[TestTime]
    functions: list[Spent] = Field(description="With several sets of parameters.")
    sleeps: list[Spent] = Field(description="time.sleep, by place.")


def _is_absent(value: object) -> bool:
    return value is None


class ExecuteResult(Shape):
    verdict: Verdict = Field(description="passed only if every selected test ran and none failed.")
    exit_code: int = Field(description="Of pytest.")
    summary: Summary
    notices: Notices
    collection_errors: Uncollected
    failure_groups: list[FailureGroup] = Field(
        description="Causes with several failures, and causes not shown in tests."
    )
    tests: list[TestResult] = Field(description="Failures, then passed and skipped tests if they are few.")
    rerun: dict[str, Any] | None = Field(description="Arguments that run the failures again.")
    text_output: str = Field(description="What pytest printed and no other key has; with detail full, all of it.")
    json_report: dict[str, Any] | None = Field(
        description="In the format of pytest-json-report; only with detail full."
    )
    omitted: Omitted | None
    coverage: Annotated[Coverage | None, Field(description="There only if asked for.", exclude_if=_is_absent)] = None
    base: Annotated[AgainstBase | None, Field(description="There only if asked for.", exclude_if=_is_absent)] = None
    timing: Annotated[Timing | None, Field(description="There only if asked for.", exclude_if=_is_absent)] = None


class PartialResult(ExecuteResult):
    """What had been reported when a run was cut short."""

    exit_code: int | None  # type: ignore[assignment]  # a run that did not end has no exit code
    running: list[str]
    not_run: int


class DiscoveredTest(Shape):
    node_id: str
    module: str = Field(description="Dotted.")
    class_name: Annotated[str | None, Field(alias="class", description="Outer::Inner if nested.")]
    function: str = Field(description="Without parameters.")
    file: str
    line: int | None


class FileTests(Shape):
    file: str = Field(description="A file, or a folder if there are too many files.")
    count: int
    tests: Annotated[
        list[str] | None, Field(description="name:line, with (n) for n sets of parameters; null: only counted.")
    ]
    why: Annotated[
        str | None,
        Field(
            description="There only with `changed`: the shortest way from this file to the change.",
            exclude_if=_is_absent,
        ),
    ] = None


class DiscoverResult(Shape):
    count: int = Field(description="All tests, listed or not.")
    notices: Notices
    collection_errors: Uncollected
    tests: list[DiscoveredTest] = Field(description="Empty if they are listed in files.")
    files: list[FileTests] = Field(description="Tests by file, when there are many.")
    omitted: OmittedTests | None


class Interpreter(Shape):
    executable: str
    source: str = Field(description="Where it was found.")
    version: str | None
    prefix: str | None = Field(description="Its environment's folder.")


class PassedOver(Shape):
    python: str
    source: str
    problem: str


class Pytest(Shape):
    version: str
    plugins: list[str] | None = Field(description="Installed plugins, with versions.")


class Settings(Shape):
    file: str | None = Field(description="Relative to the root.")
    rootdir: str = Field(description="pytest's rootdir, relative to the root.")
    testpaths: list[str]
    addopts: str
    markers: list[str] = Field(description="Marks that the project registers.")
    python_files: list[str] | None = Field(description="null: pytest's default.")


class CollectedTests(Shape):
    count: int
    deselected: int = Field(description="Deselected by the project's own settings.")
    uncollected: list[str] = Field(description="Files that cannot be collected, and why.")


class ForeignPackage(Shape):
    """A package of the project that was imported from elsewhere: the tests do not test the code here."""

    name: str
    file: str = Field(description="The file that was imported.")
    own: str = Field(description="The project's own file.")


class Git(Shape):
    top_level: str = Field(description="Relative to the root.")
    main_checkout: str | None = Field(description="Set if this is a linked worktree.")


class TemporaryFolder(Shape):
    path: str | None
    writable: bool
    free_bytes: int | None


class AroundServer(Shape):
    by: str
    writable: list[str]
    lost: list[str] = Field(description="Writable, but in memory and gone with the server.")
    network: Literal["open", "proxy", "none"] = Field(description="Besides loopback.")
    unix_sockets: bool


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
    ready: bool = Field(description="Whether the tests can run.")
    summary: str
    next_step: Worded | None = Field(description="The one thing to do first; null when ready.")
    problem: str | None = Field(description="Why pytest could not collect the tests.")
    notices: Notices
    root: str
    interpreter: Interpreter | None
    candidates: list[PassedOver] = Field(description="Pythons that were tried first and cannot be used.")
    pytest: Pytest | None
    config: Settings | None
    tests: CollectedTests | None
    imported_elsewhere: list[ForeignPackage]
    git: Git | None
    temporary_folder: TemporaryFolder = Field(description="Where runs keep their records.")
    server: Server = Field(description="pytest-mcp itself.")
    omitted: OmittedEntries | None
    members: Annotated[
        list[Member] | None,
        Field(description="There only at the root of a monorepo, if path is not set.", exclude_if=_is_absent),
    ] = None
    sandbox: Annotated[
        AroundServer | None,
        Field(description="There only if the server, and every run, is in one.", exclude_if=_is_absent),
    ] = None
