"""Expressions for `-k` and `-m`, as they are, as they nearly are, and as nobody should write them."""

import random
import re

from pytest_mcp.api.expressions import MAX_DEPTH, MAX_DIGITS, MAX_LENGTH, MAX_TERMS
from tests.external.endurance.figures import Figure, Tally, part
from tests.support.invented.expressions import NAMES, PIECES, VALUES, is_ours_to_refuse, pytest_takes, we_take

FULL = 100_000
CHARACTERS = [*map(chr, range(0x20, 0x7F)), "\x00", "\n", "\r", "\x1b", "\xa0", "\u200b", "\ud800", "é", "日", "😀"]


def measure(share: float, seed: int) -> Figure:
    rng, tally, count = random.Random(seed), Tally(), part(FULL, share)
    for _ in range(count):
        expression = any_expression(rng)
        try:
            compare(expression, tally)
        except Exception as error:  # noqa: BLE001 - whatever escapes is what is looked for
            tally.add("unhandled", f"{error!r} for {expression!r}")
    words = f"fuzz expressions: {count} expressions, {tally['accepted']} accepted that pytest refuses"
    return Figure(f"{words}, {tally['refused']} refused that it accepts, {tally['unhandled']} unhandled", tally)


def compare(expression: str, tally: Tally) -> None:
    """With pytest's own parser; an equals sign stands only in arguments, which `-k` does not take."""
    theirs = pytest_takes(expression)
    for arguments in (True, False):
        ours = we_take(expression, arguments=arguments)
        wanted = theirs and not is_ours_to_refuse(expression) and (arguments or "=" not in expression)
        if ours and not wanted:
            tally.add("accepted", repr(expression))
        if wanted and not ours and is_within_the_caps(expression):
            tally.add("refused", repr(expression))


def is_within_the_caps(expression: str) -> bool:
    """Certainly within them: counted without knowing the grammar, so rather too much than too little."""
    return (
        len(expression) <= MAX_LENGTH
        and len(re.findall(r"[^\s()]+", expression)) <= MAX_TERMS
        and expression.count("(") + expression.count("not") <= MAX_DEPTH
        and all(len(digits) <= MAX_DIGITS for digits in re.findall(r"\d+", expression))
    )


def any_expression(rng: random.Random) -> str:
    return rng.choice([soup, spaced_soup, sentence, sentence, nearly_right, nearly_right, monster])(rng)


def soup(rng: random.Random) -> str:
    return "".join(rng.choice(PIECES if rng.random() < 0.7 else CHARACTERS) for _ in range(rng.randrange(17)))


def spaced_soup(rng: random.Random) -> str:
    return " ".join(rng.choices(PIECES, k=rng.randrange(17)))


def sentence(rng: random.Random, depth: int = 4) -> str:
    shape = rng.choice(["name", "call", "not", "group", "and", "or"]) if depth else rng.choice(["name", "call"])
    match shape:
        case "name":
            return rng.choice(NAMES)
        case "call":
            pairs = [f"{rng.choice([*NAMES, 'b', 'c'])}={rng.choice(VALUES)}" for _ in range(rng.randint(1, 3))]
            return f"{rng.choice(NAMES)}({','.join(pairs)})"
        case "not":
            return f"not {sentence(rng, depth - 1)}"
        case "group":
            return f"({sentence(rng, depth - 1)})"
    return f"{sentence(rng, depth - 1)} {shape} {sentence(rng, depth - 1)}"


def nearly_right(rng: random.Random) -> str:
    """A correct one with one piece put into it or one character taken out."""
    right = sentence(rng)
    position = rng.randrange(len(right) + 1)
    piece = rng.choice(["", rng.choice(PIECES), rng.choice(CHARACTERS)])
    return right[:position] + piece + right[position + (piece == "") :]


def monster(rng: random.Random) -> str:
    """Around every cap, on both of its sides."""
    inner, depth, terms = sentence(rng, 2), rng.randrange(2 * MAX_DEPTH), rng.randrange(2 * MAX_TERMS)
    return rng.choice(
        [
            "(" * depth + inner + ")" * (depth - rng.choice([0, 0, 1])),
            "not " * depth + inner,
            "not (" * (depth // 2) + inner + ")" * (depth // 2),
            rng.choice([" or ", " and "]).join(["a"] * terms),
            f"m(x={'9' * rng.randrange(1, 2 * MAX_DIGITS)})",
            "a" * rng.randrange(MAX_LENGTH - 20, MAX_LENGTH + 20),
        ]
    )
