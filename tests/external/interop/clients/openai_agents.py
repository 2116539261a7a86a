"""The OpenAI Agents SDK: what its function tools hand to the model."""

import asyncio
import json

from agents import set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp, MCPUtil
from agents.tool_context import ToolContext
from driver import read_job, take

# Its own limit for a call is 5 seconds, which a busy machine needs for less than a call.
CALL_SECONDS = 60


async def main():
    job = read_job()
    set_tracing_disabled(True)
    if job["url"]:
        server = MCPServerStreamableHttp({"url": job["url"]}, client_session_timeout_seconds=CALL_SECONDS)
    else:
        command = {"command": job["command"][0], "args": job["command"][1:]}
        server = MCPServerStdio(command, client_session_timeout_seconds=CALL_SECONDS)
    async with server:
        tools = await server.list_tools()
        functions = {tool.name: MCPUtil.to_function_tool(tool, server, False) for tool in tools}

        async def call(tool, arguments, _note):
            given = json.dumps(arguments)
            context = ToolContext(context=None, tool_name=tool, tool_call_id="1", tool_arguments=given)
            shown = await functions[tool].on_invoke_tool(context, given)
            return {"shown": shown["text"] if isinstance(shown, dict) else shown}

        await take(job["steps"], call)


asyncio.run(main())
