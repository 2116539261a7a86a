"""`make scale`: examples/scale with the published schemas of Kubernetes and of workflows, and with GNU parallel.

Deselected by default, since the schemas and the program are not on every machine.
"""

import os
import subprocess
from pathlib import Path

import pytest

from scripts.environments import SCALE
from tests.support.commands.terminals import example
from tests.support.paths import ROOT
from tests.support.workbench import Workbench

pytestmark = pytest.mark.external(target="scale")

EXAMPLES = ROOT / "examples" / "scale"
PARALLEL = Path(os.environ.get("PARALLEL", "/usr/bin/parallel"))
CHECKS = {
    "job.yaml": ["kubernetes-validate", "--strict"],
    "server.yaml": ["kubernetes-validate", "--strict"],
    "workflow.yml": ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_file_has_the_published_shape(name: str) -> None:
    program, *flags = CHECKS[name]
    command: list[str | Path] = [SCALE.python.parent / program, *flags, EXAMPLES / name]

    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_check_notices_a_key_that_does_not_exist(tmp_path: Path) -> None:
    wrong = tmp_path / "job.yaml"
    text = (EXAMPLES / "job.yaml").read_text(encoding="utf-8")
    wrong.write_text(text.replace("completionMode", "completionMoode"), encoding="utf-8")

    done = subprocess.run([SCALE.python.parent / "kubernetes-validate", "--strict", wrong], check=False)

    assert done.returncode != 0


@pytest.mark.parametrize(
    ("source", "code", "line"), [("pass", 0, "passed: 3 passed"), ("assert 0", 1, "failed: 1 failed")]
)
def test_gnu_parallel_runs_the_shards_and_merge_makes_one_report(
    bench: Workbench, source: str, code: int, line: str
) -> None:
    bench.write({"test_a.py": f"def test_a(): {source}\n", "test_b.py": "def test_b(): pass\ndef test_c(): pass\n"})

    done = example(bench, "parallel.sh", "3", path=str(PARALLEL.parent))

    assert done.returncode == code, done.stderr
    assert done.stdout.splitlines()[-1].startswith(line)
