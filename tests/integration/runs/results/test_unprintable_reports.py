"""Reports that hold what cannot be turned into text, or that were destroyed: what is left is told, and what is not."""

import json
from functools import partial
from typing import Any

import pytest

from pytest_mcp.api.errors import ExecutionFailed
from pytest_mcp.process import process, report_file, start
from pytest_mcp.process.spare import Spare
from pytest_mcp.python import interpreter
from tests.support.runs.standby import execute, waiting_child
from tests.support.waiting import PATIENCE, until
from tests.support.workbench import Workbench

# Each test has its report changed by the entry of its own name, as a plugin might do it.
CONFTEST = """
import pytest

class Mute(Exception):
    def __str__(self): raise ValueError("not a word")
    __repr__ = __str__

class Skips:
    def __str__(self): pytest.skip("in the middle of a report")
    __repr__ = __str__

def change_crash(report):
    report.longrepr.reprcrash.message = Mute()
    report.longrepr.reprcrash.lineno = "seven"

CHANGES = {
    "test_number_for_sections": lambda report: setattr(report, "sections", 5),
    "test_mute_section": lambda report: report.sections.append(("Captured stdout call", Mute())),
    "test_skipping_section": lambda report: report.sections.append(("Captured stdout call", Skips())),
    "test_numbers_in_a_section": lambda report: report.sections.append((1, 2)),
    "test_short_section": lambda report: report.sections.append(("alone",)),
    "test_number_for_properties": lambda report: setattr(report, "user_properties", 5),
    "test_mute_crash": change_crash,
    "test_mute_duration": lambda report: setattr(report, "duration", None),
}

@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" and item.name in CHANGES:
        CHANGES[item.name](report)
"""
NAMES = [line.split('"')[1] for line in CONFTEST.splitlines() if line.startswith('    "test_')]
TESTS = (
    "import logging\nfrom conftest import Mute\n"
    + "".join(f"def {name}(): assert 0\n" for name in NAMES)
    + """
def test_mute_error(): raise Mute()
def test_properties(record_property):
    record_property("mute", Mute())
    record_property("nan", float("nan"))
    record_property("odd", {(1, 2): 3})
    assert 0
def test_mute_log():
    logging.getLogger().warning("said", extra={"what": Mute(), "odd": {(1, 2): 3}})
    assert 0
def test_plain(): pass
"""
)
FAILING = {f"test_a.py::{name}" for name in [*NAMES, "test_mute_error", "test_properties", "test_mute_log"]}


def unshown(answer: dict[str, Any]) -> set[str]:
    """The tests of which something is said not to be shown."""
    return {test["node_id"].partition("::")[2] for test in answer["tests"] if "cannot be shown" in str(test)}


@pytest.mark.parametrize("detail", ["tests", "full"])
async def test_no_failure_is_lost_for_what_its_report_holds(every_bench: Workbench, detail: str) -> None:
    every_bench.write({"conftest.py": CONFTEST, "test_a.py": TESTS})

    answer = await every_bench.execute(detail=detail, max_tokens=200_000)

    assert {test["node_id"] for test in answer["tests"] if test["outcome"] == "failed"} == FAILING
    assert answer["summary"]["passed"] == 1
    told = unshown(answer)
    assert {"test_number_for_sections", "test_mute_section", "test_skipping_section", "test_mute_crash"} <= told
    assert not any("lost" in notice for notice in answer["notices"]), answer["notices"]
    if detail == "full":
        staged = {test["nodeid"]: json.dumps(test) for test in answer["json_report"]["tests"]}
        assert set(staged) >= FAILING
        assert staged["test_a.py::test_properties"].count("cannot be shown") == 3
        assert staged["test_a.py::test_mute_log"].count("cannot be shown") == 2


@pytest.mark.parametrize("where", ["conftest.py", "test_b.py"])
async def test_an_error_without_text_is_still_a_file_that_cannot_be_collected(bench: Workbench, where: str) -> None:
    source = "class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute()\n"
    bench.write({"test_a.py": "def test_a(): pass\n", where: source})

    answer = await bench.execute()

    assert [error["file"] for error in answer["collection_errors"]] == [where]
    assert answer["verdict"] == "failed"


REPORT = """
import os, time
links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
report = next(link for link in links if os.path.realpath(link).endswith("/report"))
"""
DESTROYS = {
    "and leaves": "os.truncate(report, 0); os._exit(0)",
    "and leaves with an error": "os.truncate(report, 0); os._exit(1)",
    "by other text and leaves": "os.truncate(report, 0); open(report, 'a').write('x' * 100_000); os._exit(1)",
}


@pytest.fixture
def _read_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """No record is read while the run lasts, so that all of them can be destroyed."""
    monkeypatch.setattr(report_file, "POLL_SECONDS", PATIENCE)


@pytest.mark.usefixtures("_read_at_the_end")
@pytest.mark.parametrize("how", DESTROYS)
async def test_a_destroyed_report_is_a_crash_and_no_word_on_the_environment(bench: Workbench, how: str) -> None:
    bench.write({"test_a.py": f"{REPORT}\ndef test_destroys(): {DESTROYS[how]}\n"})

    failure = await bench.refused("execute_tests")

    assert failure.data["error_type"] == "crash"
    assert "report" in failure.message.splitlines()[0]
    assert failure.data["environment"]["interpreter"] == str(bench.python)


@pytest.mark.usefixtures("_read_at_the_end")
async def test_what_follows_destroyed_records_is_told_and_is_no_pass(bench: Workbench) -> None:
    bad = "def test_bad(): assert 0\n"
    bench.write({"test_a.py": f"{REPORT}\ndef test_destroys(): os.truncate(report, 0)\n{bad}"})

    answer = await bench.execute()

    assert (answer["verdict"], answer["summary"]["failed"]) == ("failed", 1)
    assert any("lost" in notice for notice in answer["notices"])


@pytest.mark.usefixtures("_read_at_the_end")
async def test_a_run_that_destroyed_its_report_is_not_repeated(bench: Workbench) -> None:
    source = (
        f"{REPORT}\ndef test_counts():\n    open('runs', 'a').write('x')\n    os.truncate(report, 0); os._exit(0)\n"
    )
    bench.write({"test_a.py": "def test_a(): pass\n"})

    async with (spare := Spare(wanted=True, fingerprint=interpreter.state)).kept():
        await execute(bench, spare)
        await until(lambda: waiting_child(spare))
        bench.write({"test_a.py": source})
        with pytest.raises(ExecutionFailed):
            await execute(bench, spare)

    assert (bench.root / "runs").read_text() == "x"


async def test_a_report_without_end_is_ended(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "REPORT_LIMIT", 1_000_000)
    flood = "with open(report, 'a') as channel:\n        while True: channel.write('x' * 10_000)\n"
    bench.write({"test_a.py": f"{REPORT}\ndef test_floods():\n    {flood}"})

    failure = await bench.refused("execute_tests")

    assert failure.data["error_type"] == "crash"
    assert "its report exceeded 512 MiB" in failure.message


@pytest.mark.usefixtures("_read_at_the_end")
async def test_more_records_than_a_run_can_write_are_no_pass(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = partial(report_file.ReportReader, backlog=1000, catch_up_seconds=-1)
    monkeypatch.setattr(process, "ReportReader", reader)
    forged = """open(report, "a").write('{"k":"compared","n":1}\\n' * 20_000)"""
    bench.write({"test_a.py": f"{REPORT}\ndef test_forges(): {forged}\n"})

    failure = await bench.refused("execute_tests")

    data = failure.data
    assert (data["error_type"], data["exit_code"], data["partial"]["verdict"]) == ("crash", 0, "incomplete")
    assert "its report has more records than a test run can write" in failure.message
