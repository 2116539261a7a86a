from typing import Any

from pytest_mcp.page.coverage import MOST_FILES, section
from tests.support.page.pages import Seen

FILE: dict[str, Any] = {"file": "src/<b>.py", "count": 4, "missed": ["3-5", "9"], "branches": None}


def test_a_run_without_coverage_has_no_section() -> None:
    assert section(None) == ""


def test_each_file_has_its_lines_that_did_not_run() -> None:
    measured = {
        "summary": "12 of 16 lines ran",
        "partial": "1 test did not run",
        "files": [FILE],
        "not_measured": ["a"],
    }

    seen = Seen(section(measured))

    for text in ("12 of 16 lines ran", "1 test did not run", "Not measured: a", "src/<b>.py", "4", "3-5, 9"):
        assert text in seen.texts


def test_files_that_are_not_listed_are_counted() -> None:
    measured = {"summary": "", "files": [FILE] * (MOST_FILES + 2), "omitted": {"files": 3, "lines": 9}}

    assert Seen(section(measured)).has_text("5 more files with lines that did not run are left out.")
