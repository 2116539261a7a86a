from pytest_mcp.investigation.order import Arrangement, Suite

IDS = ("a.py::one", "b.py::one", "b.py::two", "b.py::three", "c.py::one")
FILES = ("a.py", "b.py", "c.py")


def test_the_file_is_tried_before_everything_that_comes_before() -> None:
    assert Suite(IDS).arrangements("b.py::three") == [
        Arrangement("after all 2 earlier tests in its file", ("b.py::one", "b.py::two")),
        Arrangement("after all 3 earlier tests in the suite", IDS[:3], FILES),
    ]


def test_nothing_is_tried_twice() -> None:
    assert Suite(IDS[1:4]).arrangements("b.py::two") == [
        Arrangement("after the earlier test in its file", ("b.py::one",))
    ]


def test_the_first_test_of_a_suite_may_still_depend_on_what_other_files_import() -> None:
    assert Suite(IDS).arrangements("a.py::one") == [
        Arrangement("after importing all test files in the suite", (), FILES)
    ]


def test_if_a_plugin_shuffles_the_suite_any_test_may_come_before() -> None:
    assert Suite(IDS, is_shuffled=True).arrangements("a.py::one") == [
        Arrangement("after all 4 other tests in the suite", IDS[1:], FILES)
    ]


def test_a_test_that_the_suite_does_not_collect_has_no_order() -> None:
    assert Suite(IDS).arrangements("d.py::one") == []
