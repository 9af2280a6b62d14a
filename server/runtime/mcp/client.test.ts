import { afterAll, describe, expect, test } from "bun:test";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { removeProxyEnvironment } from "../../lib/proxy.ts";
import { startMcpServer } from "../../testing/mcp-server.ts";
import { createMcpClient } from "./client.ts";
import { createStdioServers } from "./stdio-servers.ts";

removeProxyEnvironment();

const stdio = createStdioServers({ servers: {}, log: silentLog });
const newClient = (loopback = true) => createMcpClient({ egress: createEgress({ allow: [], loopback }), stdio });
const limits = (timeout_ms = 10_000, signal = new AbortController().signal) => ({ timeout_ms, signal });
const none = { a: 1, b: 2 };

describe.each([
  ["with sessions, streaming", { stateful: true, json: false }],
  ["with sessions, in JSON", { stateful: true, json: true }],
  ["without sessions, streaming", { stateful: false, json: false }],
  ["without sessions, in JSON", { stateful: false, json: true }],
])("a server %s", (_, options) => {
  const server = startMcpServer(options);
  const client = newClient();
  const at = { url: server.url, headers: { authorization: "Bearer s" } };
  const call = (name: string, args: Record<string, unknown> = none) => client.callTool(at, name, args, limits());
  afterAll(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });

  test("lists all pages of its tools, with their schemas and hints", async () => {
    const { tools, skipped } = await client.listTools(at, null, limits());
    expect(tools.length).toBeGreaterThan(8);
    expect(tools[0]).toMatchObject({ name: "add", description: "The tool add.", idempotent: true });
    expect(tools[0]!.parameters).toMatchObject({ required: ["a", "b"], additionalProperties: false });
    expect(tools[1]!.idempotent).toBe(false);
    expect(skipped).toEqual([]);
  });

  test("lists only allowed tools", async () => {
    const { tools } = await client.listTools(at, ["say", "pid", "absent"], limits());
    expect(tools.map(({ name }) => name)).toEqual(["say", "pid"]);
  });

  test("returns data, text, files, notes in place of images, and errors", async () => {
    expect(await call("add", { a: 2, b: 3 })).toEqual({ structured: { sum: 5 }, text: "5", isError: false });
    expect(await call("say", { what: "Grüße\u2028" })).toEqual({ text: "Grüße\u2028", isError: false });
    expect(await call("see")).toEqual({
      text: "[image image/png, 12 KB, kept as image-1.png]\ninside",
      isError: false,
      files: [{ name: "image-1.png", bytes: new Uint8Array(12_288) }],
    });
    const long = "x".repeat(3_000_000);
    expect(await call("say", { what: long })).toEqual({ text: long, isError: false });
    expect(await call("fail")).toEqual({ text: "no such file", isError: true });
  });

  test("a refused call is an error with the server's message", async () => {
    const refusal = {
      code: "mcp_error",
      request: "answered",
      message: expect.stringContaining("There is no nothing."),
    };
    await expect(call("nothing")).rejects.toMatchObject(refusal);
  });

  test("redirects within its origin are followed", async () => {
    expect(await client.callTool({ ...at, url: server.moved }, "say", { what: "here" }, limits())).toMatchObject({
      text: "here",
    });
  });
});

test("calls of one run share a session, another client has its own, and both are closed", async () => {
  await using server = startMcpServer();
  const at = { url: server.url, headers: {} };
  const [one, other] = [newClient(), newClient()];
  const count = async (client: typeof one) => (await client.callTool(at, "count", {}, limits())).text;
  const first = await Promise.all([count(one), count(one), count(one)]);
  expect(first.toSorted()).toEqual(["1", "2", "3"]);
  expect(await count(other)).toBe("1");
  expect(server.sessions.size).toBe(2);
  await Promise.all([one.close(), other.close()]);
  expect(server.sessions.size).toBe(0);
});

test("concurrent calls in one session get their own responses in any order", async () => {
  await using server = startMcpServer();
  const client = newClient();
  const at = { url: server.url, headers: {} };
  const say = async (what: string, after_ms: number) =>
    (await client.callTool(at, "say", { what, after_ms }, limits())).text;
  expect(await Promise.all([say("a", 30), say("b", 0), say("c", 15)])).toEqual(["a", "b", "c"]);
  await client.close();
});

test("other headers use another session, so that one user never sees another user's state", async () => {
  await using server = startMcpServer();
  const client = newClient();
  const count = async (authorization: string) =>
    (await client.callTool({ url: server.url, headers: { authorization } }, "count", {}, limits())).text;
  expect([await count("one"), await count("one"), await count("two")]).toEqual(["1", "2", "1"]);
  await client.close();
});

test("a session that the server has lost is replaced once, and the call is repeated", async () => {
  await using server = startMcpServer();
  const client = newClient();
  const count = async () => (await client.callTool({ url: server.url, headers: {} }, "count", {}, limits())).text;
  expect([await count(), await count()]).toEqual(["1", "2"]);
  server.sessions.clear();
  expect(await count()).toBe("1");
  await client.close();
});

test.each([
  ["the caller gives up", "aborted", (abort: AbortController) => abort.abort(), 60_000],
  ["the time is over", "timeout", () => {}, 200],
])("when %s the server is notified, the call ends, and the session continues", async (_, code, act, timeout_ms) => {
  await using server = startMcpServer();
  const client = newClient();
  const abort = new AbortController();
  const at = { url: server.url, headers: {} };
  await client.callTool(at, "count", {}, limits());
  const outcome = client.callTool(at, "wait", {}, limits(timeout_ms, abort.signal));
  outcome.catch(() => {});
  await server.seen.waiting.promise;
  act(abort);
  await expect(outcome).rejects.toMatchObject({ name: "McpFailure", code, request: "sent" });
  await server.seen.cancelled.promise;
  expect((await client.callTool(at, "count", {}, limits())).text).toBe("2");
  await client.close();
});

test("requests of a server, such as sampling, are refused", async () => {
  await using server = startMcpServer();
  const client = newClient();
  const { text } = await client.callTool({ url: server.url, headers: {} }, "ask", {}, limits());
  expect(text).not.toBe("answered");
  await client.close();
});

test("an address that is not public is refused, and nothing is sent", async () => {
  await using server = startMcpServer();
  const client = newClient(false);
  const https = server.url.replace("http:", "https:");
  const at = (url: string) => client.callTool({ url, headers: {} }, "add", none, limits());
  await expect(at(https)).rejects.toMatchObject({ code: "address_forbidden" });
  await expect(at(server.url)).rejects.toMatchObject({ code: "scheme_forbidden" });
  await client.close();
  expect(server.seen.requests).toEqual([]);
});

test("an unreachable server is an error, and the next call tries again", async () => {
  const server = startMcpServer();
  const at = { url: server.url, headers: {} };
  await server[Symbol.asyncDispose]();
  const client = newClient();
  const refused = { code: "connect_failed", request: "not_sent" };
  for (let i = 0; i < 2; i++) await expect(client.callTool(at, "add", none, limits())).rejects.toMatchObject(refused);
  await client.close();
});
