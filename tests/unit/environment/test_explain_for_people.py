"""What a person reads of an environment: sections, marks and labels, with and without colours and Unicode."""

from pathlib import Path

import pytest

from pytest_mcp.api.advice import in_shell
from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.results import ExplainResult, Git, Member
from pytest_mcp.environment.explain import Check, CheckStyle, explained, explanation
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.python.members import MemberList
from pytest_mcp.run.events import ImportedElsewhere
from pytest_mcp.terminal.colours import Painter
from pytest_mcp.tools import dump
from tests.support.invented.records import item, session, uncollected
from tests.support.invented.surveys import HELLO, ONE_TEST, SURROUNDINGS, around, portrait, survey, surveyed, trial

PLAIN, COLOURFUL = Painter(has_colours=False), Painter(has_colours=True)


def checks(result: ExplainResult, title: str) -> list[Check]:
    return list(explanation(result)[title])


@pytest.mark.parametrize(("has_unicode", "good", "bad"), [(True, "✓", "✗"), (False, "+", "x")])
def test_a_section_is_its_title_and_lines_whose_words_stand_under_each_other(
    *, has_unicode: bool, good: str, bad: str
) -> None:
    lines = [Check("good", "pytest", "9.2.0"), Check("bad", "temporary folder", "none\nat all")]

    assert CheckStyle(has_unicode, PLAIN).sections({"Python": lines, "Nothing": []}).splitlines() == [
        "Python",
        f"  {good} pytest            9.2.0",
        f"  {bad} temporary folder  none",
        "                      at all",
    ]


def test_colour_is_there_only_where_it_is_wanted() -> None:
    plain, colourful = CheckStyle(has_unicode=True, painter=PLAIN), CheckStyle(has_unicode=True, painter=COLOURFUL)

    assert "\x1b[31m" in colourful.sections({"A": [Check("bad", "b", "c")]})
    assert colourful.closing("Not ready", "do it", is_ready=False) == "\x1b[1;31mNot ready\x1b[0m\nNext: do it"
    assert plain.closing("Ready: 1 test", None, is_ready=True) == "Ready: 1 test"


def test_a_ready_project_has_nothing_that_is_bad_or_to_be_watched() -> None:
    result = explained(trial(surveyed(ONE_TEST)), around(git=Git(top_level="/", main_checkout="/main")))

    assert {check.mark for lines in explanation(result).values() for check in lines} == {"good", "none"}
    assert Check("good", "git", "a folder of the checkout /, a linked worktree of /main") in checks(result, "Project")


def test_settings_are_shown_where_there_are_any() -> None:
    settings = portrait(testpaths=["tests", "more"], rootdir="/project/part")

    result = explained(trial(survey(HELLO, settings, *session(ONE_TEST, selected=1))), SURROUNDINGS)

    values = {check.label: check.text for check in checks(result, "Project")}
    defaults = {"root": "/project", "settings": "none, pytest's defaults"}
    assert values == {**defaults, "rootdir": "part", "testpaths": "tests, more"}


def test_pythons_that_were_passed_over_come_before_the_one_that_is_missing() -> None:
    error = ExecutionFailed("environment", "no Python", RunFacts(), fix=in_shell("make one"))

    result = explained(trial(None, Candidate(Path("/a"), "VIRTUAL_ENV", "is gone"), error=error), SURROUNDINGS)

    assert checks(result, "Python") == [
        Check("warning", "rejected", "/a (VIRTUAL_ENV): is gone"),
        Check("bad", "interpreter", "none"),
    ]
    assert checks(result, "Problem") == [Check("bad", "", "no Python")]
    assert checks(result, "Tests") == []


def test_broken_files_and_foreign_code_are_bad() -> None:
    foreign = ImportedElsewhere("shop", "/other/shop.py", "shop.py")
    result = explained(trial(surveyed(uncollected("test_b.py"), foreign, item("test_a.py::a"))), SURROUNDINGS)

    assert [(check.mark, check.label) for check in checks(result, "Tests")] == [
        ("good", "collected"),
        ("bad", "not collected"),
        ("bad", "imported"),
    ]


def test_each_member_of_a_monorepo_has_a_line_and_only_a_monorepo_has_them() -> None:
    lacking = "packages/b/.venv/bin/python has no pytest"
    members = (
        Member(folder="packages/a", python="3.12.1", pytest="9.2.0", problem=None),
        Member(folder="packages/b", python="3.12.1", pytest=None, problem=lacking),
        Member(folder="packages/c", python=None, pytest=None, problem="no environment"),
    )
    result = explained(trial(surveyed()), around(members=MemberList(members, more=0, is_complete=True)))

    assert checks(result, "Members") == [
        Check("good", "packages/a", "Python 3.12.1, pytest 9.2.0"),
        Check("warning", "packages/b", f"Python 3.12.1; {lacking}"),
        Check("warning", "packages/c", "no environment"),
    ]
    assert "members" not in dump(explained(trial(surveyed()), SURROUNDINGS))
