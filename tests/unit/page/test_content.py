from pathlib import Path

from pytest_mcp.page.content import MAX_FILE, read_missed_lines
from pytest_mcp.report.coverage import MeasuredCoverage
from pytest_mcp.run.events import CoveredFile


def measured(ranges: str, file: str = "src/a.py") -> MeasuredCoverage:
    return MeasuredCoverage(files=[CoveredFile(file, lines=1, missed=1, ranges=ranges, untaken=None)])


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_lines_that_did_not_run_have_their_number_and_text(tmp_path: Path) -> None:
    write(tmp_path / "src/a.py", "one\n\n  three\nfour\n")

    assert read_missed_lines(tmp_path, measured("1-3")) == {"src/a.py": [(1, "one"), (3, "  three")]}


def test_ranges_that_a_test_has_forged_name_no_line_that_is_not_there(tmp_path: Path) -> None:
    write(tmp_path / "src/a.py", "one\ntwo\n")

    assert read_missed_lines(tmp_path, measured("0-1,2-99999,7")) == {"src/a.py": [(1, "one"), (2, "two")]}


def test_only_files_of_the_project_are_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(tmp_path / "secret", "secret\n")
    write(root / "large.py", "x" * (MAX_FILE + 1))
    (root / "link.py").symlink_to(tmp_path / "secret")

    for name in (str(tmp_path / "secret"), "../secret", "link.py", "large.py", "gone.py", ".", "a\0b"):
        assert read_missed_lines(root, measured("1", file=name)) == {name: []}
    assert read_missed_lines(root, None) == {}
