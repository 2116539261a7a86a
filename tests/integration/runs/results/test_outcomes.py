"""What the server says of a run equals what pytest says, on every generation of pytest."""

import re
from typing import Any

import pytest

from tests.support.projects.sources import ZOO
from tests.support.runs.shared_runs import Answers, on_each
from tests.support.workbench import GENERATIONS, Workbench

# node id → outcome, by the mapping that docs/outcomes.md publishes
OUTCOMES = {
    "test_passes": "passed",
    "test_fails": "failed",
    "test_skipped": "skipped",
    "test_xfails": "skipped",
    "test_xfails_on_the_way": "skipped",
    "test_xpasses": "passed",
    "test_xpasses_strictly": "failed",
    "test_setup_fails": "error",
    "test_asks_for_a_fixture_that_is_not_there": "error",
    "test_teardown_fails": "error",
    "test_call_and_teardown_fail": "failed",
}


SETTINGS_THAT_HIDE = "[pytest]\naddopts = --tb=line --show-capture=no -q\n"


async def _zoo(bench: Workbench) -> Answers:
    bench.write({"test_zoo.py": ZOO, "pytest.ini": SETTINGS_THAT_HIDE})
    answers = {detail: await bench.execute(detail=detail) for detail in ("tests", "full")}
    return {**answers, "printed": bench.shell().stdout}


zoo = on_each(_zoo, GENERATIONS)


def closing_line(stdout: str) -> dict[str, int]:
    """pytest's own counts: '1 failed, 2 passed in 0.1s' → {'failed': 1, 'passed': 2}"""
    return {word.rstrip("s"): int(count) for count, word in re.findall(r"(\d+) ([a-z]+)", stdout.splitlines()[-1])}


def test_every_kind_of_outcome_is_counted_as_the_published_mapping_says(zoo: Answers) -> None:
    answer = zoo["tests"]

    said = {test["node_id"].removeprefix("test_zoo.py::"): test["outcome"] for test in answer["tests"]}
    assert {name: said[name] for name in OUTCOMES} == OUTCOMES
    assert answer["verdict"] == "failed"
    assert answer["exit_code"] == 1
    assert_counts_equal_pytests_own(answer, closing_line(zoo["printed"]), teardown_errors=2)


def assert_counts_equal_pytests_own(answer: dict[str, Any], line: dict[str, int], *, teardown_errors: int) -> None:
    """pytest counts reports, we count tests: one that also failed in teardown is two reports."""
    summary = answer["summary"]
    also_failed = sum("ERROR at teardown" in (test["traceback"] or "") for test in answer["tests"])
    assert summary["failed"] == line.get("failed", 0)
    assert summary["skipped"] == line.get("skipped", 0) + line.get("xfailed", 0)
    assert summary["errors"] == line.get("error", 0) - also_failed
    assert summary["passed"] == line.get("passed", 0) + line.get("xpassed", 0) - (teardown_errors - also_failed)
    assert summary["total"] == sum(summary[key] for key in ("passed", "failed", "skipped", "errors"))


def test_messages_begin_with_the_exception_and_tracebacks_lead_to_it(zoo: Answers) -> None:
    tests = {test["node_id"].partition("::")[2]: test for test in zoo["tests"]["tests"]}
    failed = tests["test_fails"]
    assert failed["message"] == "AssertionError: assert [1, 2, 3] == [1, 2, 4]"
    assert failed["traceback"].split("\n") == [
        "test_zoo.py:8: in test_fails",
        "    assert [1, 2, 3] == [1, 2, 4]",
        "E     [2]: 3 != 4",
        "Captured stdout call:",
        "seen on stdout",
    ]
    assert tests["test_setup_fails"]["message"] == "ValueError: no fixture"
    assert tests["test_asks_for_a_fixture_that_is_not_there"]["message"] == (
        "FixtureLookupError: fixture 'nowhere' not found"
    )
    both = tests["test_call_and_teardown_fail"]
    assert both["message"] == "AssertionError: assert 1 == 2 (and 1 more)"
    assert both["traceback"].index("assert 1 == 2") < both["traceback"].index("ERROR at teardown")
    assert both["traceback"].index("ERROR at teardown: RuntimeError: no teardown") < both["traceback"].index("leaky\n")
    assert tests["test_skipped"] == {
        "node_id": "test_zoo.py::test_skipped",
        "outcome": "skipped",
        "duration": tests["test_skipped"]["duration"],
        "message": "not today",
        "traceback": None,
    }
    assert tests["test_xfails"]["message"] == "xfailed: known bug"
    assert tests["test_xfails_on_the_way"]["message"] == "xfailed: gave up"
    assert tests["TestUnit::test_skipped"]["message"] == "unit skip"
    assert tests["test_xpasses_strictly"]["message"] == "Failed: [XPASS(strict)] must not pass"


PLACELESS = """\
import unittest
import pytest

@pytest.mark.xfail(strict=True)
@pytest.mark.parametrize("x", [1, 2])
def test_one(x): pass

@pytest.mark.xfail(strict=True)
def test_two(): pass

def test_three(): pytest.fail("no way", pytrace=False)

class TestUnit(unittest.TestCase):
    @unittest.expectedFailure
    def test_four(self): pass
"""


@pytest.mark.parametrize("environment", GENERATIONS)
async def test_a_failure_without_a_traceback_has_a_type_and_the_place_of_its_test(
    bench: Workbench, environment: str
) -> None:
    bench.write({"test_a.py": PLACELESS})

    answer = await bench.using(environment).execute(detail="tests")

    told = {test["node_id"].partition("::")[2]: [test["message"], test["traceback"]] for test in answer["tests"]}
    assert told["test_one[1]"] == ["Failed: [XPASS(strict)]", "test_a.py:4: in test_one"]
    assert told["test_two"] == ["Failed: [XPASS(strict)]", "test_a.py:8: in test_two"]
    assert told["test_three"] == ["Failed: no way", "test_a.py:11: in test_three"]
    assert told["TestUnit::test_four"] == ["Failed: Unexpected success", "test_a.py:14: in test_four"]
    assert [(group["count"], group["location"]) for group in answer["failure_groups"]] == [(2, "test_a.py:4")]


def test_with_detail_full_messages_are_whole_and_tracebacks_are_pytests_own(zoo: Answers) -> None:
    tests = {test["node_id"].partition("::")[2]: test for test in zoo["full"]["tests"]}
    failed = tests["test_fails"]
    assert failed["message"].startswith("AssertionError: assert [1, 2, 3] == [1, 2, 4]\n")
    assert ">       assert [1, 2, 3] == [1, 2, 4]" in failed["traceback"]
    assert "test_zoo.py:8: AssertionError" in failed["traceback"]
    assert failed["traceback"].endswith("- Captured stdout call -----------------------------\nseen on stdout")
    both = tests["test_call_and_teardown_fail"]
    assert both["message"].startswith("AssertionError: assert 1 == 2")
    assert both["message"].endswith("RuntimeError: no teardown")
    assert both["traceback"].index("assert 1 == 2") < both["traceback"].index("_ ERROR at teardown _")


async def test_no_diff_is_cut_whatever_the_verbosity(generation_bench: Workbench) -> None:
    generation_bench.write(
        {
            "test_long.py": """
            def test_lists(): assert list(range(60)) == list(range(30)) + [0] + list(range(31, 60))
            def test_text(): assert "\\n".join("abcdefghij") * 3 == "\\n".join("abcdefghik") * 3
            """
        }
    )

    answer = await generation_bench.execute(verbosity=-1)

    told = str([test["message"] + test["traceback"] for test in answer["tests"]])
    assert not re.search(r"use '?-v+'?|Full output truncated|\.\.\.truncated", told, re.IGNORECASE)
    lists, text = (test["traceback"] for test in answer["tests"])
    assert "E     [30]: 30 != 0" in lists
    assert [line for line in text.split("\n") if line.startswith("E ")] == [
        "E     line 10, character 1: - 'ka'",
        "E     + 'ja'",
        "E     2 more lines differ, each by 'j' for 'k'",
    ]


SUBTESTS = """
    import unittest

    def test_parts(subtests):
        for number in range(3):
            with subtests.test("part", number=number):
                assert number != 1

    class TestUnit(unittest.TestCase):
        def test_parts(self):
            for number in range(3):
                with self.subTest(number=number):
                    self.assertNotEqual(number, 2)

    def test_fine(subtests):
        with subtests.test("part"): pass
"""
DOCTESTS = '''
    def good():
        """
        >>> 1 + 1
        2
        """

    def bad():
        """
        >>> 1 + 1
        3
        """
'''
# Properties, log records and reasons are the project's own objects.
ODD = """
    import logging
    import pytest

    def test_property(record_property):
        record_property("x", float("nan"))
        assert 0

    def test_log():
        logging.getLogger().warning("x", extra={"d": {(1, 2): 3}})
        assert 0

    @pytest.mark.xfail(reason=42)
    def test_reason(): assert 0
"""
SEVERAL_KINDS = {
    "pytest.ini": "[pytest]\naddopts = --doctest-modules\n",
    "src/sums.py": DOCTESTS,
    "test_a.py": "def test_bad():\n    assert 0\ndef test_needs(nothing): pass\n",
    "test_notes.txt": ">>> 2 * 2\n4\n",
    "test_odd.py": ODD,
    "test_sub.py": SUBTESTS,
}


async def _several_kinds(bench: Workbench) -> Answers:
    bench.write(SEVERAL_KINDS)
    return {"root": str(bench.root)} | {detail: await bench.execute(detail=detail) for detail in ("tests", "full")}


several_kinds = on_each(_several_kinds, GENERATIONS)


def of_file(answer: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    tests = ((test["node_id"].partition("::"), test) for test in answer["tests"])
    return {place[2]: test for place, test in tests if place[0] == name}


def outcomes(tests: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: test["outcome"] for name, test in tests.items()}


def test_a_failed_subtest_makes_its_test_failed_and_the_message_says_which(several_kinds: Answers) -> None:
    tests = of_file(several_kinds["tests"], "test_sub.py")

    assert outcomes(tests) == {"test_parts": "failed", "TestUnit::test_parts": "failed", "test_fine": "passed"}
    plain, unit = (tests[f"{name}test_parts"] for name in ("", "TestUnit::"))
    assert plain["message"] == "AssertionError: assert 1 != 1 in subtest [part] (number=1)"
    assert unit["message"] == "AssertionError: 2 == 2 in subtest (number=2)"
    assert plain["traceback"] == "test_sub.py:6: in test_parts\n    assert number != 1"


def test_texts_of_failures_keep_their_indentation_and_name_places_from_the_root(several_kinds: Answers) -> None:
    texts = {test["node_id"]: test["traceback"] for test in several_kinds["tests"]["tests"]}
    whole = of_file(several_kinds["full"], "test_a.py")

    assert whole["test_bad"]["traceback"].startswith("    def test_bad():\n>       assert 0\n")
    assert texts["test_a.py::test_bad"] == "test_a.py:2: in test_bad\n    assert 0"
    assert texts["src/sums.py::sums.bad"].splitlines()[-1] == "src/sums.py:9: DocTestFailure"
    assert texts["test_a.py::test_needs"].splitlines()[-1] == "test_a.py:3"
    assert several_kinds["root"] not in str(several_kinds["tests"])
    assert several_kinds["root"] not in str(several_kinds["full"]["tests"])


def test_doctests_are_tests(several_kinds: Answers) -> None:
    tests = of_file(several_kinds["tests"], "src/sums.py")

    assert outcomes(tests) == {"sums.good": "passed", "sums.bad": "failed"}
    assert outcomes(of_file(several_kinds["tests"], "test_notes.txt")) == {"test_notes.txt": "passed"}
    assert tests["sums.bad"]["message"] == "DocTestFailure: Expected: 3 Got: 2"
    assert tests["sums.bad"]["traceback"].endswith("Expected:\n    3\nGot:\n    2\nsrc/sums.py:9: DocTestFailure")


def test_what_json_cannot_say_hides_no_failure(several_kinds: Answers) -> None:
    for answer in (several_kinds["tests"], several_kinds["full"]):
        said = outcomes(of_file(answer, "test_odd.py"))
        assert said == {"test_property": "failed", "test_log": "failed", "test_reason": "skipped"}
        summary = answer["summary"]
        assert [summary[key] for key in ("passed", "failed", "skipped", "errors")] == [3, 6, 1, 1]
        assert answer["notices"] == []


async def test_a_module_that_skips_itself_counts_as_one_skipped_test(generation_bench: Workbench) -> None:
    generation_bench.write(
        {
            "test_absent.py": 'import pytest\npytest.skip("no database", allow_module_level=True)\n',
            "test_here.py": "def test_one(): pass\n",
        }
    )

    answer = await generation_bench.execute()

    assert answer["verdict"] == "passed"
    assert answer["summary"]["skipped"] == 1
    assert answer["tests"][-1] == {
        "node_id": "test_absent.py",
        "outcome": "skipped",
        "duration": 0.0,
        "message": "no database",
        "traceback": None,
    }
