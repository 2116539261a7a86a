"""Whole numbers of a request: their bounds, said once, and what is taken for a number.

Some clients send a number as a string or as a float. Where only one number can be meant, it is taken; the schema
asks for an integer all the same. Anything else is refused with both bounds.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from pytest_mcp.config.model import Bounds

# As JSON writes it: no plus, exponent, space, underscore, leading zero or digit of another script.
_WRITTEN = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")


def bounds_of(info: ValidationInfo) -> Bounds:
    bounds = info.context
    if not isinstance(bounds, Bounds):
        raise TypeError("a request is validated with the operator's Bounds as context")
    return bounds


@dataclass(frozen=True)
class Whole:
    """The annotation of a number: its absolute bounds, the operator's own limit, a word that is taken instead."""

    least: int
    most: int
    limit: Callable[[Bounds], int] | None = None
    word: str | None = None

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self.taken)

    def __get_pydantic_json_schema__(self, _schema: CoreSchema, _handler: GetJsonSchemaHandler) -> dict[str, Any]:
        number = {"type": "integer", "minimum": self.least, "maximum": self.most}
        return number if self.word is None else {"anyOf": [number, {"type": "string", "enum": [self.word]}]}

    def taken(self, given: Any, info: ValidationInfo) -> int | str:
        if given == self.word and self.word is not None:
            return self.word
        limit = self.most if self.limit is None else min(self.limit(bounds_of(info)), self.most)
        number = meant(given)
        if number is None or not self.least <= number <= limit:
            owner = " (the operator's limit)" if limit < self.most else ""
            other = f", or {self.word}" if self.word else ""
            raise ValueError(f"must be a whole number from {self.least} to {limit}{owner}{other}")
        return number


def meant(given: Any) -> int | None:
    """The only number that this can mean, or None."""
    if isinstance(given, float) and given.is_integer():
        return int(given)
    if isinstance(given, str) and _WRITTEN.fullmatch(given):
        return int(given)
    return given if isinstance(given, int) and not isinstance(given, bool) else None
