import webbrowser
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from pytest_mcp.api.errors import ExecutionFailed, RunFacts
from pytest_mcp.cli.page_file import PageFile, run_page
from pytest_mcp.report.report import report_without_run
from pytest_mcp.terminal.output import UNWRITTEN
from tests.support.page.pages import ORIGIN

ERROR = report_without_run(ExecutionFailed("environment", "no usable Python was found", RunFacts()))


def test_a_page_replaces_the_file_that_a_link_leads_to(tmp_path: Path) -> None:
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o600)
    link.symlink_to(real)

    assert PageFile(link, opens=False).write(partial(run_page, ERROR, ORIGIN, None)) is None

    assert link.is_symlink()
    assert real.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert real.stat().st_mode & 0o777 == 0o600


def undrawable(_created: str) -> str:
    raise ValueError


@pytest.mark.parametrize(("name", "draw"), [("gone/a.html", lambda _: "page"), ("a.html", undrawable)])
def test_a_page_that_cannot_be_written_or_drawn_is_an_exit_code_and_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, draw: Callable[[str], str]
) -> None:
    assert PageFile(tmp_path / name, opens=False).write(draw) == UNWRITTEN
    assert "could not be written" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_open_opens_the_file_and_says_if_there_is_no_browser(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def open_nothing(url: str) -> bool:
        asked.append(url)
        return False

    monkeypatch.setattr(webbrowser, "open", open_nothing)

    assert PageFile(tmp_path / "a b.html", opens=True).write(partial(run_page, ERROR, ORIGIN, None)) is None

    assert asked == [(tmp_path / "a b.html").as_uri()]
    assert "no browser was found" in capsys.readouterr().err
