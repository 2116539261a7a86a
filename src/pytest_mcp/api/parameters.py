"""The kinds of values that a tool takes: how each is checked, and how its schema limits it.

What is unmistakable is taken as meant, because some clients send a number as a string or as a float, and one string
for a list. The schema asks for the right type all the same. Anything else is refused.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictStr,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import CoreSchema, core_schema

from pytest_mcp.api import expressions, targets
from pytest_mcp.api.advice import Advice, Sentence
from pytest_mcp.api.targets import Target
from pytest_mcp.config.model import LEAST_TOKENS, MAX_TOKENS, TIMEOUT_CEILING, Bounds

MAX_NODE_IDS = 2000
MAX_REF = 200
MAX_PATTERN = 200
_PATTERN_CHARACTERS = r"^[A-Za-z0-9_*?.\-\[\]]+$"
_PATTERN_WORDS = re.compile("test|spec|check", re.IGNORECASE)
# The wildcards of a glob. A class as fnmatch parses it: a ] right after [ or [! is a member.
_WILDCARD = re.compile(r"\[!?+\]?+[^\]]*+\]|[*?]")
# A number as JSON writes it: no plus, exponent, space, underscore, leading zero or digit of another script.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


@dataclass(frozen=True)
class Flag:
    """How a field's value is passed to pytest, as one token of its command line."""

    option: Callable[[Any], str | None]


@dataclass(frozen=True)
class Whole:
    """The annotation of a number: its absolute bounds, the operator's own limit, a word that is taken instead."""

    least: int
    most: int
    limit: Callable[[Bounds], int] | None = None
    word: str | None = None

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._taken)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> dict[str, Any]:
        number = {"type": "integer", "minimum": self.least, "maximum": self.most}
        return number if self.word is None else {"anyOf": [number, {"type": "string", "enum": [self.word]}]}

    def _taken(self, given: Any, info: ValidationInfo) -> int | str:
        if self.word is not None and given == self.word:
            return self.word
        limit = self.most if self.limit is None else min(self.limit(_bounds(info)), self.most)
        number = _number(given)
        if number is None or not self.least <= number <= limit:
            owner = " (the operator's limit)" if limit < self.most else ""
            other = f", or {self.word}" if self.word else ""
            raise ValueError(f"must be a whole number from {self.least} to {limit}{owner}{other}")
        return number


def _number(given: Any) -> int | None:
    """The only number that this can mean, or None."""
    if isinstance(given, float) and given.is_integer():
        return int(given)
    if isinstance(given, str) and _NUMBER.fullmatch(given):
        return int(given)
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _bounds(info: ValidationInfo) -> Bounds:
    if not isinstance(info.context, Bounds):
        raise TypeError("a request is validated with the operator's Bounds as context")
    return info.context


def _to_target(parse: Callable[[str, Path], Target]) -> Callable[[Any, ValidationInfo], Target]:
    def validate(value: Any, info: ValidationInfo) -> Target:
        if not isinstance(value, str):
            raise ValueError("must be a string")
        if len(value) > targets.MAX_LENGTH:
            raise ValueError(f"is longer than {targets.MAX_LENGTH} characters")
        return parse(value, _bounds(info).root)

    return validate


def to_node_ids(given: Any) -> Any:
    """Runs before the ids are checked, so that a list of bad ids is not called empty as well."""
    if isinstance(given, str) and given.lstrip().startswith("["):
        raise ValueError("is a list written as text; send the list itself")
    ids = [given] if isinstance(given, str) else given
    if not isinstance(ids, list):
        raise ValueError("must be a list of node ids")
    if not 1 <= len(ids) <= MAX_NODE_IDS:
        words = f"must have 1 to {MAX_NODE_IDS} entries; leave it out to run everything"
        raise ValueError(Sentence(Advice("typed", words, (f"at most {MAX_NODE_IDS} are taken",))))
    return ids


def _check_pattern(pattern: str) -> str:
    """Every name that a glob matches contains its literal parts: so one of them must contain the whole word."""
    literals = _WILDCARD.split(pattern)
    if any("[" in literal for literal in literals):
        raise ValueError("has a [ that is not closed")
    if not any(_PATTERN_WORDS.search(literal) for literal in literals):
        raise ValueError("must contain test, spec or check, outside brackets: it names test files")
    return pattern


def _check_ref(ref: str) -> str:
    """What git would take for an option or for several refs; whether it names a commit is asked later."""
    if not ref or ref.startswith("-") or not ref.isprintable() or " " in ref:
        raise ValueError("must be a git ref, for example main, v1.2, HEAD~3 or a1b2c3d")
    if len(ref) > MAX_REF:
        raise ValueError(f"is longer than {MAX_REF} characters")
    return ref


def _check_changed(value: Any) -> bool | str | None:
    if isinstance(value, bool) or value is None:
        return value or None
    if not isinstance(value, str):
        raise ValueError("must be true or a git ref")
    if value in ("true", "false"):
        words = f"is a string; send {value} without quotes, or a git ref"
        typed = "is no git ref; write --changed alone, or --changed=REF"
        raise ValueError(Sentence(Advice("typed", words, (typed,))))
    return _check_ref(value)


_TARGET_SCHEMA = WithJsonSchema({"type": "string", "minLength": 1, "maxLength": targets.MAX_LENGTH})
_REF_SCHEMA = {"type": "string", "minLength": 1, "maxLength": MAX_REF}
_Expression = Annotated[StrictStr, Field(min_length=1, max_length=expressions.MAX_LENGTH)]

PathTarget = Annotated[Target, BeforeValidator(_to_target(targets.parse_path)), _TARGET_SCHEMA]
NodeTarget = Annotated[Target, BeforeValidator(_to_target(targets.parse_node_id)), _TARGET_SCHEMA]
NodeTargets = Annotated[
    tuple[NodeTarget, ...],
    BeforeValidator(to_node_ids),
    Field(json_schema_extra={"minItems": 1, "maxItems": MAX_NODE_IDS}),
]
Pattern = Annotated[
    StrictStr, Field(max_length=MAX_PATTERN, pattern=_PATTERN_CHARACTERS), AfterValidator(_check_pattern)
]
Markers = Annotated[_Expression, AfterValidator(partial(expressions.checked, arguments=True))]
Keywords = Annotated[_Expression, AfterValidator(partial(expressions.checked, arguments=False))]
GitRef = Annotated[StrictStr, AfterValidator(_check_ref), WithJsonSchema(_REF_SCHEMA)]
Changed = Annotated[
    bool | str | None, BeforeValidator(_check_changed), WithJsonSchema({"anyOf": [{"type": "boolean"}, _REF_SCHEMA]})
]
Seconds = Annotated[int, Whole(1, TIMEOUT_CEILING, limit=lambda bounds: bounds.max_timeout)]
Tokens = Annotated[int, Whole(LEAST_TOKENS, MAX_TOKENS, limit=lambda bounds: bounds.max_tokens)]
