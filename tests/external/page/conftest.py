"""A real Chromium, driven by the Playwright of `.envs/page`."""

import os
import shutil
import site
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.investigation.result import KINDS_IN_WORDS
from pytest_mcp.page.content import Content
from scripts.environments import PAGE
from tests.support.page.browser import AXE, Open, Opened
from tests.support.page.pages import rendered

TITLES = {"Passed", "Failed", "Incomplete", "No tests", *(words.capitalize() for words in KINDS_IN_WORDS.values())}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def found() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if not PAGE.is_complete or not AXE.is_complete:
        pytest.skip("make page installs what these tests need")
    if found() is None:
        pytest.skip(f"no Chromium: none of {', '.join(BROWSERS)} is on PATH, and CHROMIUM is not set")
    # No other test needs it, so it has an environment of its own.
    for folder in PAGE.python.parent.parent.glob("lib/python*/site-packages"):
        site.addsitedir(str(folder))
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only there if the environment is

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a page, or a content as one, as a file. In the end it said nothing on the console and fetched nothing."""
    opened: list[Opened] = []

    def show(content: Content | str, **settings: Any) -> Opened:
        path = tmp_path / f"{len(opened)}.html"
        path.write_text(content if isinstance(content, str) else rendered(content), encoding="utf-8")
        opened.append(Opened(browser, path, **settings).load())
        return opened[-1]

    yield show
    for each in opened:
        assert each.messages == []
        assert set(each.requests) <= {"file", "data"}
        assert each.page.title().partition(" · ")[0] in TITLES
        each.context.close()
