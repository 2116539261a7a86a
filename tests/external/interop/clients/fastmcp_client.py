"""FastMCP's client."""

import asyncio

from driver import read_job, take
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp import MCPError


async def main():
    job = read_job()
    transport = job["url"] or StdioTransport(job["command"][0], job["command"][1:], keep_alive=False)
    async with Client(transport, mode="legacy" if job["era"] == "legacy" else "auto") as client:

        async def call(tool, arguments, note):
            try:
                result = await client.call_tool(tool, arguments, progress_handler=note, raise_on_error=False)
            except MCPError as error:
                return {"error": {"code": error.code, "message": error.message, "data": error.data}}
            (block,) = result.content
            return {"text": block.text, "structured": result.structured_content, "is_error": result.is_error}

        await take(job["steps"], call)


asyncio.run(main())
