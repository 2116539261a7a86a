"""`make page`: the page as an MCP App, in a small host in a real Chromium, with a real server behind it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_mcp.page import frame
from pytest_mcp.server import apps_page
from tests.support.page.browser import Opened
from tests.support.page.pages import content_of, document_of, hostile_run, mixed_run
from tests.support.protocol import servers
from tests.support.protocol.dialogues import WITH_APPS
from tests.support.protocol.raw_client import INITIALIZE, RawClient
from tests.support.workbench import Workbench

pytestmark = pytest.mark.external(target="page")

HOST = Path(__file__).with_name("host.html")
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(13, 17, 23)"
FAILING = "def test_fine(): pass\ndef test_bad(): assert [1, 2] == [1, 3]\n"
Call = Callable[[str, dict[str, Any]], dict[str, Any]]


class Host:
    """The host page with our page in its frame."""

    def __init__(self, browser: Any, result: Any, call: Call, **settings: Any) -> None:
        self.opened = Opened(browser, HOST)
        page = self.opened.page
        page.expose_function("serverCall", call)
        given = {"capabilities": {"serverTools": {}}, "theme": "light", "result": result} | settings
        page.add_init_script(f"globalThis.settings = {json.dumps(given)};")
        self.opened.load()
        page.evaluate("(text) => show(text)", frame.resource())
        self.frame = page.frame_locator("iframe")
        self.status = self.frame.locator("#again")

    def heard(self) -> list[str]:
        methods: list[str] = self.opened.page.evaluate("heard")
        return methods

    def notify(self, name: str, params: Any) -> None:
        self.opened.page.evaluate("([name, params]) => notify(name, params)", [name, params])

    def colour(self) -> str:
        colour: str = self.frame.locator("body").evaluate("(body) => getComputedStyle(body).backgroundColor")
        return colour


NewHost = Callable[..., Host]


def no_call(_name: str, _arguments: dict[str, Any]) -> dict[str, Any]:
    raise AssertionError("nothing should be called")


@pytest.fixture
def host(browser: Any) -> Iterator[NewHost]:
    """In the end nothing was said on the console, and nothing was fetched."""
    hosts: list[Host] = []

    def start(result: Any, call: Call = no_call, **settings: Any) -> Host:
        hosts.append(Host(browser, result, call, **settings))
        return hosts[-1]

    yield start
    for each in hosts:
        assert each.opened.messages == []
        assert set(each.opened.requests) <= {"file", "data", "about"}
        each.opened.context.close()


@pytest.fixture
def server(bench: Workbench) -> Iterator[RawClient]:
    with RawClient(servers.command(bench.root, bench.python, "--no-spare"), cwd=bench.root) as client:
        client.reply(client.request("initialize", INITIALIZE | {"capabilities": WITH_APPS}))
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        yield client


def result_of(content: Any) -> dict[str, Any]:
    return {"content": [], "_meta": {apps_page.META_KEY: document_of(content, apps_page.MAX_BYTES)}}


def test_the_page_speaks_the_protocol_and_shows_what_the_run_has(host: NewHost) -> None:
    content = content_of(mixed_run())

    shown = host(result_of(content))
    shown.frame.locator(".row").first.wait_for()

    assert shown.frame.locator(f".banner.{content.report.verdict}").count() == 1
    assert shown.frame.locator(".causes > .cause").count() == len(content.report.groups)
    assert shown.frame.locator(".uncollected").count() == len(content.report.collection_errors)
    assert shown.frame.locator(".row").count() == content.report.summary.failed + 1
    assert shown.frame.get_by_role("button", name="Copy link").count() == 0
    assert shown.frame.locator(".shares rect").count() > 1
    assert shown.frame.locator(".banner svg.mark").bounding_box()["width"] > 10
    assert shown.heard()[:2] == ["ui/initialize", "ui/notifications/initialized"]
    assert shown.opened.violations(frame=1) == []


def test_the_frame_is_as_high_as_the_page_and_stays_so(host: NewHost) -> None:
    shown = host(result_of(content_of(mixed_run())))
    shown.frame.locator(".row").first.wait_for()

    shown.opened.page.wait_for_function("sized > 0 && frame.clientHeight > 600")
    shown.frame.locator(".row").first.click()
    dialog = shown.frame.locator("dialog")
    dialog.get_by_role("button", name="Close").click()

    inner = shown.frame.locator("html").evaluate("(html) => html.scrollHeight")
    outer = shown.opened.page.evaluate("frame.clientHeight")
    assert abs(inner - outer) <= 1
    assert shown.opened.page.evaluate("sized") < 10


def test_it_follows_the_theme_and_the_capabilities_of_the_client(host: NewHost) -> None:
    shown = host(result_of(content_of(mixed_run())), theme="dark", capabilities={})
    shown.frame.locator(".row").first.wait_for()

    # Without `serverTools`, a page may not call any.
    assert shown.frame.get_by_role("button", name="Run the failures again").count() == 0
    assert shown.colour() == DARK
    shown.notify("host-context-changed", {"theme": "light"})
    shown.opened.page.wait_for_function("true")
    assert shown.colour() == LIGHT
    shown.notify("host-context-changed", {"displayMode": "inline"})
    assert shown.colour() == LIGHT


def test_the_failures_are_run_again_and_the_new_result_is_shown_in_place(
    host: NewHost, server: RawClient, bench: Workbench
) -> None:
    bench.write({"test_a.py": FAILING})
    calls: list[tuple[str, dict[str, Any]]] = []

    def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        calls.append((name, arguments))
        return server.reply(server.begin(name, **arguments))

    shown = host(call("execute_tests", {})["result"], call)
    shown.frame.locator(".banner.failed").wait_for()
    (bench.root / "test_a.py").unlink()
    shown.frame.get_by_role("button", name="Run the failures again").click()
    shown.status.get_by_text("The failures could not be run again: Invalid params").wait_for()
    assert shown.frame.locator(".banner.failed").count() == 1

    bench.write({"test_a.py": FAILING.replace("3", "2")})
    shown.frame.get_by_role("button", name="Run the failures again").click()
    shown.frame.locator(".banner.passed").wait_for()

    again = ("execute_tests", {"node_ids": ["test_a.py::test_bad"]})
    assert calls == [("execute_tests", {}), again, again]
    assert shown.frame.locator(".row").count() == 1
    assert shown.frame.locator(".cause").count() == 0
    assert "This is the result of running the failures again" in (shown.status.text_content() or "")
    assert shown.frame.get_by_role("button", name="Run the failures again").count() == 0


def test_text_of_tests_runs_nothing_inside_a_client_either(host: NewHost) -> None:
    content = content_of(hostile_run())

    shown = host(result_of(content))
    shown.frame.locator(".row").first.wait_for()
    shown.frame.locator("body").evaluate(
        "document.querySelectorAll('details').forEach((each) => each.unfold && each.unfold())"
    )

    assert shown.frame.locator("html").evaluate("document.title") == "Test results"
    assert shown.frame.locator(".causes > .cause").count() == len(content.report.groups)
    assert shown.frame.locator("img, iframe, main script").count() == 0


OTHER_RESULTS = {
    "a failed call": (
        {"isError": True, "content": [{"type": "text", "text": '{"message": "pytest execution failed: <b>no</b>"}'}]},
        "pytest execution failed: <b>no</b>",
    ),
    "without its page": ({"content": [], "structuredContent": {"verdict": "failed"}}, "Verdict: failed."),
}


@pytest.mark.parametrize("name", OTHER_RESULTS)
def test_a_result_without_a_page_and_a_cancelled_call_are_told_in_words(host: NewHost, name: str) -> None:
    result, words = OTHER_RESULTS[name]

    shown = host(result)

    shown.status.get_by_text(words).wait_for()
    shown.notify("tool-cancelled", {"reason": "by the user"})

    shown.status.get_by_text("The call was cancelled: by the user.").wait_for()
