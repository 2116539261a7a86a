"""The parameters of every tool: each once, with its limits, its description and its pytest option.

In come the raw arguments of a call and the operator's bounds; out comes a frozen request whose every
value is validated, or pydantic's list of all faults. The schemas that clients see are derived from
here. Which command line a request becomes is decided in `command`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    StrictStr,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from pytest_mcp.api import expressions, targets
from pytest_mcp.api.advice import Advice, Sentence
from pytest_mcp.api.numbers import Whole, bounds_of
from pytest_mcp.api.targets import Target
from pytest_mcp.config.model import LEAST_TOKENS, LONGEST_TIMEOUT, MAX_TOKENS, MOST_WORKERS, Bounds

MAX_NODE_IDS = 2000
LONGEST_REF = 200
_PATTERN_CHARACTERS = r"^[A-Za-z0-9_*?.\-\[\]]+$"
_PATTERN_WORDS = re.compile("test|spec|check", re.IGNORECASE)
# The wildcards of a glob. A class as fnmatch parses it: a ] right after [ or [! is a member.
_WILDCARD = re.compile(r"\[!?+\]?+[^\]]*+\]|[*?]")


@dataclass(frozen=True)
class Flag:
    """How a field's value is passed to pytest, as one token of its command line."""

    say: Callable[[Any], str | None]


def _to_target(parse: Callable[[str, Path], Target]) -> Callable[[Any, ValidationInfo], Target]:
    def validate(value: Any, info: ValidationInfo) -> Target:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        if len(value) > targets.MAX_LENGTH:
            raise ValueError(f"is longer than {targets.MAX_LENGTH} characters")
        return parse(value, bounds_of(info).root)

    return validate


def _check_expression(*, arguments: bool) -> Callable[[str], str]:
    def validate(expression: str) -> str:
        expressions.check(expression, arguments=arguments)
        return expression

    return validate


def _check_pattern(pattern: str) -> str:
    """Every name that a glob matches contains its literal parts: so one of them must contain the whole word."""
    literals = _WILDCARD.split(pattern)
    if any("[" in literal for literal in literals):
        raise ValueError("has a [ that is not closed")
    if not any(_PATTERN_WORDS.search(literal) for literal in literals):
        raise ValueError("must contain test, spec or check, outside brackets: it names test files")
    return pattern


def _to_node_ids(given: Any) -> Any:
    """Runs before the ids are checked, so that a list of bad ids is not called empty as well."""
    if isinstance(given, str) and given.lstrip().startswith("["):
        raise ValueError("is a list written as text; send the list itself")
    ids = [given] if isinstance(given, str) else given
    if not isinstance(ids, list):
        raise ValueError("must be a list of node ids")
    if not 1 <= len(ids) <= MAX_NODE_IDS:
        told = f"must have 1 to {MAX_NODE_IDS} entries; leave it out to run everything"
        raise ValueError(Sentence(Advice("typed", told, (f"at most {MAX_NODE_IDS} are taken",))))
    return ids


def _check_changed(value: Any) -> bool | str | None:
    if isinstance(value, bool) or value is None:
        return value or None
    if not isinstance(value, str):
        raise ValueError("must be true or a git ref")
    if value in ("true", "false"):
        told = f"is a string; send {value} without quotes, or a git ref"
        typed = "is no git ref; write --changed alone, or --changed=REF"
        raise ValueError(Sentence(Advice("typed", told, (typed,))))
    if not 1 <= len(value) <= LONGEST_REF:
        raise ValueError(f"must have 1 to {LONGEST_REF} characters")
    if value.startswith("-") or not value.isprintable() or " " in value:
        raise ValueError("is not a git ref")
    return value


_CHANGED_SCHEMA = {"anyOf": [{"type": "boolean"}, {"type": "string", "minLength": 1, "maxLength": LONGEST_REF}]}
_TARGET_SCHEMA = {"type": "string", "minLength": 1, "maxLength": targets.MAX_LENGTH}
PathTarget = Annotated[Target, BeforeValidator(_to_target(targets.parse_path)), WithJsonSchema(_TARGET_SCHEMA)]
NodeTarget = Annotated[Target, BeforeValidator(_to_target(targets.parse_node_id)), WithJsonSchema(_TARGET_SCHEMA)]
Seconds = Annotated[int, Whole(1, LONGEST_TIMEOUT, limit=lambda bounds: bounds.max_timeout)]
Tokens = Annotated[int, Whole(LEAST_TOKENS, MAX_TOKENS, limit=lambda bounds: bounds.max_tokens)]
Expression = Annotated[StrictStr, Field(min_length=1, max_length=expressions.MAX_LENGTH)]
Detail = Literal["auto", "tests", "full"]


class Arguments(BaseModel):
    """The parameters of a tool; none by default."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)


class ExplainEnvironment(Arguments):
    model_config = ConfigDict(json_schema_extra={"examples": [{"path": "tests"}]})

    path: Annotated[PathTarget | None, Field(description="Only for this folder or file.")] = None


class Request(Arguments):
    """The parameters that both `discover_tests` and `execute_tests` have."""

    # The operator's setting that is the default of `max_tokens`.
    tokens_setting: ClassVar[Literal["execute_tokens", "discover_tokens"]]
    # Whether the child reports its environment, which takes time.
    wants_portrait: ClassVar[bool] = False

    path: Annotated[
        PathTarget | None,
        Field(description="Only tests in this file or folder of the project; no :: or wildcards."),
    ] = None
    pattern: Annotated[
        Annotated[StrictStr, Field(max_length=200, pattern=_PATTERN_CHARACTERS), AfterValidator(_check_pattern)] | None,
        Flag(lambda glob: f"--override-ini=python_files={glob}"),
        Field(
            description="Names of test files, instead of python_files, e.g. 'check_*.py'."
            " Must contain test, spec or check."
        ),
    ] = None
    markers: Annotated[
        Annotated[Expression, AfterValidator(_check_expression(arguments=True))] | None,
        Flag(lambda expression: f"-m={expression}"),
        Field(description="Only tests with these marks, as pytest -m: 'not slow and integration'."),
    ] = None
    keywords: Annotated[
        Annotated[Expression, AfterValidator(_check_expression(arguments=False))] | None,
        Flag(lambda expression: f"-k={expression}"),
        Field(description="Only tests with these names, as pytest -k: 'login and not slow'."),
    ] = None
    detail: Annotated[
        Detail,
        Field(
            description="auto: one failure of each cause, passing tests counted. tests: every test, within max_tokens."
            " full: everything, with pytest's own tracebacks and json_report."
        ),
    ] = "auto"
    max_tokens: Annotated[
        Tokens | None,
        Field(description="Size limit in tokens, unless detail is full. Usually 4000, discovery 8000."),
    ] = None

    changed: Annotated[
        bool | str | None,
        BeforeValidator(_check_changed),
        WithJsonSchema(_CHANGED_SCHEMA),
        Field(
            description="Only tests that changes since this git ref can reach, nearest first. true: the default branch."
        ),
    ] = None

    @field_validator("*", mode="before")
    @classmethod
    def _null_is_unset(cls, value: Any, info: ValidationInfo) -> Any:
        """Some clients send null for every parameter that is not set."""
        return cls.model_fields[info.field_name or ""].default if value is None else value

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

    detail: Annotated[
        Detail,
        Field(
            description="auto: up to 40 tests one by one, more by file. tests: every test, within max_tokens."
            " full: every test, and whole tracebacks in collection_errors."
        ),
    ] = "auto"


class Survey(DiscoverTests):
    """The run of `explain_environment`: it discovers all that this asks for. It is not a tool of its own."""

    wants_portrait: ClassVar[bool] = True

    @classmethod
    def of(cls, asked: ExplainEnvironment) -> "Survey":
        return cls().model_copy(update={"path": asked.path})


class Chosen(Request):
    """A request that can also name tests."""

    node_ids: Annotated[
        Annotated[
            tuple[NodeTarget, ...],
            BeforeValidator(_to_node_ids),
            Field(json_schema_extra={"minItems": 1, "maxItems": MAX_NODE_IDS}),
        ]
        | None,
        Field(description="Only these tests, files or folders, e.g. 'tests/test_user.py::test_login'."),
    ] = None

    @property
    def targets(self) -> tuple[tuple[str, Target], ...]:
        ids = enumerate(self.node_ids or ())
        return (*super().targets, *((f"node_ids.{index}", target) for index, target in ids))


class DiscoverTargets(Chosen, DiscoverTests):
    """The parameters of `pytest-mcp discover`, which takes several paths. It is not a tool of its own."""


class ExecuteTests(Chosen):
    model_config = ConfigDict(json_schema_extra={"examples": [{"keywords": "login", "failfast": True}]})

    tokens_setting = "execute_tokens"

    verbosity: Annotated[
        Annotated[int, Whole(-2, 2)],
        Flag(lambda level: f"--verbosity={level}"),
        Field(
            description="How much pytest prints; detail full shows all of it in text_output."
            " Negative: no captured output."
        ),
    ] = 0
    failfast: Annotated[
        StrictBool,
        Flag(lambda stop: "--maxfail=1" if stop else None),
        Field(description="Stop at the first failure."),
    ] = False
    maxfail: Annotated[
        Annotated[int, Whole(1, 100_000)] | None,
        Flag(lambda count: f"--maxfail={count}"),
        Field(description="Stop after this many failures; not with failfast."),
    ] = None
    show_capture: Annotated[
        StrictBool | None,
        Field(description="Output of failing tests: true shows all, false none. Default: its last lines."),
    ] = None
    locals: Annotated[
        StrictBool,
        Flag(lambda wanted: "--showlocals" if wanted else None),
        Field(description="Show local variables where the project's code failed."),
    ] = False
    color: Annotated[
        StrictBool,
        Flag(lambda wanted: f"--color={'yes' if wanted else 'no'}"),
        Field(description="Keep colour codes in text_output."),
    ] = False
    timeout: Annotated[
        Seconds | None,
        Field(
            description="Stop the run after so many seconds and report what had finished. Usually 240, at most 3600."
        ),
    ] = None

    workers: Annotated[
        Annotated[int | Literal["auto"], Whole(1, MOST_WORKERS, word="auto")] | None,
        Field(
            description="Number of processes, with the project's pytest-xdist. auto: one per core. 1: only one."
            " Helps with slow tests only."
        ),
    ] = None

    coverage: Annotated[
        Literal["changed", "all"] | None,
        Field(
            description="Show lines that did not run, with the project's coverage.py:"
            " all, or those changed since the ref in changed."
        ),
    ] = None

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
