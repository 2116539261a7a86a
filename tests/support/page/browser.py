"""A page in a real browser. Only `make page` has one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from scripts.npm import PACKAGES

AXE = PACKAGES["axe"]
# Settings of a browser.
LOOKS: dict[str, dict[str, Any]] = {
    "light, wide": {"color_scheme": "light", "viewport": {"width": 1280, "height": 900}},
    "dark, narrow": {"color_scheme": "dark", "viewport": {"width": 360, "height": 740}},
    "forced colours": {"forced_colors": "active", "viewport": {"width": 800, "height": 600}},
}


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
        self.path = path

    def load(self) -> Self:
        self.page.goto(self.path.as_uri())
        self.page.wait_for_load_state("load")
        return self

    def texts(self, selector: str) -> list[str]:
        return [text or "" for text in self.page.locator(selector).all_text_contents()]

    def copied(self) -> str:
        text: str = self.page.evaluate("navigator.clipboard.readText()")
        return text

    def violations(self, frame: int = 0) -> list[str]:
        """In this frame; the first one is the page itself."""
        looked_at = self.page.frames[frame]
        # Not as a script element: the page's policy forbids it.
        looked_at.evaluate(AXE.file("axe-core/axe.min.js").read_text(encoding="utf-8"))
        found = looked_at.evaluate("axe.run()")["violations"]
        return [f"{each['id']}: {each['nodes'][0]['target']}" for each in found]


Open = Callable[..., Opened]
