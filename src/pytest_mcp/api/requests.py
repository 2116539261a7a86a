"""The parameters of every tool: each once, with its limits, its description and its pytest option.

A request is validated with the operator's bounds as context; it is frozen, or all faults are told at once. The schemas
that clients see are derived from here. What a kind of value may be is in `parameters`.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, StrictBool, ValidationInfo, field_validator

from pytest_mcp.api.parameters import (
    Changed,
    Flag,
    GitRef,
    Keywords,
    Markers,
    NodeTargets,
    PathTarget,
    Pattern,
    Seconds,
    Tokens,
    Whole,
)
from pytest_mcp.api.targets import Target
from pytest_mcp.config.model import MAX_WORKERS, Bounds

Detail = Literal["auto", "tests", "full"]


class Arguments(BaseModel):
    """The parameters of a tool; none by default."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    @field_validator("*", mode="before")
    @classmethod
    def _null_is_unset(cls, value: Any, info: ValidationInfo) -> Any:
        """Some clients send null for every parameter that is not set."""
        field = cls.model_fields[info.field_name or ""]
        return field.default if value is None and not field.is_required() else value


class ExplainEnvironment(Arguments):
    model_config = ConfigDict(json_schema_extra={"examples": [{"path": "tests"}]})

    path: PathTarget | None = Field(default=None, description="Only for this folder or file.")


class Request(Arguments):
    """The parameters that both `discover_tests` and `execute_tests` have."""

    # The operator's setting that is the default of `max_tokens`.
    tokens_setting: ClassVar[Literal["execute_tokens", "discover_tokens"]]
    # Whether the child reports its environment, which takes time.
    wants_portrait: ClassVar[bool] = False

    path: PathTarget | None = Field(default=None, description="Only tests in this file or folder; no :: or wildcards.")
    pattern: Annotated[Pattern | None, Flag(lambda glob: f"--override-ini=python_files={glob}")] = Field(
        default=None,
        description="Names of test files, instead of python_files, e.g. 'check_*.py'."
        " Must contain test, spec or check.",
    )
    markers: Annotated[Markers | None, Flag(lambda expression: f"-m={expression}")] = Field(
        default=None, description="Only tests with these marks, as pytest -m: 'not slow'."
    )
    keywords: Annotated[Keywords | None, Flag(lambda expression: f"-k={expression}")] = Field(
        default=None, description="Only tests with these names, as pytest -k: 'login and not slow'."
    )
    detail: Detail = Field(
        default="auto",
        description="auto: one failure of each cause, passing tests counted. tests: every test, within max_tokens."
        " full: everything, with pytest's own tracebacks and json_report.",
    )
    max_tokens: Tokens | None = Field(
        default=None, description="Size limit in tokens, unless detail is full. Usually 4000, discovery 8000."
    )
    changed: Changed = Field(
        default=None,
        description="Only tests that changes since this git ref can reach, nearest first. true: the default branch.",
    )

    _default_max_tokens: int = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        chosen = context._asdict() if isinstance(context, Bounds) else Bounds._field_defaults
        self._default_max_tokens = chosen[self.tokens_setting]

    @property
    def default_max_tokens(self) -> int:
        return self._default_max_tokens

    @property
    def targets(self) -> tuple[tuple[str, Target], ...]:
        """Every path and node id, each with the name of its parameter."""
        return () if self.path is None else (("path", self.path),)

    @property
    def names_part(self) -> bool:
        """Whether its targets are less than the whole suite."""
        return any(target.node_id != "." for _, target in self.targets)


class DiscoverTests(Request):
    model_config = ConfigDict(json_schema_extra={"examples": [{"path": "tests", "markers": "not slow"}]})

    tokens_setting = "discover_tokens"

    detail: Detail = Field(
        default="auto",
        description="auto: up to 40 tests one by one, more by file. tests: every test, within max_tokens."
        " full: every test, and whole tracebacks in collection_errors.",
    )


class Survey(DiscoverTests):
    """The run of `explain_environment`: it discovers all that this asks for. It is not a tool of its own."""

    wants_portrait: ClassVar[bool] = True

    @classmethod
    def covering(cls, asked: ExplainEnvironment) -> "Survey":
        return cls().model_copy(update={"path": asked.path})


class Chosen(Request):
    """A request that can also name tests."""

    node_ids: NodeTargets | None = Field(
        default=None, description="Only these tests, files or folders, e.g. 'tests/test_user.py::test_login'."
    )

    @property
    def targets(self) -> tuple[tuple[str, Target], ...]:
        ids = enumerate(self.node_ids or ())
        return (*super().targets, *((f"node_ids.{index}", target) for index, target in ids))


class DiscoverTargets(DiscoverTests, Chosen):
    """The parameters of `pytest-mcp discover`, which takes several paths. It is not a tool of its own."""


class ExecuteTests(Chosen):
    model_config = ConfigDict(json_schema_extra={"examples": [{"keywords": "login", "failfast": True}]})

    tokens_setting = "execute_tokens"

    verbosity: Annotated[int, Whole(-2, 2), Flag(lambda level: f"--verbosity={level}")] = Field(
        default=0,
        description="How much pytest prints, which detail full shows. Negative: no captured output.",
    )
    last_failed: Annotated[StrictBool, Flag(lambda only: "--last-failed" if only else None)] = Field(
        default=False, description="Only tests that failed last time, as --lf."
    )
    failfast: Annotated[StrictBool, Flag(lambda stop: "--maxfail=1" if stop else None)] = Field(
        default=False, description="Stop at the first failure."
    )
    maxfail: Annotated[Annotated[int, Whole(1, 100_000)] | None, Flag(lambda count: f"--maxfail={count}")] = Field(
        default=None, description="Stop after this many failures; not with failfast."
    )
    show_capture: StrictBool | None = Field(
        default=None, description="Output of failing tests: true shows all, false none. Default: its last lines."
    )
    locals: Annotated[StrictBool, Flag(lambda wanted: "--showlocals" if wanted else None)] = Field(
        default=False, description="Show local variables where the project's code failed."
    )
    color: Annotated[StrictBool, Flag(lambda wanted: f"--color={'yes' if wanted else 'no'}")] = Field(
        default=False, description="Keep colour codes in text_output."
    )
    timeout: Seconds | None = Field(
        default=None,
        description="Stop after so many seconds and report what had finished. Usually 240, at most 3600.",
    )
    workers: Annotated[int | Literal["auto"], Whole(1, MAX_WORKERS, word="auto")] | None = Field(
        default=None,
        description="Processes of the project's pytest-xdist. auto: one per free core. Helps with slow tests only.",
    )
    coverage: Literal["changed", "all"] | None = Field(
        default=None,
        description="Show lines that did not run, with the project's coverage.py: all, or those changed since the ref"
        " in changed.",
    )
    timing: StrictBool = Field(default=False, description="Tell where the time went, and the largest saving.")
    base: GitRef | None = Field(default=None, description="Which failures are new, old or changed since this git ref.")

    @field_validator("maxfail")
    @classmethod
    def _one_way_to_stop(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and info.data.get("failfast"):
            raise ValueError("cannot be set together with failfast: true, which means maxfail 1")
        return value

    @property
    def captures(self) -> bool:
        """Whether a traceback is followed by captured output."""
        return self.verbosity >= 0 if self.show_capture is None else self.show_capture
