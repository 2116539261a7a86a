"""The size that `--max-memory` names, as the operator writes it and in bytes."""

import re

_UNITS = {"G": 1024**3, "M": 1024**2, "K": 1024, "": 1}
_WRITTEN = re.compile(r"([1-9][0-9]{0,14})([KMG]?)", re.IGNORECASE)
# Python and pytest with a few plugins need half of it before the first test.
LEAST = 64 * 1024**2
# Beyond what systems take, and no limit for anybody.
MOST = 1024**5


def parse(given: str) -> int:
    """Raises ValueError with the rest of a sentence."""
    written = _WRITTEN.fullmatch(given)
    size = int(written[1]) * _UNITS[written[2].upper()] if written else 0
    if not LEAST <= size <= MOST:
        raise ValueError(f"must be a number of bytes, or of K, M or G, from {shown(LEAST)} to {shown(MOST)}")
    return size


def shown(size: int) -> str:
    """In the largest unit that needs no fraction."""
    unit = next(unit for unit, factor in _UNITS.items() if size % factor == 0)
    return f"{size // _UNITS[unit]}{unit}"
