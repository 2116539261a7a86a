"""The output of `pytest-mcp discover`, for people and for programs."""

from pytest_mcp.api.results import DiscoverResult, FileTests, OmittedTests
from pytest_mcp.cli.commands import discover
from pytest_mcp.report import discovery as discoveries
from pytest_mcp.run.events import Event
from pytest_mcp.terminal.colours import Painter
from tests.support.invented.records import discovery, item, session, uncollected

UNREACHABLE = (
    "note: 1 test(s) cannot be run by their ids, first 'a.py::T::test_x[\\t1]': their paths lead out of the root"
    " through a symlink, or have characters that a call cannot name ([, ::); name a folder above them."
)
PLAIN = Painter(has_colours=False)
TESTS: list[Event] = [item("b/test_b.py::test_one"), item("a.py::T::test_x[\t1]"), item("a.py::test_y")]


def found(*events: Event) -> DiscoverResult:
    return discoveries.whole_discovery(discovery(session(*events, selected=len(events))))


def test_for_a_person_tests_stand_below_their_files_with_counts() -> None:
    assert discover.for_people(found(*TESTS), PLAIN) == [
        "b/test_b.py (1)",
        "  test_one",
        "a.py (2)",
        "  T::test_x[\\t1]",
        "  test_y",
        "",
        UNREACHABLE,
        "3 tests",
    ]


def test_for_a_program_there_is_one_node_id_in_each_line() -> None:
    assert discover.for_programs(found(*TESTS)) == [
        "b/test_b.py::test_one",
        "a.py::T::test_x[\\t1]",
        "a.py::test_y",
    ]


def test_what_went_wrong_stands_between_the_tests_and_the_count() -> None:
    broken = uncollected("c.py", error_type="NameError", message="x", line=2)

    said = discover.for_people(found(*TESTS[:1], broken), PLAIN)

    assert said[2:] == [
        "",
        "NOT COLLECTED c.py:2",
        "NameError: x",
        "",
        "note: 1 file(s) could not be collected; their tests are not counted.",
        "1 test",
    ]


def counted(*files: FileTests, omitted: OmittedTests | None = None) -> DiscoverResult:
    count = sum(file.count for file in files)
    return found().model_copy(update={"count": count, "notices": [], "files": list(files), "omitted": omitted})


def test_where_tests_were_left_out_files_and_folders_stand_for_them() -> None:
    files = [FileTests(file="a.py", count=300, tests=None), FileTests(file="b/", count=20, tests=None)]
    result = counted(*files, omitted=OmittedTests(tests=320, hint="narrow by path"))

    assert discover.for_programs(result) == ["a.py", "b/"]
    assert discover.for_people(result, PLAIN) == [
        "a.py (300)",
        "b/ (20)",
        "",
        "note: Not everything is listed: narrow by path.",
        "320 tests",
    ]


def test_many_tests_stand_below_their_files_and_a_program_gets_their_functions() -> None:
    tests = ["T::test_x:3 (2)", "test_y:17", "doc", "test_y:40"]
    result = counted(
        FileTests(file="a.py", count=5, tests=tests), FileTests(file="b.py", count=2, tests=["test_z:1 (2)"])
    )

    assert discover.for_programs(result) == ["a.py::T::test_x", "a.py::test_y", "a.py::doc", "b.py::test_z"]
    assert discover.for_people(result, PLAIN)[:2] == ["a.py (5)", "  T::test_x:3 (2)"]
    assert discover.for_people(result, PLAIN)[-1] == "7 tests"
