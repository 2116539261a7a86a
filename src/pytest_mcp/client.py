"""One call through a real client session against the real server: how a person tries a tool.

In come a tool's name and its arguments; out comes the reply, and whether it is an error.
"""

import json
import sys
from collections.abc import Sequence
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters

from pytest_mcp.config import Config


async def call(tool: str, arguments: dict[str, Any], flags: Sequence[str], config: Config) -> tuple[Any, bool]:
    """Start `pytest-mcp` with the operator's own flags, call one tool, and end it."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "pytest_mcp", *flags],
        # The SDK hands a server only a few variables unless told otherwise.
        env=dict(config.environment),
        cwd=config.root,
    )
    async with Client(server) as client:
        try:
            result = await client.call_tool(tool, arguments)
        except MCPError as error:
            return {"code": error.code, "message": error.message, "data": error.data}, True
    if result.is_error:
        return next(json.loads(block.text) for block in result.content if block.type == "text"), True
    return result.structured_content, False


def call_blocking(tool: str, arguments: dict[str, Any], flags: Sequence[str], config: Config) -> tuple[Any, bool]:
    return anyio.run(call, tool, arguments, flags, config)
