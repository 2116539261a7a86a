"""`make fuzz`: what nobody thought of, by the hundred thousand, against everything that reads from outside."""

import sys
from collections.abc import Sequence

from tests.external.endurance import arguments, expressions, streams, wire
from tests.external.endurance.figures import Measure, measure_all, options

MEASURES: tuple[Measure, ...] = (arguments.measure, expressions.measure, wire.measure, streams.measure)


def main(given: Sequence[str] | None = None) -> int:
    chosen = options(__doc__, given)
    return measure_all(MEASURES, share=chosen.share, seed=chosen.seed)


if __name__ == "__main__":
    sys.exit(main())
