"""`make fuzz`, `make soak` and `make load`: a line for each figure; the exit code says whether all are good."""

import argparse
import sys

from tests.external.endurance import arguments, crowd, endless, kills, load, wire
from tests.external.endurance.figures import Measure, report

MEASURES: dict[str, tuple[Measure, ...]] = {
    "fuzz": (arguments.measure, wire.measure),
    "soak": (endless.measure, crowd.measure, kills.measure),
    "load": (load.measure,),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=MEASURES)
    parser.add_argument("--share", type=float, default=1.0, help="how much of the full size (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="of everything that is random (default: %(default)s)")
    chosen = parser.parse_args()
    good = [report(measure, share=chosen.share, seed=chosen.seed) for measure in MEASURES[chosen.what]]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
