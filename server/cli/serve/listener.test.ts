import { afterAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { readJsonBody } from "../../http/json-body.ts";
import { normalizeHost } from "../../http/normalize-host.ts";
import { silentLog } from "../../lib/log.ts";
import { freePort } from "../../testing/free-port.ts";
import { rawAsk } from "../../testing/raw-ask.ts";
import { testApp } from "../../testing/test-app.ts";
import { createListener } from "./listener.ts";

/** Resolves when the server closes a connection that sent half of a request, or what it `said`. */
function cutOff(port: number, said = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(port, "127.0.0.1", () => socket.write(said));
  socket
    .resume()
    .on("error", () => {})
    .on("close", () => resolve());
  return promise;
}

test.each(["203.0.113.7", "nowhere.invalid", "no name"])(
  "a host that is not an address of this machine is refused: %s",
  (host) => {
    const nowhere = { host, certificate: null, log: silentLog, handle: () => new Response() };
    for (const port of [0, freePort()])
      expect(() => createListener({ ...nowhere, port })).toThrow(`--host ${host} is no address of this machine`);
  },
);

// Bun checks its timers every four seconds, so that a timeout below twice that would be too inexact.
const idle_s = 8;

// These tests wait for timeouts of the listener: beside each other, they take as long as the longest.
describe("a client", () => {
  test.concurrent("that sent its whole request may wait beyond the idle timeout; one that stops in the middle is cut off", async () => {
    const listener = createListener({
      host: "127.0.0.1",
      port: 0,
      certificate: null,
      log: silentLog,
      idle_s,
      async handle(request) {
        const body = await readJsonBody(request);
        // Wait for twice the idle timeout.
        for (let times = 0; times < 2; times++) await cutOff(listener.port);
        return Response.json(body);
      },
    });
    const ask = async (connection: string, method: string) => {
      const body = method === "POST" ? '{"a":1}' : undefined;
      const headers = { connection, "content-type": "application/json" };
      const response = await fetch(`http://127.0.0.1:${listener.port}`, { method, body, headers });
      return [response.status, await response.json()];
    };
    try {
      await cutOff(listener.port, ""); // By then the listener rests: it has had no request.
      expect(await Promise.all([ask("keep-alive", "POST"), ask("close", "POST"), ask("keep-alive", "GET")])).toEqual([
        [200, { a: 1 }],
        [200, { a: 1 }],
        [200, {}],
      ]);
    } finally {
      await listener.cut();
    }
  }, 60_000);

  const server = testApp({ dashboard: true });
  const handle = (request: Request) => server.app.fetch(normalizeHost(request));
  const listener = createListener({ host: "127.0.0.1", port: 0, certificate: null, log: silentLog, handle });
  afterAll(async () => {
    await listener.cut();
    await server[Symbol.asyncDispose]();
  });

  const json = { "content-type": "application/json", "content-length": "900" };
  const multipart = { "content-type": "multipart/form-data; boundary=b", "content-length": "900" };
  const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\na';
  const ofPage = { "x-runnel-console": "1", origin: "http://localhost", "sec-fetch-site": "same-origin" };
  const bodiesOf = (agent: string): [target: string, headers: Record<string, string>, body: string][] => [
    ["/v1/agents", json, '{"a":'],
    ["/v1/agents", { ...json, "content-length": "900000" }, ""],
    ["/v1/runs", { "content-type": "application/json", "transfer-encoding": "chunked" }, '5\r\n{"a":\r\n'],
    ["/v1/files", multipart, part],
    ["/v1/files", json, "{"],
    ["/v1/traces", { ...json, "content-type": "application/vnd.runnel.capsule" }, "SQLite"],
    ["/openai/v1/files", multipart, part],
    ["/openai/v1/responses", json, "{"],
    ["/openai/v1/chat/completions", json, "{"],
    ["/mcp", json, "{"],
    [`/a2a/v1/agents/${agent}`, json, "{"],
    [`/a2a/v1/agents/${agent}/message:send`, json, "{"],
    [`/ag-ui/v1/agents/${agent}`, json, "{"],
    [`/ui/v1/agents/${agent}/chat`, json, "{"],
    [`/chat/${agent}/token`, json, "{"],
    ["/console/api/login", { ...json, ...ofPage }, "{"],
  ];

  test.concurrent("whose body stops arriving gets a 408 with the reason on every route that reads a body, and the connection is closed", async () => {
    const client = await server.client({ project: "silent" });
    const doors = { a2a: true, mcp: true };
    const made = { name: "clerk", description: "A clerk.", instructions: "", model: "test/echo", doors };
    const agent = await client.post("/v1/agents", made);
    expect(agent.status).toBe(201);
    const authorization = `Bearer ${client.key.secret}`;
    const bodies = bodiesOf(agent.body.id);
    const refusal = rawAsk(listener.port, {
      method: "POST",
      target: "/v1/agents",
      body: "{",
      headers: { authorization, ...json },
    });
    const answers = await Promise.all(
      bodies.map(async ([target, headers, body]) => {
        const sent = {
          method: "POST",
          target,
          body,
          headers: { ...headers, authorization, connection: "keep-alive" },
        };
        const { status, head, text } = await rawAsk(listener.port, sent);
        return { target, status, closes: head.includes("connection: close"), said: text.includes("stopped before") };
      }),
    );
    expect(answers).toEqual(bodies.map(([target]) => ({ target, status: 408, closes: true, said: true })));
    const refused = await refusal;
    const { error, request_id } = JSON.parse(refused.text);
    expect(error).toMatchObject({ type: "invalid_request_error", code: "body_timeout" });
    expect(refused.head).toContain(`x-request-id: ${request_id}`);
  }, 60_000);

  test.concurrent("whose body is slow is read as long as data arrives", async () => {
    const { key } = await server.client({ project: "slow" });
    const whole = JSON.stringify({ name: "a", instructions: "b", model: "test/echo" });
    const headers = {
      authorization: `Bearer ${key.secret}`,
      "content-type": "application/json",
      "content-length": String(whole.length),
    };
    // Five pieces: each pause is shorter than the timeout for silence, and all together are longer.
    const pieces = [0, 1, 2, 3, 4].map((at) => whole.slice(at * 12, at === 4 ? undefined : at * 12 + 12));
    const answer = await rawAsk(listener.port, {
      method: "POST",
      target: "/v1/agents",
      headers,
      body: pieces,
      pause_ms: 4000,
    });
    expect([answer.status, JSON.parse(answer.text).name]).toEqual([201, "a"]);
  }, 60_000);
});
