"""What `investigate_failure` is asked and what it answers. Every key of an answer is always present, in this order."""

from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
)

from pytest_mcp.api import targets
from pytest_mcp.api.advice import Advice, Sentence
from pytest_mcp.api.parameters import GitRef, NodeTarget, Seconds, Whole, to_node_ids
from pytest_mcp.api.requests import Arguments, DiscoverTests
from pytest_mcp.api.results import Notices, Shape
from pytest_mcp.api.targets import NAME_ALONE, Target

DEFAULT_RUNS = 5
LEAST_RUNS = 2
MAX_RUNS = 50
MAX_TESTS = 100

Kind = Literal["deterministic", "flaky", "order_dependent", "passes", "hangs", "pre_existing", "inconclusive"]
# For people.
KINDS_IN_WORDS: dict[Kind, str] = {
    "deterministic": "fails always",
    "flaky": "flaky",
    "order_dependent": "depends on the order of the tests",
    "passes": "passes",
    "hangs": "hangs",
    "pre_existing": "fails at the base too",
    "inconclusive": "inconclusive",
}
# It passes alone and fails after these tests, or it fails alone and passes after them.
Effect = Literal["fails_after", "fails_without"]


def _explain_name(given: Any, parse: ValidatorFunctionWrapHandler) -> Any:
    """This tool has no keywords, so it says which tool finds the file of a name."""
    try:
        return parse(given)
    except ValidationError as error:
        refusal = error.errors()[0].get("ctx", {}).get("error")
        if not isinstance(refusal, ValueError) or targets.explained(refusal) != NAME_ALONE:
            raise
        name = given.partition("::")[0]
        listing = Advice("typed", f"discover_tests with keywords {name}", (f"pytest-mcp discover -k {name}",))
        raise ValueError(Sentence("name one test as FILE::NAME; ", listing, " lists it")) from error


def _check_one_test(target: Target) -> Target:
    if target.selector is None:
        raise ValueError("must name one test, as in tests/test_user.py::test_login, not a file or a folder")
    return target


def _check_number(tests: tuple[Target, ...]) -> tuple[Target, ...]:
    if len(tests) > MAX_TESTS:
        raise ValueError(f"must have 1 to {MAX_TESTS} entries")
    return tests


OneTest = Annotated[NodeTarget, WrapValidator(_explain_name), AfterValidator(_check_one_test)]
SomeTests = Annotated[
    tuple[OneTest, ...],
    BeforeValidator(to_node_ids),
    AfterValidator(_check_number),
    Field(json_schema_extra={"minItems": 1, "maxItems": MAX_TESTS}),
]


class InvestigateFailure(Arguments):
    model_config = ConfigDict(json_schema_extra={"examples": [{"node_id": "tests/test_user.py::test_login"}]})

    node_id: OneTest | None = Field(default=None, description="The failing test.")
    node_ids: SomeTests | None = Field(
        default=None,
        validate_default=True,
        description="Several, not node_id.",
    )
    base: GitRef | None = Field(default=None, description="Git ref. Default: where this branch began, else HEAD.")
    runs: Annotated[int, Whole(LEAST_RUNS, MAX_RUNS)] = Field(
        default=DEFAULT_RUNS, description="How often to run it alone."
    )
    timeout: Seconds | None = Field(default=None, description="Seconds for all of it.")

    @field_validator("node_ids")
    @classmethod
    def _one_of_both(cls, node_ids: tuple[Target, ...] | None, info: ValidationInfo) -> tuple[Target, ...] | None:
        # What is wrong with the other one is said already.
        if "node_id" in info.data and (node_ids is None) == (info.data["node_id"] is None):
            raise ValueError("one of node_id and node_ids must be given, and not both")
        return node_ids

    @property
    def asked(self) -> dict[str, Target]:
        """By the parameters' names."""
        if self.node_id is not None:
            return {"node_id": self.node_id}
        return {f"node_ids.{place}": target for place, target in enumerate(self.node_ids or ())}


class CollectTests(DiscoverTests):
    """The first run of an investigation. Its settings show which tests are its suite. It is not a tool of its own."""

    wants_portrait: ClassVar[bool] = True

    asked: dict[str, NodeTarget]

    @property
    def targets(self) -> tuple[tuple[str, Target], ...]:
        return tuple(self.asked.items())


class Sides(NamedTuple):
    """What the two runs of a first difference are called."""

    base: str = "at the base"
    now: str = "now"

    @property
    def is_same_code(self) -> bool:
        return self != AT_BASE

    @property
    def calls_only(self) -> tuple[str, str]:
        return f"calls only {self.base}", f"calls only {self.now}"

    def both(self, base: str, now: str) -> str:
        return f"{base} {self.base}, {now} {self.now}"


AT_BASE = Sides()
# Of a test that both passes and fails without a change.
SAME_CODE = Sides("where it passes", "where it fails")


def sides_of(kind: Kind) -> Sides:
    return SAME_CODE if kind in ("flaky", "order_dependent") else AT_BASE


class Suspect(Shape):
    """A function of the project that the failing runs execute and few others do."""

    file: str
    line: int
    function: str
    score: float = Field(description="0 to 1.")


class Polluter(Shape):
    """The smallest set of tests that changes the outcome."""

    node_ids: list[str] = Field(description="Tests; or files, if importing them is enough.")
    effect: Effect = Field(description="The test fails after these, or without them.")
    rerun: dict[str, Any] = Field(description="Arguments of execute_tests that show the effect.")


class DifferenceAtBase(Shape):
    """What a call gave: its result, what it left in an argument, and so on."""

    what: str
    base: str
    now: str


class FirstDifference(Shape):
    """A call that got the same as at the base and gave something else."""

    function: str
    file: str
    line: int
    arguments: str
    differs: list[DifferenceAtBase]
    parts_at: str | None = Field(description="The line at which the two runs part.")
    called_by: str | None
    then: list[str] = Field(description="What its callers gave.")


class BrokenBy(Shape):
    """The commit since which the test fails."""

    commit: str
    subject: str
    files: list[str] = Field(description="That it changed.")
    skipped: list[str] = Field(description="Commits at which the test could not run.")


class InvestigatedTest(Shape):
    node_id: str
    kind: Kind


def _is_absent(value: object) -> bool:
    return not value


class InvestigateResult(Shape):
    kind: Kind = Field(description="pre_existing: at the base too. passes: it does not fail.")
    confidence: str = Field(description="high, medium or low, and why.")
    evidence: list[str] = Field(description="What was tried.")
    first_difference: list[FirstDifference] = Field(
        description="Calls that got the same as at the base and gave something else."
    )
    broken_by: BrokenBy | None = Field(description="The commit since which it fails.")
    suspects: list[Suspect] = Field(description="Most suspicious first.")
    polluter: Annotated[Polluter | None, Field(description="Tests that change its outcome.")]
    notices: Notices
    rerun: dict[str, Any] | None = Field(description="Arguments that run the failure again.")
    tests: Annotated[list[InvestigatedTest], Field(description="There only with node_ids.", exclude_if=_is_absent)] = []  # noqa: RUF012 - never changed
