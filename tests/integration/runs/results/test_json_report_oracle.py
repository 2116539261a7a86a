"""`json_report` equals what the real pytest-json-report plugin writes for the same suite.

Left out of the comparison, each for its reason:
- times (`created`, `duration`, and in log records everything the clock or the process decides);
- object addresses in representations;
- what the plugin loses: a subtest overwrites its test's call there, so we keep subtests in a key of their own.
"""

import json
import re
from typing import Any

import pytest

from tests.support.projects.sources import ZOO
from tests.support.workbench import Workbench

CLOCKED = {"created", "duration", "msecs", "relativeCreated", "thread", "process", "taskName"}
SUITE = {
    "conftest.py": "import pytest\n",
    "pytest.ini": "[pytest]\naddopts = -m 'not slow'\nmarkers = slow\n",
    "tests/test_zoo.py": ZOO,
    "tests/test_talks.py": """
        import logging, sys, warnings
        import pytest

        @pytest.fixture
        def talker():
            print("in setup")
            yield
            print("in teardown", file=sys.stderr)

        def test_talks(talker, record_property):
            print("to stdout")
            print("to stderr", file=sys.stderr)
            logging.getLogger("a.b").warning("count %d", 3)
            warnings.warn("careful", UserWarning)
            record_property("key", "value")

        @pytest.mark.slow
        def test_slow(): pass

        def helper(): raise KeyError("deep")

        def test_deep(): helper()
        """,
    "tests/test_skips.py": "import pytest\npytest.skip('whole module', allow_module_level=True)\n",
}


def comparable(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: comparable(entry) for key, entry in value.items() if key not in CLOCKED}
    if isinstance(value, list):
        return [comparable(entry) for entry in value]
    return re.sub(r"0x[0-9a-f]+", "0x…", value) if isinstance(value, str) else value


async def compare(bench: Workbench, *arguments: str) -> None:
    ours = (await bench.execute(detail="full"))["json_report"]
    target = bench.root.parent / "report.json"
    options = ["--json-report", f"--json-report-file={target}", "-o", "verbosity_assertions=2", *arguments]
    bench.shell(*options)
    theirs = json.loads(target.read_text(encoding="utf-8"))

    assert comparable(ours) == comparable(theirs)
    assert set(ours) == set(theirs)
    assert abs(ours["created"] - theirs["created"]) < 60
    assert all("duration" in test["setup"] for test in ours["tests"])


@pytest.mark.parametrize("environment", ["pytest-7.0", "pytest-8.4", "pytest-9"])
async def test_it_equals_the_plugins_on_a_suite_with_every_outcome(bench: Workbench, environment: str) -> None:
    bench.write(SUITE)

    # On the oldest one, whole diffs need more verbosity.
    await compare(bench.using(environment), *(["-vv"] if environment == "pytest-7.0" else []))


async def test_it_equals_the_plugins_when_files_cannot_be_collected(generation_bench: Workbench) -> None:
    generation_bench.write({"test_fine.py": "def test_fine(): pass\n", "test_broken.py": "import not_there\n"})

    await compare(generation_bench)


async def test_failed_subtests_are_kept_where_the_plugin_loses_them(generation_bench: Workbench) -> None:
    source = "def test_parts(subtests):\n    for n in range(3):\n        with subtests.test(n=n): assert n == 1\n"
    generation_bench.write({"test_sub.py": source})

    report = (await generation_bench.execute(detail="full"))["json_report"]

    (test,) = report["tests"]
    assert [part["description"] for part in test["subtests"]] == ["(n=0)", "(n=2)"]
    assert all(part["outcome"] == "failed" and "assert" in part["crash"]["message"] for part in test["subtests"])
    assert test["outcome"] == "failed"
