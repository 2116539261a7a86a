"""Numbers as ranges of text. Standard library only."""

from __future__ import annotations


def ranges(numbers: set[int]) -> str:
    """`3-5,9`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(first) if first == last else "%d-%d" % (first, last) for first, last in parts)
