"""`make matrix`: the tests that run real projects, once in every environment of the matrix that is there."""

import os
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


def main(chosen: Sequence[str]) -> int:
    """With names of test files, only those."""
    command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=short", *(chosen or TESTS)]
    codes = {}
    for name, environment in MATRIX.items():
        sys.stdout.write(f"== {name}{'' if environment.is_complete else ': the environment could not be made'}\n")
        sys.stdout.flush()
        if environment.is_complete:
            variables = os.environ | {"PYTEST_MCP_TEST_ENVIRONMENTS": name}
            codes[name] = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
    sys.stdout.writelines(f"NOT GOOD: {name}\n" for name, code in codes.items() if code != 0)
    return int(any(codes.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
