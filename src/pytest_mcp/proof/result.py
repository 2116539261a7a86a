"""What `check_change` is asked and what it answers. Every key of an answer is always present, in this order."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from pytest_mcp.api.parameters import GitRef, Seconds, Whole
from pytest_mcp.api.requests import Arguments
from pytest_mcp.api.results import Notices, Shape

DEFAULT_MUTANTS = 60
MAX_MUTANTS = 500

ProofVerdict = Literal["no_change", "failing", "tests_weakened", "unproven", "weak", "proven"]
# What a test shows at the base: it fails there for what the change is about; only because something is not there yet;
# it passes there too; that is not known; here it does not always pass.
SeenAtBase = Literal["proves", "missing", "passes", "unknown", "flaky"]
# For people.
VERDICTS_IN_WORDS: dict[ProofVerdict, str] = {
    "no_change": "nothing to prove: no code and no test changed",
    "failing": "tests fail",
    "tests_weakened": "tests were weakened",
    "unproven": "not proven by any test",
    "weak": "proven in part",
    "proven": "proven",
}


class CheckChange(Arguments):
    model_config = ConfigDict(json_schema_extra={"examples": [{"base": "main"}]})

    base: GitRef | None = Field(
        default=None, description="Git ref to compare with. Default: where this branch began, else HEAD."
    )
    mutants: Annotated[int, Whole(0, MAX_MUTANTS)] = Field(default=DEFAULT_MUTANTS, description="Most mutants to try.")
    timeout: Seconds | None = Field(
        default=None, description="Seconds for all of it; then it answers with what it knows."
    )


class ProofSummary(Shape):
    tests: int = Field(description="Tests that ran here, of those that the change reaches.")
    failed: int
    proving: int = Field(description="New and edited tests that fail at the base for what changed, or kill a mutant.")
    missing: int = Field(description="That fail there only because something does not exist yet.")
    passing_at_base: int
    unknown_at_base: int
    killed: int = Field(description="Mutants that a test noticed.")
    survived: int
    not_tried: int
    changed_lines: int = Field(description="With code.")
    covered_lines: int


class NewTest(Shape):
    node_id: str
    at_base: SeenAtBase
    why: str


class WeakenedTest(Shape):
    file: str
    line: int
    what: str
    before: str
    after: str


class Survivor(Shape):
    """A mutant that all tests passed with."""

    file: str
    line: int
    before: str
    after: str
    tests: list[str] = Field(description="Some of those that ran the line.")


class NotCovered(Shape):
    file: str
    lines: str


class CheckResult(Shape):
    verdict: ProofVerdict = Field(description="The first that applies; only proven means that tests show the change.")
    summary: ProofSummary
    new_tests: list[NewTest] = Field(description="New tests, those that prove nothing first.")
    weakened: list[WeakenedTest] = Field(description="What makes tests check less than at the base.")
    survivors: list[Survivor] = Field(description="Edits of the change that no test notices.")
    not_covered: list[NotCovered] = Field(description="Changed lines that no test ran in its own process.")
    notices: Notices
    rerun: dict[str, Any] | None = Field(description="Arguments of execute_tests that run the failures again.")
