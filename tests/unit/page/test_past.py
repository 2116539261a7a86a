"""The recorded runs of the tests on a page."""

from dataclasses import replace

from pytest_mcp.page.content import Content
from pytest_mcp.page.past import MOST_FAILING, section, shown_ids
from pytest_mcp.page.strip import Result
from tests.support.invented.records import execution, session
from tests.support.page.pages import Seen, content_of, failing, mixed_run, passing_run

ALIKE = "tests/test_a.py::test_alike[1]"
COMPARED = "tests/test_a.py::test_compared"


def with_past(content: Content, **past: str) -> Content:
    """One letter for each recorded run; a pass took 0.2 s."""
    recorded = {name: [Result(letter, 0.2 if letter == "P" else 0.1) for letter in row] for name, row in past.items()}
    return replace(content, past=recorded)


def words_of(content: Content, node_id: str) -> str:
    texts = [text for text in Seen(section(content)).texts if text.strip()]
    return texts[texts.index(node_id) + 1]


def test_a_page_without_a_history_has_no_section() -> None:
    assert section(content_of(mixed_run())) == ""


def test_the_first_test_of_each_cause_comes_first_and_the_slowest_last() -> None:
    content = content_of(mixed_run())
    examples = [cause.node_ids[0] for cause in content.causes]

    shown = shown_ids(content)

    assert shown[: len(examples)] == examples
    assert {test.node_id for test in content.tests if test.outcome in ("failed", "error")} <= set(shown)
    assert len(shown) == len(set(shown))


def test_each_run_is_a_letter_and_a_bar_and_this_run_is_the_last() -> None:
    content = with_past(content_of(mixed_run()), **{ALIKE: "PPF", COMPARED: "S"})

    seen = Seen(section(content))
    bars = [value for name, value in seen.values if name == "class" and value in ("passed", "failed", "skipped")]

    assert "PPFF" in seen.texts
    assert "SF" in seen.texts
    assert bars[:4] == ["passed", "passed", "failed", "failed"]
    assert ("viewbox", "0 0 40 20") in seen.values
    assert seen.has_text("P passed, F failed, E error, S skipped")


def test_words_tell_how_often_it_failed_and_how_long_it_took() -> None:
    content = with_past(content_of(mixed_run()), **{ALIKE: "PPF", COMPARED: "FF"})

    assert words_of(content, ALIKE) == "0.100 s, 0.200 s when it passed, failed 1 of 3 times before"
    assert words_of(content, COMPARED).endswith(" s, failed 2 of 2 times before")
    assert words_of(content, "tests/test_b.py::test_setup").endswith(" s, no earlier run is recorded")


def test_many_failing_tests_are_counted_and_not_drawn() -> None:
    number = MOST_FAILING + 7
    run = execution(session(*(failing(n) for n in range(number)), selected=number, exit_status=1), code=1)

    seen = Seen(section(with_past(content_of(run))))

    assert len([tag for tag, _ in seen.tags if tag == "svg"]) == MOST_FAILING
    assert seen.has_text("7 more failing tests are left out here.")


def test_a_run_in_which_nothing_failed_shows_the_slowest() -> None:
    content = content_of(passing_run())
    slow = [test.model_copy(update={"duration": 1.0}) for test in content.tests]

    seen = Seen(section(with_past(replace(content, tests=slow), **{slow[0].node_id: "F"})))

    assert "FP" in seen.texts
