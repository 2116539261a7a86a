"""What the page of several runs shows."""

from pytest_mcp.page import content
from tests.support.invented.shards import failed, red


def test_the_page_of_several_runs_has_the_failures_and_the_tests_of_all() -> None:
    one, two = (
        red(number, failed(f"{name}/test_x.py::test_bad", f"ValueError: {name}", f"{name}/test_x.py:1: in test_bad"))
        for number, name in ((1, "a"), (2, "b"))
    )
    assert one.result is not None
    assert two.result is not None

    shown = content.of_parts([one.result, two.result], one.result)

    assert [cause.node_ids for cause in shown.causes] == [["a/test_x.py::test_bad"], ["b/test_x.py::test_bad"]]
    assert [test.node_id for test in shown.tests] == ["a/test_x.py::test_bad", "b/test_x.py::test_bad"]
