// The official TypeScript SDK, first generation.
import { job, load, take } from "./driver.mjs";

const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");

const client = new Client({ name: "typescript-1", version: "1" });
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), env: process.env });
await client.connect(transport);
await client.listTools();

await take(async (name, given, onprogress, signal) => {
  try {
    const result = await client.callTool({ name, arguments: given }, undefined, { onprogress, signal });
    return { text: result.content[0].text, structured: result.structuredContent, is_error: result.isError };
  } catch (error) {
    return { error: { code: error.code, message: error.message, data: error.data } };
  }
});
await client.close();
