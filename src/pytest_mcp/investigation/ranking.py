"""How suspicious each function is, from what failing and passing tests have run.

A line is scored by Ochiai's formula, a function by its best line. The way to the failure and the last calls before it
decide between functions that the same tests ran.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_mcp.run.events import Executed, Line

Function = tuple[str, str]

# `make suspects` measures these; they were chosen on some of the libraries that it calls tuned. A function on the way
# to the failure, one that was called just before it, and how much a failed test with another cause counts.
FRAME = 1.0
CALL = 0.3
OTHER_CAUSE = 0.5
# A changed line is first among lines with equal scores, whatever the other clues say.
CHANGED = 1.5


@dataclass(frozen=True)
class Spectra:
    """What was run by the test under investigation, and by others that failed alike, failed otherwise, and passed."""

    target: Executed
    alike: Sequence[Executed] = ()
    otherwise: Sequence[Executed] = ()
    passed: Sequence[Executed] = ()


@dataclass(frozen=True)
class Clues:
    # Places on the way to the failure, the innermost first: file and line.
    frames: Sequence[tuple[str, int]] = ()
    # Functions that were called before the failure, the last one first: file and name.
    calls: Sequence[Function] = ()
    # Lines of each file that differ from the base.
    changed: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def is_changed(self, line: Line) -> bool:
        return line.number in self.changed.get(line.file, ())

    def is_frame(self, line: Line) -> bool:
        return (line.file, line.number) in self.frames


def ochiai(failed: float, passed: float, failing: float) -> float:
    """Of a line that so many failed and passed tests ran, where `failing` tests failed."""
    return failed / math.sqrt(failing * (failed + passed)) if failed else 0.0


def scores(spectra: Spectra, lines: Iterable[Line]) -> dict[Line, float]:
    """Of these lines, all of which the test under investigation ran."""
    wanted = frozenset(lines)
    alike, otherwise, passed = (
        Counter(line for test in tests for line in wanted.intersection(test.lines()))
        for tests in (spectra.alike, spectra.otherwise, spectra.passed)
    )
    failing = 1 + len(spectra.alike) + OTHER_CAUSE * len(spectra.otherwise)
    return {line: ochiai(1 + alike[line] + OTHER_CAUSE * otherwise[line], passed[line], failing) for line in wanted}


def ranked(scored: Mapping[Line, float], clues: Clues) -> list[tuple[Line, float]]:
    """The most suspicious line of each function, with a score between 0 and 1, the highest first."""
    functions: dict[Function, list[Line]] = {}
    for line in scored:
        functions.setdefault((line.file, line.function), []).append(line)
    best = {function: _best(lines, scored, clues) for function, lines in functions.items()}
    weight = _weights(functions, best, clues)
    found = [(line, scored[line] * weight[function]) for function, line in best.items()]
    return sorted(found, key=lambda each: (-each[1], each[0]))


def _best(lines: Iterable[Line], scored: Mapping[Line, float], clues: Clues) -> Line:
    """Of lines with equal scores one that was changed, one on the way to the failure, the first."""
    return min(lines, key=lambda line: (-scored[line], not clues.is_changed(line), not clues.is_frame(line), line))


def _weights(
    functions: Mapping[Function, Iterable[Line]], best: Mapping[Function, Line], clues: Clues
) -> dict[Function, float]:
    """1 for a function that is nearest in every way that is known, less for all others."""
    of_line = {(line.file, line.number): function for function, lines in functions.items() for line in lines}
    frames = _places(of_line[place] for place in clues.frames if place in of_line)
    calls = _places(call for call in clues.calls if call in functions)
    changed = {function for function, line in best.items() if clues.is_changed(line)}
    most = 1 + (FRAME if frames else 0) + (CALL if calls else 0) + (CHANGED if changed else 0)

    def weight(function: Function) -> float:
        of_frame = FRAME / frames.get(function, math.inf)
        of_call = CALL / math.sqrt(calls.get(function, math.inf))
        return 1 + of_frame + of_call + (CHANGED if function in changed else 0)

    return {function: weight(function) / most for function in functions}


def _places(functions: Iterable[Function]) -> dict[Function, int]:
    """The first is 1."""
    return {function: place for place, function in enumerate(dict.fromkeys(functions), start=1)}
