// The official TypeScript SDK, second generation.
import { job, load, take } from "./driver.mjs";

const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const mode = job.era === "legacy" ? "legacy" : { pin: "2026-07-28" };
const client = new Client({ name: "typescript-2", version: "1" }, { versionNegotiation: { mode } });
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), env: process.env });
await client.connect(transport);
await client.listTools();

await take(async (name, given, onprogress, signal) => {
  try {
    const result = await client.callTool({ name, arguments: given }, { onprogress, signal });
    return { text: result.content[0].text, structured: result.structuredContent, is_error: result.isError };
  } catch (error) {
    return { error: { code: error.code, message: error.message, data: error.data } };
  }
});
await client.close();
