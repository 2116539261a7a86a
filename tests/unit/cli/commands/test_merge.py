"""What `merge` reads, refuses and prints; test_shards in integration/cli has real shards."""

import argparse
import io
import json
from pathlib import Path

import pytest

from pytest_mcp.api.results import ExecuteResult
from pytest_mcp.cli.commands import merge, run
from pytest_mcp.config.model import Config
from pytest_mcp.report import shard_reports
from tests.support.invented.shards import facts, report
from tests.support.page.pages import Seen


def no_project() -> Config:
    raise AssertionError("merge needs no project")


def typed(*reports: object, as_json: bool = False, html: Path | None = None) -> int:
    names = [str(each) for each in reports]
    return merge.main(argparse.Namespace(reports=names, json=as_json, html=html, open=False), no_project)


def line(index: int, count: int = 2) -> str:
    return shard_reports.to_json(report(facts(index, count)))


@pytest.fixture
def both(tmp_path: Path) -> list[Path]:
    files = [tmp_path / "1.json", tmp_path / "2.json"]
    for index, file in enumerate(files, 1):
        file.write_text(line(index), encoding="utf-8")
    return files


def test_files_become_one_report(both: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(*both) == 0

    assert capsys.readouterr().out.splitlines()[-1] == "passed: 6 passed in 4.0 s"


def test_json_is_one_line_in_the_shape_of_execute_tests(both: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(*both, as_json=True) == 0

    (printed,) = capsys.readouterr().out.splitlines()
    # Only a call that asks for them has the others.
    assert list(json.loads(printed)) == [
        name for name in ExecuteResult.model_fields if name not in ("coverage", "base", "timing")
    ]


def test_html_is_a_page_about_all_of_them(both: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    assert typed(*both, html=page) == 0

    seen = Seen(page.read_text(encoding="utf-8"))
    assert seen.data["verdict"] == "passed"
    assert seen.blocks("counts")["counts"][-1] == ["total", "total", 6]


def test_lines_of_stdin_are_reports(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = f"{line(1)}\n\n{line(2)}\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))

    assert typed("-") == 0
    assert "line 3 of stdin" in capsys.readouterr().out


def test_an_empty_stdin_is_a_usage_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\n")))

    assert typed("-") == 4
    assert capsys.readouterr() == ("", "pytest-mcp: There is no report on stdin.\n")


@pytest.mark.parametrize("content", [b"", b"no", b"\xff", b"{}"], ids=str)
def test_a_file_that_is_no_report_is_named_and_makes_it_incomplete(
    both: list[Path], capsys: pytest.CaptureFixture[str], content: bytes
) -> None:
    wrong = both[0].with_name("wrong.json")
    wrong.write_bytes(content)

    assert typed(*both, wrong, as_json=True) == 1

    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "incomplete"
    assert answer["notices"][0].startswith(f"{wrong} ")
    assert answer["summary"]["passed"] == 6


def test_what_is_too_large_is_read_no_further(
    both: list[Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(merge, "MAX_FILE_BYTES", 99_999)
    large, stdin = both[0].with_name("large.json"), io.BytesIO(b"x" * 500_000)
    large.write_bytes(stdin.getvalue())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(stdin))

    assert typed(*both, large, "-", as_json=True) == 1

    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"] == "incomplete"
    refused = [notice.partition(" is larger than")[0] for notice in answer["notices"]]
    assert refused[:2] == [str(large), "line 1 of stdin"]
    assert stdin.tell() < 200_000


def test_files_that_cannot_be_read_are_usage_errors_with_a_sentence_for_each(
    both: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = [both[0].with_name("nowhere.json"), both[0].parent]

    assert typed(both[0], *wrong) == 4

    said = capsys.readouterr()
    assert said.out == ""
    assert [sentence.split(" ")[1] for sentence in said.err.splitlines()] == [str(file) for file in wrong]


@pytest.mark.parametrize("part", ["0/3", "4/3", "1/10001", "3", "1/", "-1/3", "a/b", "1/3/5", "²/3", "1 / 3", ""])
def test_a_part_that_cannot_be_is_refused_with_an_example(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    run.add_arguments(parser)

    with pytest.raises(SystemExit):
        parser.parse_args([f"--shard={part}"])
    assert "such as 2/5 for the second of five parts" in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize(("part", "expected"), [("1/1", (1, 1)), ("10000/10000", (10_000, 10_000)), ("02/5", (2, 5))])
def test_a_part_is_its_number_and_how_many_there_are(part: str, expected: tuple[int, int]) -> None:
    parser = argparse.ArgumentParser()
    run.add_arguments(parser)

    assert parser.parse_args(["--shard", part]).shard == (*expected, None)
