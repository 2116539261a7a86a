"""The page as an MCP App: which clients get it, and what their answers have that others do not.

What the page shows is decided in `page`, which is loaded only for clients that get it.
The extension: https://modelcontextprotocol.io/specification/draft/extensions/apps
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pytest_mcp.api.results import Shape
from pytest_mcp.config.model import Config
from pytest_mcp.python import git_files
from pytest_mcp.report import serialize
from pytest_mcp.report.report import Report
from pytest_mcp.server.fast_start import APPS, extensions_in

MIME_TYPE = "text/html;profile=mcp-app"
URI = "ui://pytest-mcp/page.html"
# The tool whose results the page shows.
TOOL = "execute_tests"
# A key in a result's _meta. Models never read that; structuredContent they do.
META_KEY = "pytest-mcp/page"
# The most that a page in a result may have. A file may have more: it does not pass through a client.
MAX_BYTES = 1_000_000
# What a server without the extension does not have.
METHODS = ("resources/list", "resources/read")

Json = dict[str, Any]


@dataclass(frozen=True)
class View:
    config: Config

    @property
    def is_possible(self) -> bool:
        return self.config.app != "never"

    def is_offered_to(self, context: Any) -> bool:
        """Whether the client of this request (the SDK's context) gets the page."""
        if self.config.app != "auto":
            return self.config.app == "always"
        if context.method == "initialize":
            # Over HTTP there are no sessions: the client's next request would not be known to be its own.
            extensions = extensions_in(context.params) if context.request is None else {}
        else:
            capabilities = context.session.client_capabilities
            extensions = (capabilities and capabilities.extensions) or {}
        settings = extensions.get(APPS)
        return isinstance(settings, dict) and MIME_TYPE in (settings.get("mimeTypes") or ())

    def made_of(self, report: Report, result: Shape) -> Json:
        """For the _meta of this result; empty if the limit of answers leaves no room for it."""
        # Other clients do not need them.
        from pytest_mcp.page import document  # noqa: PLC0415
        from pytest_mcp.page.content import Content, PageOrigin, read_missed_lines  # noqa: PLC0415

        # An answer is sent twice: as an object, and as text in a string.
        text = serialize.line(serialize.safe(result.model_dump(mode="json", by_alias=True)))
        most = min(MAX_BYTES, self.config.max_reply_bytes - len(text.encode()) - len(json.dumps(text)))
        root = self.config.root
        content = Content(report, read_missed_lines(root, report.coverage))
        origin = PageOrigin(root.name, command="", again="pytest-mcp run", commit=git_files.head_commit(root))
        created = f"{datetime.now(tz=UTC).astimezone():%Y-%m-%d %H:%M %Z}"
        page = document.run_document(content, origin, created=created, most=most)
        return {META_KEY: page} if document.size(page) <= most else {}


def tool_meta(name: str) -> Json:
    """For the _meta of a tool in the list."""
    return {"ui": {"resourceUri": URI}} if name == TOOL else {}


def resource() -> Json:
    return {"uri": URI, "name": "page", "title": "Test results", "mimeType": MIME_TYPE}


def contents() -> Json:
    from pytest_mcp.page import frame  # noqa: PLC0415 - few clients ask for a page

    # The page loads nothing, so it names no domain. Copying is the only thing it asks for.
    settings = {"permissions": {"clipboardWrite": {}}, "prefersBorder": True}
    return {"uri": URI, "mimeType": MIME_TYPE, "text": frame.resource(), "_meta": {"ui": settings}}


def without_page(result: Any) -> Any:
    """An answer to `initialize` or `server/discover` for a client that does not get the page."""
    kept = {name: value for name, value in result["capabilities"].items() if name != "resources"}
    return without_extension(result | {"capabilities": kept}, APPS)


def without_extension(result: Any, name: str) -> Any:
    capabilities = dict(result["capabilities"])
    left = {each: settings for each, settings in capabilities.pop("extensions", {}).items() if each != name}
    return result | {"capabilities": capabilities | ({"extensions": left} if left else {})}
