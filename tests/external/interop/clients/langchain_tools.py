"""LangChain's MCP adapters: the message that its tools hand to the model, or what they raise."""

import asyncio

from driver import read_job, take
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp import McpError


async def main():
    job = read_job()
    if job["url"]:
        connection = {"transport": "streamable_http", "url": job["url"]}
    else:
        connection = {"transport": "stdio", "command": job["command"][0], "args": job["command"][1:]}
    async with MultiServerMCPClient({"pytest": connection}).session("pytest") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}

        async def call(tool, arguments, _note):
            try:
                message = await tools[tool].ainvoke({"type": "tool_call", "id": "1", "name": tool, "args": arguments})
            except McpError as error:
                return {"raised": str(error)}
            (block,) = message.content
            return {"shown": block["text"], "status": message.status}

        await take(job["steps"], call)


asyncio.run(main())
