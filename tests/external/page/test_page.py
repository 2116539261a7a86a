"""`make page`: pages of `--html` in a real Chromium. Deselected by default, since not every machine has one."""

import json
import shlex
from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_mcp.api.results import Outcome
from pytest_mcp.page.content import Content
from pytest_mcp.page.sections import recorded_ids
from pytest_mcp.report.coverage import MeasuredCoverage
from pytest_mcp.run.events import CoveredFile
from tests.support.invented.records import execution, one_test, raised, session
from tests.support.page.browser import LOOKS, Open
from tests.support.page.pages import (
    HOSTILE,
    content_of,
    empty_run,
    hostile_run,
    huge_run,
    incomplete_run,
    investigated,
    mixed_run,
    passing_run,
    rendered,
    rendered_investigation,
)

pytestmark = pytest.mark.external(target="page")

LETTERS = "PPPFPPSPPPEPPPPPPPPFPPPPPFFFF"


def with_past(content: Content) -> Content:
    results = [(letter, 0.1 + number % 7 / 10) for number, letter in enumerate(LETTERS)]
    return replace(content, past=dict.fromkeys(recorded_ids(content), results))


RUNS: dict[str, Callable[[], Content]] = {
    "passing": lambda: content_of(passing_run()),
    "mixed": lambda: with_past(content_of(mixed_run())),
    "incomplete": lambda: content_of(incomplete_run()),
    "empty": lambda: content_of(empty_run()),
    "hostile": lambda: with_past(content_of(hostile_run())),
}
PAGES: dict[str, Callable[[], Content | str]] = {
    **RUNS,
    "investigated": lambda: rendered_investigation(*investigated(runs=50)),
    "investigated, hostile": lambda: rendered_investigation(*investigated("".join(HOSTILE))),
}
UNFOLD = "document.querySelectorAll('details').forEach((each) => each.unfold && each.unfold())"
# More rows than a screen has, and far fewer than tests.
MAX_NODES = 4_000


def counts_of(content: Content) -> dict[str, int]:
    summary = content.report.summary
    counts = {"failed": summary.failed, "errors": summary.errors, "passed": summary.passed, "skipped": summary.skipped}
    less_usual = {
        "not run": content.report.not_run + len(content.report.running),
        "deselected": content.report.deselected,
    }
    return counts | {name: number for name, number in less_usual.items() if number}


def failing_or_all(content: Content) -> int:
    """The list opens on the failures, if there are any."""
    return sum(test.outcome in ("failed", "error") for test in content.tests) or len(content.tests)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_no_barrier_and_nothing_is_wider_than_the_screen(show: Open, name: str, look: str) -> None:
    opened = show(PAGES[name](), **LOOKS[look])
    opened.page.evaluate(UNFOLD)

    wider = opened.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    assert opened.violations() == []
    assert wider == 0


@pytest.mark.parametrize("name", RUNS)
def test_the_page_shows_what_the_run_has(show: Open, name: str) -> None:
    content = RUNS[name]()

    opened = show(content)

    numbers = dict(zip(opened.texts(".tile dt"), map(int, opened.texts(".tile dd")), strict=True))
    assert numbers == {**counts_of(content), "total": content.report.summary.total}
    assert opened.page.locator(f".banner.{content.report.verdict}").count() == 1
    assert opened.page.locator(".causes > .cause").count() == len(content.report.groups)
    assert opened.page.locator(".uncollected").count() == len(content.report.collection_errors)
    assert opened.texts(".found") == [f"{failing_or_all(content)} of {len(content.tests)}"] * bool(content.tests)
    assert opened.page.locator(".row").count() == failing_or_all(content)
    assert len(opened.texts("#notices li")) == len(content.report.notices)


def test_a_cause_shows_its_frames_its_difference_and_folded_output(show: Open) -> None:
    opened = show(content_of(mixed_run()))
    cause = opened.page.locator(".cause", has_text="tests/test_a.py:9")

    assert "assert one() == 'two'" in cause.locator(".statement").all_text_contents()
    assert cause.locator("del").all_text_contents() == ["  - two"]
    assert cause.locator("ins").all_text_contents() == ["  + one"]
    assert [each.strip() for each in cause.locator("mark").all_text_contents()] == ["tw", "ne"]
    output = cause.locator("details", has_text="Captured stdout call")
    assert output.locator("pre").count() == 0
    output.locator("summary").click()
    assert output.locator("pre").text_content() == "printed by the test\n"


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("+    where total = Cart().total", []),
        ("At index 1 diff: 2 != 3", ["2", "3"]),
        (".lines['a b'].price: 'pen' != 'pan'", ["e", "a"]),
        ("'key: 1' != 'key: 2'", ["1", "2"]),
    ],
)
def test_of_two_values_only_what_differs_is_marked(show: Open, line: str, marked: list[str]) -> None:
    told = raised(f"AssertionError: assert x == y\n  \n  {line}", ("tests/test_a.py:9", "f", "assert x == y"))
    run = execution(session(one_test("tests/test_a.py::test_x", told), selected=1, exit_status=1), code=1)

    opened = show(content_of(run))

    assert opened.texts(".raised mark") == marked
    assert opened.page.locator(".raised ins, .raised del").count() == 0
    assert line in "".join(opened.texts(".raised"))


def test_the_ids_of_a_cause_and_their_commands_can_be_copied(show: Open) -> None:
    opened = show(content_of(mixed_run()))
    cause = opened.page.locator(".cause", has_text="KeyError: 'pen'").first
    ids = [f"tests/test_a.py::test_alike[{number}]" for number in (1, 2, 3)]

    cause.get_by_role("button", name="Copy id").first.click()
    assert opened.copied() == ids[0]
    cause.get_by_role("button", name="Copy command").first.click()
    assert opened.copied() == shlex.join(["pytest-mcp", "run", ids[0]])
    cause.get_by_role("button", name="Copy all ids").click()
    assert opened.copied().split("\n") == ids
    cause.get_by_role("button", name="Copy command for all").click()
    assert opened.copied() == shlex.join(["pytest-mcp", "run", *ids])
    assert opened.texts("#said") == ["Copied the command."]
    cause.get_by_text("2 more with this cause").click()
    cause.locator(".members > li").nth(1).wait_for()
    hostile = show(content_of(hostile_run()))
    for index, node_id in enumerate(hostile.texts(".cause .test-head .id")):
        hostile.page.locator(".cause .test-head").nth(index).get_by_role("button", name="Copy command").click()
        assert hostile.copied() == f"pytest-mcp run {shlex.quote(node_id)}"


@pytest.mark.parametrize(("outcome", "listed"), [("failed", 4), ("error", 1), ("skipped", 1), ("passed", 1)])
def test_the_list_is_filtered_by_outcome_and_by_text(show: Open, outcome: Outcome, listed: int) -> None:
    opened = show(content_of(mixed_run()))

    opened.page.locator("#tests .buttons").get_by_role("button", name=outcome).click()

    assert opened.texts(".row .outcome") == [outcome] * listed
    assert opened.texts(".found") == [f"{listed} of 7"]
    opened.page.get_by_role("searchbox").fill("no such test")
    assert opened.page.locator(".row").count() == 0
    opened.page.get_by_role("searchbox").fill("TEST_ alike" if outcome == "failed" else "test_")
    assert opened.page.locator(".row").count() == (3 if outcome == "failed" else listed)


def test_the_list_is_used_with_the_keyboard_alone(show: Open) -> None:
    opened = show(content_of(mixed_run()))
    listbox = opened.page.get_by_role("listbox")
    listbox.focus()

    for key in ("End", "Enter"):
        opened.page.keyboard.press(key)

    dialog = opened.page.get_by_role("dialog")
    assert dialog.locator("h2").text_content() == "tests/test_b.py::test_setup"
    assert "OSError: no disk" in (dialog.text_content() or "")
    assert opened.violations() == []
    opened.page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert listbox.evaluate("(element) => element === document.activeElement")


@pytest.mark.parametrize(
    ("name", "title"), [("hostile", "Failed"), ("investigated, hostile", "Depends on the order of the tests")]
)
def test_hostile_text_is_shown_as_it_is_and_runs_nothing(show: Open, name: str, title: str) -> None:
    opened = show(PAGES[name]())
    opened.page.evaluate(UNFOLD)

    shown = opened.page.locator("body").text_content() or ""

    assert opened.page.title() == f"{title} · shop"
    assert opened.page.locator("body script, body img, body style, body iframe").count() == 2
    assert [text for text in HOSTILE[:8] if text not in shown] == []


def test_markup_that_a_script_would_write_is_refused_by_the_policy(show: Open) -> None:
    opened = show(content_of(passing_run()))

    refused = opened.page.evaluate(
        "() => { try { document.body.innerHTML = '<b>x</b>'; return 'written'; } catch (error) { return error.name; } }"
    )

    assert refused == "TypeError"
    opened.messages.clear()


def test_ten_thousand_tests_and_five_hundred_failures_are_few_elements_and_the_list_reaches_its_end(show: Open) -> None:
    opened = show(content_of(huge_run()))

    nodes = opened.page.evaluate("document.getElementsByTagName('*').length")

    assert nodes < MAX_NODES
    assert opened.texts(".found") == ["500 of 10,000"]
    opened.page.get_by_role("button", name="All 10,000").click()
    assert opened.texts(".found") == ["10,000 of 10,000"]
    opened.page.locator(".list").focus()
    opened.page.keyboard.press("End")
    opened.page.locator(".row", has_text="test_499").wait_for()
    assert opened.page.locator(".row").count() < 60


def test_a_viewer_without_scripts_sees_the_printed_report_and_others_do_not(show: Open) -> None:
    page = rendered(content_of(mixed_run()), "<b>failed</b>: 3 of 7")

    without, usual = show(page, java_script_enabled=False), show(page)

    assert without.texts("main > *") == ["Failed · shop", "<b>failed</b>: 3 of 7"]
    assert usual.page.locator("main > pre").count() == 0


def test_a_link_to_one_failure_opens_it_and_one_to_no_test_is_told_so(show: Open) -> None:
    opened = show(content_of(mixed_run()))
    opened.page.locator(".cause", has_text="KeyError: 'pen'").get_by_role("button", name="Copy link").first.click()
    link = opened.copied()

    opened.page.goto("about:blank")
    opened.page.goto(link)

    dialog = opened.page.get_by_role("dialog")
    assert link.startswith(f"{opened.path.as_uri()}#test=tests%2Ftest_a.py")
    assert dialog.locator("h2").text_content() == "tests/test_a.py::test_alike[1]"
    assert "KeyError: 'pen'" in (dialog.text_content() or "")
    opened.page.keyboard.press("Escape")
    opened.page.evaluate("location.hash = 'test=' + encodeURIComponent('<img src=x onerror=alert(1)>')")

    opened.page.get_by_text("The linked test is not on this page.").wait_for()
    assert not opened.page.get_by_role("dialog").is_visible()


def test_on_a_phone_each_row_of_the_list_has_the_whole_name_of_the_file(show: Open) -> None:
    long = "tests/test_with_a_long_name.py::test_whose_name_is_much_longer_than_the_screen_of_a_phone_is_wide"
    run = execution(session(one_test(long, raised("KeyError: 1", node_id=long)), selected=1, exit_status=1), code=1)

    opened = show(content_of(run), viewport={"width": 400, "height": 800})

    file, name = opened.page.locator(".row .name span").all()
    assert file.text_content() == "tests/test_with_a_long_name.py::"
    assert file.evaluate("(each) => each.scrollWidth <= each.clientWidth")
    assert file.bounding_box()["y"] < name.bounding_box()["y"]
    assert opened.page.locator(".row").bounding_box()["height"] == 48


def test_coverage_shows_the_lines_that_did_not_run(show: Open) -> None:
    file = CoveredFile("src/a.py", lines=4, missed=2, ranges="3,12", untaken=[[3, 5]])
    measured = MeasuredCoverage(files=[file], lines=4, missed=2)
    lines = {"src/a.py": [(3, "if <b>:"), (12, "    return")]}

    opened = show(replace(content_of(passing_run(), coverage=measured), missed_lines=lines))
    opened.page.locator("#coverage summary").click()

    assert opened.texts("#coverage pre") == [" 3  if <b>:\n12      return"]
    assert "50 %, 2 lines did not run" in opened.texts("#coverage .words")
    assert opened.violations() == []


def test_a_printed_page_has_every_cause_open_and_no_list(show: Open) -> None:
    opened = show(content_of(mixed_run()))

    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened.page.emulate_media(media="print")

    assert opened.page.locator(".causes > .cause:not([open])").count() == 0
    assert not opened.page.locator("#tests").is_visible()
    assert opened.page.pdf()[:4] == b"%PDF"


def test_what_an_investigation_found_can_be_copied(show: Open) -> None:
    opened = show(rendered_investigation(*investigated("test_x[a b]")))
    ids = ["tests/test_a.py::test_x[a b]", "tests/test_b.py::test_x[a b]"]

    for number, text in enumerate([f"pytest-mcp run '{ids[0]}' '{ids[1]}'", json.dumps({"node_ids": ids})]):
        opened.page.locator(".copyable").nth(number).get_by_role("button", name="Copy").click()
        assert opened.copied() == text
    assert opened.page.locator(".causes > .cause").count() == 1
    assert opened.page.locator("#suspects rect").count() == 2
