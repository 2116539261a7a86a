"""The smallest server with the official SDK: one tool, on stdio. It shows how long the SDK takes to start."""

from typing import Any

import anyio
import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.stdio import stdio_server

Context = ServerRequestContext[Any, Any]
TOOL = types.Tool(name="nothing", description="Does nothing.", input_schema={"type": "object", "properties": {}})


async def list_tools(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[TOOL])


async def serve() -> None:
    server = Server[Any]("minimal", on_list_tools=list_tools)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve)
