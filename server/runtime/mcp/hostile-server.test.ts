import { describe, expect, test } from "bun:test";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { removeProxyEnvironment } from "../../lib/proxy.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { createMcpClient } from "./client.ts";
import type { McpFailure } from "./mcp-failure.ts";
import { createStdioServers } from "./stdio-servers.ts";

removeProxyEnvironment();

interface Message {
  id?: number;
  method?: string;
  params?: { cursor?: string };
}
type Handler = (message: Message) => Response | Promise<Response>;

const stdio = createStdioServers({ servers: {}, log: silentLog });
const result = (id: number | undefined, value: object) => ({ jsonrpc: "2.0", id, result: value });
const events = (...messages: unknown[]) => messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join("");
const sse = (body: string | ReadableStream) => new Response(body, { headers: { "content-type": "text/event-stream" } });

/** Creates a server that begins correctly and then runs `handle`. */
function hostile(handle: Handler, start?: Handler) {
  let requests = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      requests++;
      if (request.method === "DELETE") return new Response(null, { status: 405 });
      const message = (await request.json()) as Message;
      if (message.method === "notifications/initialized") return new Response(null, { status: 202 });
      if (message.method !== "initialize") return handle(message);
      if (start) return start(message);
      const serverInfo = { name: "bad", version: "1" };
      return Response.json(
        result(message.id, { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo }),
      );
    },
  });
  const client = createMcpClient({ egress: createEgress({ allow: [], loopback: true }), stdio });
  const at = { url: `http://127.0.0.1:${server.port}/`, headers: {} };
  const never = new AbortController().signal;
  return {
    list: (timeout_ms = 20_000) => client.listTools(at, null, { timeout_ms, signal: never }),
    call: (timeout_ms = 20_000, signal = never) => client.callTool(at, "t", {}, { timeout_ms, signal }),
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server.stop(true);
    },
  };
}

const endless = (chunk: string) => {
  const [begun, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let pulls = 0;
  const body = new ReadableStream({
    pull: async (controller) => {
      if (++pulls === 3) begun.resolve(); // The first pulls only fill buffers.
      await Bun.sleep(0);
      controller.enqueue(new TextEncoder().encode(chunk));
    },
    cancel: () => closed.resolve(),
  });
  return { body, begun: begun.promise, closed: closed.promise };
};

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });

describe("an answer that is none", () => {
  test.each<[string, Handler]>([
    ["ends without a result", () => sse("")],
    ["ends in the middle of one", ({ id }) => sse(events(result(id, {})).slice(0, -9))],
    ["has another id", ({ id }) => Response.json(result(id! + 1, { content: [] }))],
    ["has another id, streamed", ({ id }) => sse(events(result(id! + 1, { content: [] })))],
    ["is no message", () => Response.json({ hello: 1 })],
    ["is not JSON", () => new Response("<html>", { headers: { "content-type": "application/json" } })],
    ["is a page", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["only says that it was accepted", () => new Response(null, { status: 202 })],
    ["has no body", () => new Response(null, { status: 204 })],
    ["is a list of nothing", () => Response.json([])],
    ["nests too deep", ({ id }) => new Response(`{"jsonrpc":"2.0","id":${id},"result":${"[".repeat(100_000)}`)],
  ])("that %s is an error at once", async (_, handle) => {
    await using server = hostile(handle);
    await expect(server.call()).rejects.toMatchObject({ name: "McpFailure", code: "mcp_protocol_error" });
  });

  test.each([401, 403, 404, 429, 500])("of status %i says so", async (status) => {
    await using server = hostile(() => new Response(`no ${"x".repeat(5000)}`, { status }));
    const { code, message } = (await server.call().catch((thrown: unknown) => thrown)) as McpFailure;
    expect([code, message.slice(0, 41)]).toEqual([
      "mcp_unreachable",
      `The server returned status ${status}: no xxxxxx`,
    ]);
    expect(message.length).toBeLessThan(400);
  });

  test("that leads to another place on this machine is not followed", async () => {
    let visits = 0;
    const canary = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(String(++visits)) });
    for (const status of [302, 307]) {
      const location = `http://127.0.0.1:${canary.port}/`;
      await using server = hostile(() => new Response(null, { status, headers: { location } }));
      await expect(server.call()).rejects.toMatchObject({ code: "mcp_unreachable" });
    }
    expect(visits).toBe(0);
    await canary.stop(true);
  });

  test("that leads to itself without end is left", async () => {
    await using server = hostile(() => new Response(null, { status: 307, headers: { location: "/" } }));
    await expect(server.call()).rejects.toMatchObject({ code: "mcp_unreachable" });
    expect(server.requests()).toBeLessThan(20);
  });
});

describe("an answer without end", () => {
  test.each([
    ["of one event", "data: aaaaaaaaaaaaaaaaaaaa".padEnd(65_536, "a")],
    ["of notifications", events({ jsonrpc: "2.0", method: "notifications/message", params: {} }).repeat(500)],
    ["of wrong answers", events(result(999, {})).repeat(500)],
  ])("%s is left at the limit, and its connection is closed", async (_, chunk) => {
    const { body, closed } = endless(chunk);
    await using server = hostile(({ method }) => (method === "tools/call" ? sse(body) : new Response()));
    await expect(server.call()).rejects.toMatchObject({ code: "response_too_large" });
    await closed;
  });

  test("of comments is left at the deadline, and its connection is closed", async () => {
    const asked = await withEnoughTime(300, async (timeout_ms) => {
      const { body, closed } = endless(": still here\n\n");
      let asked = 0;
      await using server = hostile(({ method }) => {
        if (method === "tools/call") asked++;
        return method === "tools/call" ? sse(body) : new Response();
      });
      await expect(server.call(timeout_ms)).rejects.toMatchObject({ code: "timeout" });
      if (asked > 0) await closed;
      return asked || null;
    });
    expect(asked).toBe(1);
  });

  test("is left when the caller aborts, and its connection is closed", async () => {
    const { body, closed, begun } = endless(": still here\n\n");
    await using server = hostile(({ method }) => (method === "tools/call" ? sse(body) : new Response()));
    const abort = new AbortController();
    const outcome = server.call(60_000, abort.signal);
    outcome.catch(() => {});
    await begun;
    abort.abort();
    await expect(outcome).rejects.toMatchObject({ code: "aborted" });
    await closed;
  });

  test("of questions is left after a number of them", async () => {
    const questions = Array.from({ length: 50 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
    const { body } = endless(events(...questions));
    await using server = hostile(({ method }) =>
      method === "tools/call" ? sse(body) : new Response(null, { status: 202 }),
    );
    await expect(server.call()).rejects.toMatchObject({ code: "mcp_protocol_error" });
    expect(server.requests()).toBeLessThan(100);
  });

  test("of large pages is left when all of them are too large", async () => {
    const tools = Array.from({ length: 30 }, (_, index) => tool(`t${index}`, { description: "x".repeat(50_000) }));
    await using server = hostile(({ id }) => Response.json(result(id, { tools, nextCursor: String(id) })));
    await expect(server.list()).rejects.toMatchObject({ code: "response_too_large" });
    expect(server.requests()).toBeLessThan(10);
  });

  test("of pages is left after a number of them", async () => {
    await using server = hostile(({ id }) => Response.json(result(id, { tools: [tool("a")], nextCursor: String(id) })));
    await expect(server.list()).rejects.toMatchObject({ code: "mcp_protocol_error" });
    expect(server.requests()).toBeLessThan(50);
  });
});

test.each<[string, number, Handler]>([
  ["whose cursor never changes", 2, ({ id }) => Response.json(result(id, { tools: [tool("a")], nextCursor: "8" }))],
  [
    "whose cursors go round",
    3,
    ({ id, params }) => {
      const nextCursor = params?.cursor === "1" ? "2" : "1";
      return Response.json(result(id, { tools: [tool("a")], nextCursor }));
    },
  ],
])("a list %s is read once", async (_, pages, handle) => {
  await using server = hostile(handle);
  expect(await server.list()).toMatchObject({ tools: [{ name: "a" }], skipped: [] });
  expect(server.requests()).toBe(2 + pages);
});

describe("a session that the server does not know any more", () => {
  const lost = (status: number, message: string): Handler & { calls(): number } => {
    let calls = 0;
    const handle: Handler = ({ id }) => {
      if (++calls === 1) return new Response(message, { status });
      return Response.json(result(id, { content: [{ type: "text", text: "done" }] }));
    };
    return Object.assign(handle, { calls: () => calls });
  };
  const withSession: Handler = ({ id }) =>
    Response.json(
      result(id, {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      }),
      { headers: { "mcp-session-id": crypto.randomUUID() } },
    );

  test.each([
    [404, '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}'],
    [404, ""],
    [400, '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}'],
    [400, '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}'],
  ])("with status %d is replaced once: %s", async (status, message) => {
    const handle = lost(status, message);
    await using server = hostile(handle, withSession);
    expect((await server.call()).text).toBe("done");
    expect(handle.calls()).toBe(2);
  });

  test("is not replaced again and again", async () => {
    let calls = 0;
    await using server = hostile(() => {
      calls++;
      return new Response("Session not found", { status: 404 });
    }, withSession);
    await expect(server.call()).rejects.toMatchObject({ code: "mcp_unreachable" });
    expect(calls).toBe(2);
  });

  test("is not assumed for another refusal: the call is not repeated", async () => {
    const handle = lost(400, "The arguments are wrong.");
    await using server = hostile(handle, withSession);
    await expect(server.call()).rejects.toMatchObject({ code: "mcp_unreachable" });
    expect(handle.calls()).toBe(1);
  });
});

describe("a beginning that is none", () => {
  test.each<[string, Handler]>([
    [
      "of an unknown version",
      ({ id }) =>
        Response.json(result(id, { protocolVersion: "1999", capabilities: {}, serverInfo: { name: "", version: "" } })),
    ],
    ["without any of it", ({ id }) => Response.json(result(id, {}))],
    ["that ends", () => sse("")],
  ])("%s is an error at once", async (_, start) => {
    await using server = hostile(() => new Response(), start);
    await expect(server.call()).rejects.toMatchObject({ code: "mcp_protocol_error" });
  });

  test("that never comes is left at the deadline", async () => {
    await using server = hostile(
      () => new Response(),
      () => sse(endless(": wait\n\n").body),
    );
    await expect(server.call(200)).rejects.toMatchObject({ code: "timeout" });
  });
});

test("ten thousand tools are cut to the maximum of an agent", async () => {
  const tools = Array.from({ length: 10_000 }, (_, index) => tool(`t${index}`));
  await using server = hostile(({ id }) => Response.json(result(id, { tools, nextCursor: "2" })));
  const { tools: taken, skipped } = await server.list();
  expect([taken.length, skipped.length, server.requests()]).toEqual([128, 1, 3]);
});

test("an answer of an unknown kind is read as far as possible", async () => {
  const content = [{ type: "hologram", data: "x" }, null, 7, { type: "text", text: "read" }, { type: "text", text: 1 }];
  await using server = hostile(({ id }) => Response.json(result(id, { content, structuredContent: "no object" })));
  const { text, structured } = await server.call();
  expect(text.split("\n")).toContain("read");
  expect(structured).toBeUndefined();
});
