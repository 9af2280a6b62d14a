import { afterAll, beforeAll, expect, test } from "bun:test";
import type { McpTool } from "../../domain/agent-snapshot.ts";
import { silentLog } from "../../lib/log.ts";
import { runFixture, toolBase } from "../../testing/run-fixture.ts";
import { thisThread, workerThread } from "./worker-threads.ts";

const program = `
  const send = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "initialize") {
      const serverInfo = { name: "logs", version: "1" };
      send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo } });
    } else if (method === "tools/call") {
      send({ method: "notifications/message", params: { level: "info", data: "indexed" } });
      send({ method: "notifications/message", params: { level: "error", data: "disk full" } });
      process.stderr.write("opened /srv\\n", () => send({ id, result: { content: [{ type: "text", text: "done" }] } }));
    }
  });`;

beforeAll(() => {
  process.env.RUNNEL_MCP_LOGS_COMMAND = JSON.stringify([process.execPath, "-e", program]);
  process.env.RUNNEL_MCP_LOST_COMMAND = "/no/such/program";
});
afterAll(() => {
  delete process.env.RUNNEL_MCP_LOGS_COMMAND;
  delete process.env.RUNNEL_MCP_LOST_COMMAND;
});

const mcpTool = (name: string): McpTool => ({
  ...toolBase(name),
  type: "mcp",
  http: null,
  mcp: { server_url: `stdio:${name}`, tool: "t", timeout_ms: 20_000, sealed: "" },
});

type Entry = [level: string, message: string, fields: Record<string, unknown>];

/** Runs an agent that calls a tool of the program, until these messages are in the server's log. */
async function logged(threads: typeof thisThread, name: string, messages: readonly string[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) => {
    entries.push([level, message, fields ?? {}]);
    if (messages.every((each) => entries.some(([, said]) => said === each))) resolve();
  };
  const log = { ...silentLog, info: at("info"), warn: at("warn") };
  using fixture = runFixture({ threads, log });
  const { id } = await fixture.start([{ tool_calls: [{ name, arguments: {} }] }, { text: "Done." }], {
    tools: [mcpTool(name)],
  });
  await fixture.settled(id);
  await promise;
  return entries;
}

test.each([
  ["a worker", workerThread],
  ["the main thread", thisThread],
])("what a local MCP server writes while a run in %s calls it is in the server's log", async (_, threads) => {
  const entries = await logged(threads, "logs", ["MCP server started", "MCP server logged", "MCP server wrote"]);
  expect(entries).toContainEqual(["info", "MCP server started", { server: "logs", process: expect.any(Number) }]);
  expect(entries).toContainEqual(["info", "MCP server logged", expect.objectContaining({ text: "indexed" })]);
  expect(entries).toContainEqual(["warn", "MCP server logged", expect.objectContaining({ text: "disk full" })]);
  expect(entries).toContainEqual(["info", "MCP server wrote", { server: "logs", text: "opened /srv" }]);
});

test("the reason why a local MCP server of a worker did not start is in the server's log", async () => {
  const entries = await logged(workerThread, "lost", ["MCP server did not start"]);
  expect(entries).toEqual([
    ["warn", "MCP server did not start", { server: "lost", error: expect.stringContaining("ENOENT") }],
  ]);
});
