"""`make matrix`: the tests that run real projects, once in every environment of the matrix that is there."""

import os
import re
import subprocess
import sys
from collections.abc import Sequence

from scripts.environments import MATRIX
from tests.support.paths import ROOT

TESTS = [
    "tests/hostile",
    "tests/integration/runs/results/test_bytecode.py",
    "tests/integration/runs/results/test_json_report_oracle.py",
    "tests/integration/runs/results/test_outcomes.py",
    "tests/integration/runs/results/test_runs_without_a_result.py",
    "tests/integration/runs/selection/test_discovery.py",
    "tests/integration/runs/selection/test_ini_files.py",
    "tests/integration/runs/selection/test_round_trip.py",
    "tests/integration/runs/selection/test_usage_errors.py",
]
# pytest's closing line, as far as it counts.
COUNT = re.compile(r"(\d+) (passed|failed|skipped|errors?)\b")


def main(chosen: Sequence[str]) -> int:
    """With names of test files, only those."""
    tests = [test for test in chosen or TESTS if (ROOT / test).exists()]
    ran = {name: run(name, tests) for name, environment in MATRIX.items() if environment.is_complete}
    for name in MATRIX:
        code, counted = ran.get(name, (0, "skipped as a whole: the environment could not be made"))
        sys.stdout.write(f"matrix {name}: {counted}{'' if code == 0 else '  NOT GOOD'}\n")
    return 0 if all(code == 0 for code, _ in ran.values()) else 1


def run(name: str, tests: Sequence[str]) -> tuple[int, str]:
    """The exit code, and the counts in words; what is not good is shown while the others go on."""
    sys.stdout.write(f"== {name}\n")
    sys.stdout.flush()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", *tests],
        cwd=ROOT,
        env=os.environ | {"PYTEST_MCP_TEST_ENVIRONMENTS": name},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.stdout.write(done.stdout)
    found = {word.removesuffix("s"): number for number, word in COUNT.findall(done.stdout.strip().rpartition("\n")[2])}
    words = [f"{found.get(word, 0)} {word}" for word in ("passed", "failed", "skipped")]
    return done.returncode, ", ".join([*words, *([f"{found['error']} errors"] if "error" in found else [])])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
