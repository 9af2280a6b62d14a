import { expect, test } from "bun:test";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { removeProxyEnvironment } from "../../lib/proxy.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { createMcpClient } from "./client.ts";
import { createStdioServers } from "./stdio-servers.ts";

interface JsonRpcRequest {
  /** A notification has none. */
  id?: number;
  method: string;
  params: Record<string, unknown>;
}

removeProxyEnvironment();

const stdio = createStdioServers({ servers: {}, log: silentLog });
const egress = createEgress({ allow: [], loopback: true });

/** Starts a server whose only task never ends. */
function startTaskServer(capabilities: object) {
  const seen: { method: string; params: Record<string, unknown> }[] = [];
  const [polled, cancelled] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
  const task = { taskId: "t1", status: "working", createdAt: "", lastUpdatedAt: "", ttl: null, pollInterval: 1 };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params } = (await request.json()) as JsonRpcRequest;
      seen.push({ method, params });
      const answer = (result: object) => Response.json({ jsonrpc: "2.0", id, result });
      if (id === undefined) return new Response(null, { status: 202 });
      if (method === "initialize")
        return answer({
          protocolVersion: "2025-11-25",
          capabilities: { tools: {}, ...capabilities },
          serverInfo: { name: "tasks", version: "1" },
        });
      if (method === "tools/call")
        return answer(params.task ? { task } : { content: [{ type: "text", text: "plain" }] });
      if (method === "tasks/get") polled.resolve();
      if (method === "tasks/cancel") cancelled.resolve(params);
      return answer(task);
    },
  });
  return {
    at: { url: `http://127.0.0.1:${server.port}/`, headers: {} },
    seen,
    polled: polled.promise,
    cancelled: cancelled.promise,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

test("a task is cancelled at the server when its run is", async () => {
  await using server = startTaskServer({ tasks: { requests: { tools: { call: {} } }, cancel: {} } });
  const client = createMcpClient({ egress, stdio });
  const abort = new AbortController();
  const call = client.callTool(
    server.at,
    { tool: "count", as_task: true },
    {},
    { timeout_ms: 20_000, signal: abort.signal },
  );
  await server.polled;
  abort.abort();
  await expect(call).rejects.toMatchObject({ code: "aborted" });
  expect(await server.cancelled).toMatchObject({ taskId: "t1" });
  await client.close();
});

test("a server that declares no tasks gets a plain call, whatever its tool says", async () => {
  await using server = startTaskServer({});
  const client = createMcpClient({ egress, stdio });
  const limits = { timeout_ms: 20_000, signal: new AbortController().signal };
  expect((await client.callTool(server.at, { tool: "count", as_task: true }, {}, limits)).text).toBe("plain");
  await client.close();
});

test("the status of a task is asked as often as its time allows", async () => {
  await using server = startTaskServer({});
  const boundedFetch = createBoundedFetch({
    egress,
    timeout_ms: 20_000,
    fail: () => {},
    signal: new AbortController().signal,
    farewell: () => {},
  });
  const ask = async (method: string) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} });
    await (await boundedFetch(server.at.url, { method: "POST", body })).text();
  };
  for (let time = 0; time < 100; time++) await ask("tasks/get");
  for (let time = 0; time < 64; time++) await ask("tools/list");
  await expect(ask("tools/list")).rejects.toMatchObject({ code: "mcp_protocol_error" });
});
