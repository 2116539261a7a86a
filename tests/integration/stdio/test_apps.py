"""The page as an MCP App: only for clients that announce the extension, in both eras, and not a byte for others."""

import json
import re
from typing import Any, NamedTuple, get_args

import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.extension import advertise
from mcp.server import apps
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from pytest_mcp.config.model import AppChoice
from pytest_mcp.server import apps_page, fast_start
from pytest_mcp.server.app import create
from tests.support.page.pages import Seen
from tests.support.protocol.dialogues import (
    HANDSHAKE,
    LISTS,
    WITH_APPS,
    Message,
    Turn,
    asked,
    enveloped,
    initialize,
    line,
    request,
    said,
)
from tests.support.protocol.players import told_by_sdk
from tests.support.workbench import Workbench

FAILING = "def test_fine(): pass\ndef test_bad(): assert [1, 2] == [1, 3]\n"
SETTINGS = {"mimeTypes": [apps.APP_MIME_TYPE]}
CALL = {"name": "execute_tests", "arguments": {}}


def test_the_names_are_those_of_the_sdk() -> None:
    """Importing them would load the SDK's other server."""
    assert (fast_start.APPS, apps_page.MIME_TYPE) == (apps.EXTENSION_ID, apps.APP_MIME_TYPE)


class Given(NamedTuple):
    """What a client that shows apps gets."""

    version: str
    has_resources: bool
    tools: dict[str, dict[str, Any]]
    listed: list[tuple[str, str | None]]
    content: Any
    result: types.CallToolResult
    unknown: int

    @property
    def page(self) -> dict[str, Any]:
        page: dict[str, Any] = (self.result.meta or {})[apps_page.META_KEY]
        return page


async def given(bench: Workbench, mode: str, **arguments: Any) -> Given:
    """By the server in memory: that a process answers the same is tested with the dialogues of `fast_start`."""
    server, announced = create(bench.config._replace(spare=False)), [advertise(apps.EXTENSION_ID, SETTINGS)]
    call = types.CallToolRequest(params=types.CallToolRequestParams(name="execute_tests", arguments=arguments))
    async with Client(server, mode=mode, extensions=announced) as client:
        with pytest.raises(MCPError) as unknown:
            await client.read_resource("ui://pytest-mcp/other.html")
        (content,) = (await client.read_resource(apps_page.URI)).contents
        return Given(
            client.protocol_version,
            client.server_capabilities.resources is not None,
            {tool.name: tool.meta or {} for tool in (await client.list_tools()).tools},
            [(resource.uri, resource.mime_type) for resource in (await client.list_resources()).resources],
            content,
            await client.session.send_request(call, types.CallToolResult),
            unknown.value.code,
        )


async def test_a_client_that_shows_apps_lists_reads_calls_and_runs_the_failures_again_in_both_eras(
    bench: Workbench,
) -> None:
    bench.write({"test_a.py": FAILING})
    first = await given(bench, "legacy")
    bench.write({"test_a.py": FAILING.replace("3", "2")})

    again = await given(bench, "auto", **first.page["rerun"])

    assert [each.version in MODERN_PROTOCOL_VERSIONS for each in (first, again)] == [False, True]
    for each in (first, again):
        assert each.has_resources
        assert {name: meta["ui"] for name, meta in each.tools.items() if "ui" in meta} == {
            "execute_tests": {"resourceUri": apps_page.URI}
        }
        assert each.listed == [(apps_page.URI, apps.APP_MIME_TYPE)]
        assert each.content.mime_type == apps.APP_MIME_TYPE
        assert each.content.meta == {"ui": {"permissions": {"clipboardWrite": {}}, "prefersBorder": True}}
        assert Seen(each.content.text).policy
        assert each.result.structured_content is not None
        assert apps_page.META_KEY not in json.dumps(each.result.structured_content)
        assert each.page["rerun"] == each.result.structured_content["rerun"]
        assert each.unknown == -32602
    assert first.page["rerun"] == {"node_ids": ["test_a.py::test_bad"]}
    assert [row[:2] for row in first.page["files"][0][1]] == [["test_fine", "P"], ["test_bad", "F"]]
    assert [row[:2] for row in again.page["files"][0][1]] == [["test_bad", "P"]]


def conversations() -> list[list[Message]]:
    """The first questions in every version, and the methods of resources."""
    resources: list[tuple[str, dict[str, Any]]] = [
        ("resources/list", {}),
        ("resources/read", {"uri": apps_page.URI}),
        ("resources/templates/list", {}),
    ]
    return [
        [*messages, *[ask(method, method, **params) for method, params in resources]]
        for messages in LISTS
        for ask in [enveloped if len(messages) == 2 else request]
    ]


def turns(messages: list[Message]) -> list[Turn]:
    return [Turn(line(message), "id" in message) for message in messages]


@pytest.mark.parametrize("messages", conversations())
async def test_other_clients_get_the_bytes_of_a_server_that_has_no_page(
    bench: Workbench, messages: list[Message]
) -> None:
    without = await told_by_sdk(bench.config._replace(app="never"), turns(messages))

    assert await told_by_sdk(bench.config, turns(messages)) == without
    assert not any(word in "".join(without[:-3]) for word in ("resource", '"ui', fast_start.APPS))
    assert [json.loads(entry)["error"]["code"] for entry in without[-3:]] == [-32601] * 3


def without_times(told: str) -> str:
    return re.sub(r'(duration\\*": ?|passed in |failed in )[0-9.]+', r"\1", told)


async def test_an_answer_to_another_client_is_the_same_too(bench: Workbench) -> None:
    bench.write({"test_a.py": "def test_bad(): assert 0\n"})
    config = bench.config._replace(spare=False)
    call = [*HANDSHAKE, asked(request("call", "tools/call", **CALL))]

    told = (await told_by_sdk(config, call))[-1]
    without = (await told_by_sdk(config._replace(app="never"), call))[-1]

    assert without_times(told) == without_times(without)
    assert apps_page.META_KEY not in told


DIFFERENT = {
    "another extension": {"extensions": {"com.example/ui": SETTINGS}},
    "another type": {"extensions": {apps.EXTENSION_ID: {"mimeTypes": ["text/html"]}}},
    "no type": {"extensions": {apps.EXTENSION_ID: {}}},
    "types that are no list": {"extensions": {apps.EXTENSION_ID: {"mimeTypes": None}}},
}


@pytest.mark.parametrize("name", DIFFERENT)
async def test_a_client_that_cannot_show_this_kind_of_page_does_not_get_it(bench: Workbench, name: str) -> None:
    messages = [initialize(capabilities=DIFFERENT[name]), enveloped(1, "tools/list", capabilities=DIFFERENT[name])]

    for message in messages:
        (told,) = await told_by_sdk(bench.config, turns([message]))
        assert "ui://" not in told
        assert "resource" not in told


@pytest.mark.parametrize("app", get_args(AppChoice))
@pytest.mark.parametrize("capabilities", [{}, WITH_APPS], ids=["no apps", "apps"])
async def test_the_operator_forces_or_forbids_it(bench: Workbench, app: AppChoice, capabilities: Message) -> None:
    config = bench.config._replace(app=app)
    opening = [asked(initialize(capabilities=capabilities)), said(HANDSHAKE[1].data)]

    told = await told_by_sdk(config, [*opening, asked(request("list", "tools/list"))])
    stateless = await told_by_sdk(config, [asked(enveloped("list", "tools/list", capabilities=capabilities))])

    is_offered = app == "always" or (app == "auto" and capabilities == WITH_APPS)
    assert ("resources" in json.loads(told[0])["result"]["capabilities"]) == is_offered
    assert [apps_page.URI in entry for entry in (told[1], stateless[0])] == [is_offered] * 2
