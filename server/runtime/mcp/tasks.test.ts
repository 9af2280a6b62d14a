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

type Method = "tasks/get" | "tasks/result";

/** Starts a server whose only task never ends, unless the test answers: with a result, or with a whole response. */
function startTaskServer(capabilities: object, answers: (method: Method, count: number) => object | null = () => null) {
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
      const answer = (result: object) =>
        Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": "s" } });
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
      if (method === "tasks/get" || method === "tasks/result") {
        const given = answers(method, seen.filter((each) => each.method === method).length);
        if (given instanceof Response) return given;
        if (given && "error" in given) return Response.json({ jsonrpc: "2.0", id, ...given });
        if (given) return answer({ ...(method === "tasks/get" && task), ...given });
      }
      return answer(task);
    },
  });
  return {
    at: { url: `http://127.0.0.1:${server.port}/`, headers: {} },
    seen,
    count: (method: string) => seen.filter((each) => each.method === method).length,
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

const tasks = { tasks: { requests: { tools: { call: {} } }, cancel: {} } };
const done = (method: Method) =>
  method === "tasks/get" ? { status: "completed" } : { content: [{ type: "text", text: "done" }] };

/** A response that ends in its middle, or whose connection is lost there. */
const cutOff = (type: string, isLost: boolean) =>
  new Response(
    new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode('data: {"jsonrpc":'));
        // The beginning is on its way then.
        await Bun.sleep(10);
        if (isLost) controller.error(new Error("The test's server ends this connection."));
        else controller.close();
      },
    }),
    { headers: { "content-type": type } },
  );

/** Calls the tool of the server as a task. */
async function callTask({ at }: ReturnType<typeof startTaskServer>) {
  const client = createMcpClient({ egress, stdio });
  const limits = { timeout_ms: 20_000, signal: new AbortController().signal };
  return client.callTool(at, { tool: "count", as_task: true }, {}, limits).finally(() => client.close());
}

test.each<[string, (method: Method) => object]>([
  ["the session is lost", () => new Response("No such session.", { status: 404 })],
  ["the server has restarted", () => new Response("Bad Request: not initialized", { status: 400 })],
  ["the authorization is refused", () => new Response(null, { status: 401 })],
  ["the task is not known", () => ({ error: { code: -32_602, message: "Task not found." } })],
  ["the answer is too large", () => Response.json({ much: "x".repeat(5 << 20) })],
])("a tool is called once if %s while its task is at work, and its outcome is unknown", async (_, answer) => {
  await using server = startTaskServer(tasks, answer);
  await expect(callTask(server)).rejects.toMatchObject({ request: "sent", refusal: null });
  expect(server.count("tools/call")).toBe(1);
  expect(server.count("initialize")).toBe(1);
  expect(await server.cancelled).toMatchObject({ taskId: "t1" });
});

test.each<[string, () => object]>([
  ["is refused for a moment", () => new Response(null, { status: 503 })],
  ["times out", () => new Response(null, { status: 408 })],
  ["comes too often", () => new Response(null, { status: 429 })],
  ["is cut off", () => cutOff("application/json", false)],
  ["is cut off in a stream", () => cutOff("text/event-stream", false)],
  ["loses its connection", () => cutOff("application/json", true)],
  ["loses its connection in a stream", () => cutOff("text/event-stream", true)],
])("a question for the status of a task that %s is asked again", async (_, answer) => {
  await using server = startTaskServer(tasks, (method, count) => (count === 1 ? answer() : done(method)));
  expect((await callTask(server)).text).toBe("done");
  expect(server.count("tools/call")).toBe(1);
  expect(server.count("tasks/get")).toBe(2);
  expect(server.count("tasks/result")).toBe(2);
  expect(server.count("tasks/cancel")).toBe(0);
});

test("the error of a task that failed is the call's, and nothing is cancelled", async () => {
  await using server = startTaskServer(tasks, (method) =>
    method === "tasks/get" ? { status: "failed" } : { error: { code: -32_000, message: "No such file." } },
  );
  await expect(callTask(server)).rejects.toMatchObject({ code: "mcp_error", request: "answered" });
  expect(server.count("tasks/cancel")).toBe(0);
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
