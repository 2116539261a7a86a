"""The report of `doctor`: sections, marks and labels, with and without colours and Unicode."""

from pathlib import Path

from pytest_mcp.api.advice import in_shell
from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.api.results import ExplainResult, Git, Member
from pytest_mcp.cli.mcp_client import Handshake
from pytest_mcp.cli.render_doctor import (
    ASCII_MARKS,
    MARKS,
    Line,
    Section,
    Style,
    closing,
    of_environment,
    of_handshake,
    of_stderr,
    rendered,
)
from pytest_mcp.environment.explain import explained
from pytest_mcp.environment.readiness import Standing
from pytest_mcp.python.interpreter import Candidate
from pytest_mcp.python.members import MemberList
from pytest_mcp.run.events import ImportedElsewhere
from pytest_mcp.terminal.colours import Painter
from pytest_mcp.tools import dump
from tests.support.invented.records import item, session, uncollected
from tests.support.invented.surveys import HELLO, ONE_TEST, SURROUNDINGS, around, portrait, survey, surveyed, trial

PLAIN = Style(ASCII_MARKS, Painter(has_colours=False))


def lines(found: ExplainResult, title: str) -> list[Line]:
    return [line for section in of_environment(found) if section.title == title for line in section.lines]


def marks(found: ExplainResult) -> set[str]:
    return {line.mark for section in of_environment(found) for line in section.lines}


def test_a_section_is_its_title_and_lines_whose_words_stand_under_each_other() -> None:
    section = Section("Python", (Line("good", "pytest", "9.2.0"), Line("bad", "temporary folder", "none\nat all")))

    assert rendered(section, Style(MARKS, Painter(has_colours=False))).splitlines() == [
        "Python",
        "  ✓ pytest            9.2.0",
        "  ✗ temporary folder  none",
        "                      at all",
    ]


def test_without_the_signs_there_are_letters() -> None:
    section = Section("A", (Line("good", "", "one"), Line("warning", "", "two"), Line("bad", "", "three")))

    assert rendered(section, PLAIN).splitlines() == ["A", "  + one", "  ! two", "  x three"]


def test_colour_is_there_only_where_it_is_wanted() -> None:
    section, standing = Section("A", (Line("bad", "b", "c"),)), Standing(False, "Not ready", "do it")

    assert "\x1b[31m" in rendered(section, Style(MARKS, Painter(has_colours=True)))
    assert "\x1b[" not in rendered(section, PLAIN) + closing(standing, PLAIN)
    assert closing(standing, Style(MARKS, Painter(has_colours=True))) == "\x1b[1;31mNot ready\x1b[0m\nNext: do it"


def test_the_last_line_is_the_summary_or_the_next_step() -> None:
    assert closing(Standing(True, "Ready: 1 test", None), PLAIN) == "Ready: 1 test"
    assert closing(Standing(False, "Not ready: no", "go"), PLAIN) == "Not ready: no\nNext: go"


def test_the_handshake_tells_who_answered_what_was_offered_and_how_fast() -> None:
    told = rendered(of_handshake(Handshake("pytest-mcp", "1.0", "2026-07-28", ("one", "two"), 0.1234)), PLAIN)

    assert all(word in told for word in ("pytest-mcp 1.0", "2026-07-28", "one, two", "0.12 s"))


def test_a_server_without_tools_is_a_bad_one() -> None:
    assert any(line.mark == "bad" for line in of_handshake(Handshake("other", "1", "2026-07-28", (), 0.1)).lines)


def test_a_ready_project_has_nothing_that_is_bad_or_to_be_watched() -> None:
    checked = around(git=Git(top_level=".", main_checkout=None))

    assert marks(explained(trial(surveyed(ONE_TEST)), checked)) == {"good", "none"}


def test_settings_are_shown_where_there_are_any() -> None:
    told = portrait(testpaths=["tests", "more"], markers=["slow"], addopts=["-ra"], rootdir="/project/part")

    found = explained(trial(survey(HELLO, told, *session(ONE_TEST, selected=1))), SURROUNDINGS)

    shown = {line.label: line.text for line in lines(found, "Project")}
    assert shown == {
        "root": "/project",
        "settings": "none, pytest's defaults",
        "rootdir": "part",
        "testpaths": "tests, more",
        "addopts": "-ra",
        "markers": "slow",
    }


def test_a_root_below_the_top_of_its_checkout_and_a_linked_worktree_are_shown() -> None:
    found = explained(trial(surveyed(ONE_TEST)), around(git=Git(top_level="/", main_checkout="/main")))

    (git,) = [line for line in lines(found, "Project") if line.label == "git"]
    assert git == Line("good", "git", "a folder of the checkout /, a linked worktree of /main")
    assert found.notices == []


def test_pythons_that_were_passed_over_come_before_the_one_that_is_missing() -> None:
    error = ExecutionFailed("environment", "no Python", RunFacts(), fix=in_shell("make one"))

    found = explained(trial(None, Candidate(Path("/a"), "VIRTUAL_ENV", "is gone"), error=error), SURROUNDINGS)

    assert lines(found, "Python") == [
        Line("warning", "rejected", "/a (VIRTUAL_ENV): is gone"),
        Line("bad", "interpreter", "none"),
    ]
    assert lines(found, "Problem") == [Line("bad", "", "no Python")]
    assert lines(found, "Tests") == []


def test_broken_files_and_foreign_code_are_bad() -> None:
    foreign = ImportedElsewhere("shop", "/other/shop.py", "shop.py")
    told = surveyed(uncollected("test_b.py"), foreign, item("test_a.py::a"))

    shown = lines(explained(trial(told), SURROUNDINGS), "Tests")

    assert [(line.mark, line.label) for line in shown] == [
        ("good", "collected"),
        ("bad", "not collected"),
        ("bad", "imported"),
    ]


def test_what_a_server_says_beside_the_protocol_cannot_move_the_cursor() -> None:
    assert "\x1b" not in rendered(of_stderr("a\x1b[2Jb\n"), PLAIN)


def test_each_member_of_a_monorepo_has_a_line_and_only_a_monorepo_has_them() -> None:
    members = MemberList(
        (
            Member(folder="packages/a", python="3.12.1", pytest="9.2.0", problem=None),
            Member(
                folder="packages/b", python="3.12.1", pytest=None, problem="packages/b/.venv/bin/python has no pytest"
            ),
            Member(folder="packages/c", python=None, pytest=None, problem="no environment"),
        ),
        more=0,
        is_complete=True,
    )
    found = explained(trial(surveyed()), around(members=members))

    assert lines(found, "Members") == [
        Line("good", "packages/a", "Python 3.12.1, pytest 9.2.0"),
        Line("warning", "packages/b", "Python 3.12.1; packages/b/.venv/bin/python has no pytest"),
        Line("warning", "packages/c", "no environment"),
    ]
    assert dump(found)["members"][2] == {
        "folder": "packages/c",
        "python": None,
        "pytest": None,
        "problem": "no environment",
    }
    assert "members" not in dump(explained(trial(surveyed()), SURROUNDINGS))
