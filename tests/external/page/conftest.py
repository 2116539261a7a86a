"""A real Chromium, driven by the Playwright of `.envs/page`."""

import os
import shutil
import site
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.page.content import Content
from scripts.environments import PAGE
from scripts.npm import PACKAGES
from tests.support.pages import rendered

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
AXE = PACKAGES["axe"]

# Only the tests of this folder need it, so it is in no other environment.
if PAGE.is_complete:
    for folder in PAGE.python.parent.parent.glob("lib/python*/site-packages"):
        site.addsitedir(str(folder))


def found() -> str | None:
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if not PAGE.is_complete or not AXE.is_complete:
        pytest.skip("make page installs what these tests need")
    if found() is None:
        pytest.skip(f"no Chromium: none of {', '.join(BROWSERS)} is on PATH, and CHROMIUM is not set")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only there if the environment is

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Opened:
    """A page in the browser, and what it did that it must not."""

    def __init__(self, browser: Any, path: Path, **settings: Any) -> None:
        self.context = browser.new_context(permissions=["clipboard-read", "clipboard-write"], **settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url.partition(":")[0]))
        self.page.goto(path.as_uri())
        self.page.wait_for_load_state("load")

    def texts(self, selector: str) -> list[str]:
        return [text or "" for text in self.page.locator(selector).all_text_contents()]

    def copied(self) -> str:
        text: str = self.page.evaluate("navigator.clipboard.readText()")
        return text

    def violations(self) -> list[str]:
        # Not as a script element: the page's policy forbids it.
        self.page.evaluate(AXE.file("axe-core/axe.min.js").read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run()")["violations"]
        return [f"{each['id']}: {each['nodes'][0]['target']}" for each in found]


Open = Callable[..., Opened]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens a content as a file. In the end it has said nothing on the console and fetched nothing."""
    opened: list[Opened] = []

    def show(content: Content, **settings: Any) -> Opened:
        path = tmp_path / f"{len(opened)}.html"
        path.write_text(rendered(content), encoding="utf-8")
        opened.append(Opened(browser, path, **settings))
        return opened[-1]

    yield show
    for each in opened:
        assert each.messages == []
        assert set(each.requests) <= {"file", "data"}
        assert each.page.title().startswith(("Passed · ", "Failed · ", "Incomplete · ", "No tests · "))
        each.context.close()
