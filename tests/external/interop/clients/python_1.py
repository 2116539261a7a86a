"""The official Python SDK, first generation."""

import asyncio

from driver import read_job, take
from mcp import ClientSession, McpError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


async def main():
    job = read_job()
    if job["url"]:
        transport = streamable_http_client(job["url"])
    else:
        transport = stdio_client(StdioServerParameters(command=job["command"][0], args=job["command"][1:]))
    async with transport as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()

        async def call(tool, arguments, note):
            try:
                result = await session.call_tool(tool, arguments, progress_callback=note)
            except McpError as error:
                return {"error": error.error.model_dump()}
            (block,) = result.content
            return {"text": block.text, "structured": result.structuredContent, "is_error": result.isError}

        await take(job["steps"], call)


asyncio.run(main())
