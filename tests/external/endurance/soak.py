"""`make soak`: a long life, a crowd, and sudden deaths; nothing may leak, mix or be left."""

import sys
from collections.abc import Sequence

from tests.external.endurance import crowd, endless, kills
from tests.external.endurance.figures import Measure, measure_all, options

MEASURES: tuple[Measure, ...] = (endless.measure, crowd.measure, kills.measure)


def main(given: Sequence[str] | None = None) -> int:
    chosen = options(__doc__, given)
    return measure_all(MEASURES, share=chosen.share, seed=chosen.seed)


if __name__ == "__main__":
    sys.exit(main())
