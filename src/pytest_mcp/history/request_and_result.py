"""What `test_history` is asked and what it answers. Every key of an answer is always present, in this order.

How requests are checked is said in `api/requests.py`.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from pytest_mcp.api.parameters import NodeTarget, PathTarget, Tokens, Whole
from pytest_mcp.api.requests import Arguments
from pytest_mcp.api.results import Notices, OmittedTests, Shape
from pytest_mcp.api.targets import Target

DEFAULT_DAYS = 30
MAX_DAYS = 3_650
# The size limit of an answer, for calls without max_tokens.
DEFAULT_TOKENS = 1_500

About = Literal["flaky", "slow", "failing", "test"]


class TestHistory(Arguments):
    __test__ = False  # not a test class, whatever its name

    model_config = ConfigDict(json_schema_extra={"examples": [{"about": "flaky"}]})

    about: About = Field(
        description="flaky: both outcomes on the same code. slow: durations that changed, and the slowest."
        " failing: what fails now, and since when. test: the runs of node_id."
    )
    node_id: NodeTarget | None = Field(None, description="One test. Needed for about: test.", validate_default=True)
    path: PathTarget | None = Field(None, description="Only tests in this folder or file.")
    days: Annotated[int, Whole(1, MAX_DAYS)] = Field(DEFAULT_DAYS, description="How far to look back.")
    max_tokens: Tokens | None = Field(None, description=f"Largest answer in tokens. Default: {DEFAULT_TOKENS}.")

    @field_validator("node_id")
    @classmethod
    def _is_there_if_needed(cls, value: Target | None, info: ValidationInfo) -> Target | None:
        if value is None and info.data.get("about") == "test":
            raise ValueError("is needed for about: test")
        return value

    @field_validator("path")
    @classmethod
    def _one_place(cls, value: Target | None, info: ValidationInfo) -> Target | None:
        if value is not None and info.data.get("node_id") is not None:
            raise ValueError("cannot be set together with node_id")
        return value

    @property
    def place(self) -> str:
        """Which tests are asked about; empty for all."""
        target = self.node_id or self.path
        return "" if target is None else target.node_id


Time = Annotated[str | None, Field(description="UTC.")]
Code = Annotated[str | None, Field(description="The commit, with +changes if files differed from it.")]
Letters = Annotated[str, Field(description="P passed, F failed, E error, S skipped; the newest run last.")]


class FlakyTest(Shape):
    node_id: str
    failed: int
    runs: Annotated[int, Field(description="Runs that passed, or failed with this cause.")]
    pattern: Letters
    states: Annotated[int, Field(description="On how many versions of the code it both passed and failed.")]
    since: Time
    commit: Code
    also: Annotated[int, Field(description="How many more tests failed in exactly the same runs.")]
    hint: str | None


class ChangedDuration(Shape):
    """Seconds on a machine as fast as before: what slowed down all tests alike is subtracted."""

    name: Annotated[str, Field(description="A node id, or the arguments of a whole run.")]
    before: float
    now: float
    since: Time
    commit: Code
    runs: Annotated[int, Field(description="How many runs since then.")]

    @property
    def in_words(self) -> str:
        ratio = self.now / self.before
        return f"{max(ratio, 1 / ratio):.1f} times {'slower' if ratio > 1 else 'faster'}"


class SlowTest(Shape):
    node_id: str
    median: Annotated[float, Field(description="Seconds.")]


class Durations(Shape):
    changed: Annotated[list[ChangedDuration], Field(description="Tests that became slower or faster.")]
    suites: Annotated[list[ChangedDuration], Field(description="Whole runs that became slower or faster.")]
    slowest: list[SlowTest]


class FailingTests(Shape):
    """Tests that fail since the same run with the same cause."""

    count: int
    node_ids: Annotated[list[str], Field(description="Some of them.")]
    since: Time
    commit: Code
    runs: Annotated[int, Field(description="How many failures in a row.")]
    passed_at: Annotated[str | None, Field(description="The last commit at which it passed; null: none.")]
    failed_before: Annotated[int, Field(description="How many failures it had before that.")]
    hint: str | None


class OneTest(Shape):
    node_id: str
    pattern: Letters
    runs: int
    failed: int
    skipped: int
    quartiles: Annotated[list[float] | None, Field(description="Quartiles of its duration, in seconds.")]
    trend: Annotated[str, Field(description="How its duration changed.")]
    daily: Annotated[list[float], Field(description="The median of each day, the newest last.")]
    flaky: Annotated[str | None, Field(description="Why it counts as flaky.")]
    failing_since: Code


class HistoryResult(Shape):
    runs: Annotated[int, Field(description="How many recorded runs were read.")]
    flaky: list[FlakyTest] | None = Field(
        description="flaky, slow, failing and test: only the one that about names, the others null."
    )
    slow: Durations | None
    failing: list[FailingTests] | None
    test: OneTest | None
    notices: Notices
    omitted: OmittedTests | None
