import { expect, test } from "bun:test";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { removeProxyEnvironment } from "../../lib/proxy.ts";
import { startStreamsServer } from "../../testing/mcp-streams-server.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { createMcpClient } from "./client.ts";
import type { Elicit } from "./elicitation.ts";
import type { CallHooks } from "./open-client.ts";
import { createStdioServers } from "./stdio-servers.ts";

interface JsonRpcRequest {
  /** A notification has none. */
  id?: number;
  /** An answer has none. */
  method?: string;
  params: Record<string, unknown>;
  result?: unknown;
}

removeProxyEnvironment();

const stdio = createStdioServers({ servers: {}, log: silentLog });

/** Returns a client of one run, and a call of the server's tools. */
function clientOf(url: string, elicits = true) {
  const client = createMcpClient({ egress: createEgress({ allow: [], loopback: true }), stdio, elicits });
  const call = (name: string, hooks: CallHooks = {}, timeout_ms = 20_000) =>
    client.callTool({ url, headers: {} }, name, {}, { timeout_ms, signal: new AbortController().signal }, hooks);
  return { call, [Symbol.asyncDispose]: () => client.close() };
}

const ada: Elicit = async () => ({ action: "accept", content: { name: "Ada" } });

test("a question that the server asks on the stream of its session reaches the user of the open call", async () => {
  await using server = startStreamsServer();
  await using client = clientOf(server.url);
  expect((await client.call("ask", { elicit: ada })).text).toBe('{"name":"Ada"}');
  expect((await client.call("ask", { elicit: async () => ({ action: "decline" }) })).text).toBe('"decline"');
  expect(server.requests.filter((request) => request.startsWith("GET"))).toEqual(["GET new"]);
});

test("a question on the session's stream that could belong to two calls is refused, and reaches neither user", async () => {
  await using server = startStreamsServer();
  await using client = clientOf(server.url);
  const arrived = Promise.withResolvers<void>();
  const reply = Promise.withResolvers<Awaited<ReturnType<Elicit>>>();
  const first = client.call("ask", {
    elicit: () => {
      arrived.resolve();
      return reply.promise;
    },
  });
  await arrived.promise;
  await expect(client.call("ask", { elicit: ada })).rejects.toMatchObject({ code: "mcp_error" });
  reply.resolve({ action: "cancel" });
  expect((await first).text).toBe('"cancel"');
});

test("a log message on the session's stream is passed on", async () => {
  await using server = startStreamsServer();
  await using client = clientOf(server.url);
  const logs: unknown[] = [];
  await client.call("log", { onLog: (log) => void logs.push(log), elicit: ada });
  expect(logs).toEqual([{ level: "info", message: "Said to the session." }]);
});

test("an answer whose connection the server ends is resumed from its last event", async () => {
  await using server = startStreamsServer();
  await using client = clientOf(server.url, false);
  expect((await client.call("part")).text).toBe("the rest");
  expect(server.requests).toContain("GET rest");
});

interface Handled {
  post?(id: number, send: (text: string) => void, close: () => void): void;
  get?(lastId: string | null): Response | Promise<Response>;
  /** Takes an answer of the client. */
  reply?(result: unknown): void;
}

const stream = { "content-type": "text/event-stream" };
const replyOf = (id: number, text: string) =>
  `data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } })}\n\n`;

/** Starts a server whose streams the test writes. */
function startRawServer({ post = (id, send, close) => [send(replyOf(id, "done")), close()], get, reply }: Handled) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET")
        return (await get?.(request.headers.get("last-event-id"))) ?? new Response(null, { status: 405 });
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params, result } = (await request.json()) as JsonRpcRequest;
      if (method === undefined) reply?.(result);
      if (id === undefined || method === undefined) return new Response(null, { status: 202 });
      if (method === "initialize") {
        const { protocolVersion } = params;
        const result = { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "raw", version: "1" } };
        return Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": "s" } });
      }
      return new Response(
        new ReadableStream({
          start(controller) {
            const send = (text: string) => controller.enqueue(new TextEncoder().encode(text));
            post(id, send, () => controller.close());
          },
        }),
        { headers: stream },
      );
    },
  });
  return { url: `http://127.0.0.1:${server.port}/`, [Symbol.asyncDispose]: () => server.stop(true) };
}

const question = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  },
};

test("a session's stream that ended, or failed, is requested again while a call is open, also without event ids", async () => {
  const answers = [
    () => new Response("", { headers: stream }),
    () => new Response(null, { status: 503 }),
    () => {
      const asks = `data: ${JSON.stringify({ jsonrpc: "2.0", id: "q", ...question })}\n\n`;
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(asks)) });
      return new Response(body, { headers: stream });
    },
  ];
  const lastIds: (string | null)[] = [];
  const replied = Promise.withResolvers<unknown>();
  await using server = startRawServer({
    async post(id, send, close) {
      send(replyOf(id, JSON.stringify(await replied.promise)));
      close();
    },
    get(lastId) {
      lastIds.push(lastId);
      return answers.shift()?.() ?? new Response(null, { status: 405 });
    },
    reply: replied.resolve,
  });
  await using client = clientOf(server.url);
  const { text } = await client.call("ask", { elicit: ada });
  expect(JSON.parse(text)).toEqual({ action: "accept", content: { name: "Ada" } });
  expect(lastIds).toEqual([null, null, null]);
});

test.each([503, 409, 404])("a session's stream that failed with %d is requested by the next call", async (status) => {
  let requests = 0;
  const get = () => new Response(null, { status: ++requests < 3 ? status : 405 });
  await using server = startRawServer({ get });
  await using client = clientOf(server.url);
  for (let time = 0; time < 5; time++) await client.call("t");
  // Only 405 says that the server has no stream.
  expect(requests).toBe(3);
});

const cut = 'id: 1\nretry: 100\ndata:\n\nid: 2\ndata: {"jsonrpc"';
const cutAfterBegin: Handled["post"] = (_, send, close) => {
  send(cut);
  close();
};

test("an event that was cut is read anew, from the event before it", async () => {
  const lastIds: (string | null)[] = [];
  await using server = startRawServer({
    post: (id, send, close) => {
      reply = replyOf(id, "whole");
      cutAfterBegin(id, send, close);
    },
    get(lastId) {
      lastIds.push(lastId);
      return new Response(lastIds.length < 3 ? ": still at work\n\n" : `id: 2\n${reply}`, { headers: stream });
    },
  });
  let reply = "";
  await using client = clientOf(server.url, false);
  expect((await client.call("t")).text).toBe("whole");
  expect(lastIds).toEqual(["1", "1", "1"]);
});

test.each([404, 405, 400])("a stream that the server does not resume (%d) is an error at once", async (status) => {
  await using server = startRawServer({ post: cutAfterBegin, get: () => new Response(null, { status }) });
  await using client = clientOf(server.url, false);
  await expect(client.call("t")).rejects.toMatchObject({ code: "mcp_protocol_error", request: "sent" });
});

test("a stream that is resumed for ever ends with the call's time", async () => {
  const get = () => new Response("id: 1\nretry: 0\ndata:\n\n", { headers: stream });
  await using server = startRawServer({ post: cutAfterBegin, get });
  await using client = clientOf(server.url, false);
  await expect(client.call("t", {}, 700)).rejects.toMatchObject({ code: "timeout" });
});

test.each<[string, Handled["get"]]>([
  ["refuses", () => new Response(null, { status: 409 })],
  ["fails at", () => new Response("broken", { status: 500 })],
  ["has another kind of", () => Response.json({})],
  ["never begins", () => new Promise(() => {})],
  ["ends at once", () => new Response("", { headers: stream })],
  ["sends nonsense on", () => new Response("data: nonsense\n\n", { headers: stream })],
])("a server that %s the stream of a session is called all the same", async (_, get) => {
  await using server = startRawServer({ get });
  await using client = clientOf(server.url);
  expect((await client.call("t")).text).toBe("done");
});

/** Begins an answer with an event, and returns how often its rest was requested, and after which pauses. */
async function resumed(rest: () => Response, listens?: () => boolean) {
  let requests = 0;
  const pauses: number[] = [];
  await using server = startRawServer({
    post: (_, send, close) => [send("id: 1\nretry: 100\ndata:\n\n"), close()],
    get(lastId) {
      if (lastId === null) return new Response("id: 1\nretry: 100\ndata:\n\n", { headers: stream });
      requests++;
      return rest();
    },
  });
  const boundedFetch = createBoundedFetch({
    egress: createEgress({ allow: [], loopback: true }),
    timeout_ms: 20_000,
    fail: () => {},
    signal: new AbortController().signal,
    farewell: () => {},
    ...(listens && { listens }),
    async pause(ms) {
      pauses.push(ms);
    },
  });
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: {} });
  await (await boundedFetch(server.url, listens ? { method: "GET" } : { method: "POST", body })).text();
  return { requests, pauses };
}

test("a stream whose rest never brings an event is requested after growing pauses, and not for ever", async () => {
  const { requests, pauses } = await resumed(() => new Response("", { headers: stream }));
  expect(requests).toBe(64);
  expect(pauses.slice(0, 9)).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});

test("an event begins the pauses again", async () => {
  let id = 1;
  const { pauses } = await resumed(() => {
    if (++id === 6) return new Response(null, { status: 404 });
    return new Response(id === 4 ? "id: new\ndata:\n\n" : "", { headers: stream });
  });
  expect(pauses).toEqual([100, 200, 400, 100, 200]);
});

test("a session's stream is resumed only while calls are open", async () => {
  const empty = () => new Response("", { headers: stream });
  expect((await resumed(empty, () => false)).requests).toBe(0);
  let asked = 0;
  // The last call ends during the third pause.
  expect((await resumed(empty, () => ++asked < 6)).requests).toBe(2);
});
