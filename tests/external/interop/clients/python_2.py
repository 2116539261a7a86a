"""The official Python SDK, second generation."""

import asyncio

from driver import read_job, take
from mcp import Client, MCPError, StdioServerParameters


async def main():
    job = read_job()
    server = job["url"] or StdioServerParameters(command=job["command"][0], args=job["command"][1:])
    async with Client(server, mode="legacy" if job["era"] == "legacy" else "auto") as client:

        async def call(tool, arguments, note):
            try:
                result = await client.call_tool(tool, arguments, progress_callback=note)
            except MCPError as error:
                return {"error": {"code": error.code, "message": error.message, "data": error.data}}
            (block,) = result.content
            return {"text": block.text, "structured": result.structured_content, "is_error": result.is_error}

        await take(job["steps"], call)


asyncio.run(main())
