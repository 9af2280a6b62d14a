import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createAgent } from "./fixtures.ts";
import { type ParsedResponse, parseResponse, type Runnel, startRunnel } from "./harness.ts";
import { errorEnvelopeOf, rawRequest, requestHeaders } from "./raw-request.ts";

let server: Runnel;
beforeAll(async () => {
  server = await startRunnel();
});
afterAll(() => server[Symbol.asyncDispose]());

const agent = { name: "A", instructions: "B", model: "test/echo" };
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const json = (more: string) => JSON.stringify(agent).replace("}", `,${more}}`);

interface Case {
  title: string;
  body: string | Uint8Array<ArrayBuffer>;
  type?: string;
  status: number;
  code: string;
}

const bodies: Case[] = [
  { title: "broken JSON", body: '{"name":', status: 400, code: "invalid_json" },
  {
    title: "JSON that is 100 000 deep",
    body: json(`"metadata":${nested(100_000)}`),
    status: 400,
    code: "invalid_json",
  },
  { title: "an unclosed depth of 100 000", body: "[".repeat(100_000), status: 400, code: "invalid_json" },
  {
    title: "2 MB of body",
    body: json(`"description":"${"x".repeat(2_000_000)}"`),
    status: 413,
    code: "payload_too_large",
  },
  { title: "an unknown field", body: json('"nonsense":1'), status: 400, code: "unknown_parameter" },
  { title: "__proto__", body: json('"metadata":{"__proto__":{"a":1}}'), status: 400, code: "validation_failed" },
  {
    title: "constructor as a key",
    body: json('"metadata":{"constructor":"x"}'),
    status: 400,
    code: "validation_failed",
  },
  {
    title: "__proto__ by its escape",
    body: json('"metadata":{"\\u005f_proto__":"x"}'),
    status: 400,
    code: "validation_failed",
  },
  { title: "text/plain", body: JSON.stringify(agent), type: "text/plain", status: 415, code: "unsupported_media_type" },
  {
    title: "another charset",
    body: JSON.stringify(agent),
    type: "application/json; charset=utf-16",
    status: 415,
    code: "unsupported_media_type",
  },
  {
    title: "invalid UTF-8",
    body: new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]),
    status: 400,
    code: "invalid_json",
  },
  { title: "a list instead of an object", body: "[]", status: 400, code: "validation_failed" },
  { title: "a number instead of an object", body: "1", status: 400, code: "validation_failed" },
  { title: "a number beyond all numbers", body: json('"max_turns":1e400'), status: 400, code: "invalid_json" },
  { title: "a string where a number belongs", body: json('"max_turns":"5"'), status: 400, code: "validation_failed" },
  { title: "a number beyond its range", body: json('"max_turns":1e99'), status: 400, code: "validation_failed" },
  { title: "a NUL in a text", body: json('"metadata":{"a":"\\u0000"}'), status: 201, code: "" },
  { title: "an unpaired surrogate", body: json('"description":"\\ud800"'), status: 201, code: "" },
];

describe("a body", () => {
  test.each(bodies)("of $title gets a response by the contract", async ({ body, type, status, code }) => {
    const headers: Record<string, string> = { "content-type": type ?? "application/json" };
    const answer = await parseResponse(await server.fetch("/v1/agents", { method: "POST", body, headers }));
    expect(answer.status).toBe(status);
    if (code !== "") expectError(answer, code);
  });

  test("with many faults gets a list of all", async () => {
    const { status, body } = await server.post("/v1/agents", {
      name: 1,
      model: null,
      tools: "none",
      max_turns: 0,
      x: 1,
    });
    expect(status).toBe(400);
    const params = body.error.errors.map(({ param }: { param: string }) => param);
    expect(params).toEqual(expect.arrayContaining(["name", "model", "instructions", "tools", "max_turns", "x"]));
  });

  test("that announces more than it sends leaves the server healthy", async () => {
    await rawRequest(
      server,
      `POST /v1/agents HTTP/1.1\r\n${requestHeaders(server)}Content-Type: application/json\r\nContent-Length: 900\r\n\r\n{`,
      300,
    );
    expect((await server.get("/v1/me")).status).toBe(200);
    expect(server.log()).not.toContain("met a bug");
  });
});

const paths = (
  [
    ["/v1/../../etc/passwd", [400, 404]],
    ["/v1/%2e%2e/%2e%2e/etc/passwd", [400, 404]],
    ["/dashboard/../../../../etc/passwd", [200, 400, 404]],
    ["/dashboard/assets/%2e%2e%2f%2e%2e%2fserver%2fmain.ts", [400, 404]],
    ["/dashboard/assets/..%5c..%5crunnel.db", [400, 404]],
    ["/v1/agents/%00", [400, 404]],
    ["/v1/agents/agt_%00%00", [400, 404]],
    ["/v1/agents/%ff%fe", [400, 404]],
    ["/v1/agents/%", [400, 404]],
    ["/v1/agents/__proto__", [400, 404]],
    ["/v1/runs/run_x'%20OR%20'1'='1", [400, 404]],
    ["/v1//agents", [404]],
    ["//v1/agents", [404]],
    ["/v1/me;x=1", [404]],
    ["/v1/agents/;/versions", [404]],
    ["/v1/agents%2fx", [404]],
    ["/v1%2fagents", [404]],
    ["/%76%31/me", [404]],
    ["/v1/agents/..", [400]],
    ["/v1/agents/%c0%ae%c0%ae", [400, 404]],
    ["/v1/agents/%0d%0aX-A:%20b", [404]],
    ["/v1/agents/\xff", [404]],
    [`/v1/agents/agt_${"0".repeat(8000)}`, [404]],
    [`/v1/traces/${"trc_".repeat(2000)}`, [404]],
    [`/v1/agents?${"a[".repeat(4000)}=1`, [400]],
    [`/v1/agents?${Array.from({ length: 2000 }, (_, i) => `a${i}=`).join("&")}`, [400]],
    ["/v1/agents?__proto__[x]=1&constructor=2", [400]],
    ["/v1/agents?starting_after=%0d%0aSet-Cookie:a", [400]],
    ["/v1/audit_log?action=%27%20OR%201=1", [400]],
    ["/v1/agents?limit=-1", [400]],
    ["/v1/agents?limit=99999999999999999999", [400]],
    ["/v1/agents?nonsense=1", [400]],
    ["/v1/agents?starting_after=' OR 1=1 --", [400]],
    ["/v1/agents?limit=1&limit=2", [400]],
    ["/v1/agents?metadata[__proto__]=1", [200, 400]],
    ["/v1/agents?created_at[gt]=yesterday", [400]],
    [`/v1/agents?starting_after=${"a".repeat(100_000)}`, [400, 414, 431]],
    [`/v1/agents/${"a".repeat(100_000)}`, [400, 404, 414, 431]],
  ] as [path: string, statuses: number[]][]
).map(([path, statuses]) => ({ title: path.slice(0, 60), path, statuses }));

describe("a path", () => {
  test.each(paths)("$title never makes the server fail, and reads no file", async ({ path, statuses }) => {
    const answer = await rawRequest(
      server,
      `GET ${path.replaceAll(" ", "%20")} HTTP/1.1\r\n${requestHeaders(server)}Connection: close\r\n\r\n`,
    );
    expect(statuses).toContain(answer.status);
    expect(answer.text).not.toContain("root:x:");
    // Requests that the socket's parser refuses itself (431, a malformed line) never reach our code.
    const isApi = !path.startsWith("/dashboard");
    if (isApi && answer.status !== 200 && answer.text !== "") expect(errorEnvelopeOf(answer).code).toBeString();
  });
});

describe("a request with", () => {
  const unusable = ["a b%%", "x#y", "u@x.com", "[::zz", "[::zz]", "a:99999", "1.2.3.999", "a/b", "a\tb", ""];
  test.each(unusable)("the host %j is refused, and its live key stays valid", async (host) => {
    const key = `Authorization: Bearer ${server.keys.live}\r\n`;
    for (const path of ["/v1/me", "/v1/me?x", "/v1/me?x=1&x=2", "/dashboard", "/nothing"]) {
      const answer = await rawRequest(
        server,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${key}X-Client-Request-Id: a\r\nConnection: close\r\n\r\n`,
      );
      expect({ path, status: answer.status }).toEqual({ path, status: 400 });
      if (answer.text !== "") expect(JSON.parse(answer.text).error.code).toBe("validation_failed");
    }
    const { status, body } = await server.get("/v1/api_keys", server.keys.live);
    expect(status).toBe(200);
    expect(body.data).toMatchObject([{ exposed_at: null, revoked_at: null }]);
  });

  test.each(["a", "hq", "abc", "a:443", "a:8443", "[::1]"])("the short host %s reaches its address", async (host) => {
    const us = `Host: ${host}\r\nAuthorization: Bearer ${server.keys.test}\r\nConnection: close\r\n`;
    const me = await rawRequest(server, `GET /v1/me HTTP/1.1\r\n${us}\r\n`);
    expect([me.status, JSON.parse(me.text).object]).toEqual([200, "me"]);
    const list = await rawRequest(server, `GET /v1/agents?limit=0 HTTP/1.1\r\n${us}\r\n`);
    expect([list.status, JSON.parse(list.text).error.param]).toEqual([400, "limit"]);
    const body = JSON.stringify(agent);
    const post = `POST /v1/agents HTTP/1.1\r\n${us}Content-Type: application/json\r\n`;
    expect((await rawRequest(server, `${post}Content-Length: ${body.length}\r\n\r\n${body}`)).status).toBe(201);
  });

  test("an invalid key gets the same response, whichever way it is invalid", async () => {
    const { body: missing } = await server.get("/v1/me", null);
    expect(missing.error).toMatchObject({ type: "authentication_error", code: "missing_api_key" });
    for (const key of [
      "x",
      server.keys.test.slice(0, -1),
      `${server.keys.test}x`,
      server.keys.test.replace("test", "live"),
    ]) {
      const { status, body } = await server.get("/v1/me", key);
      expect({ status, code: body.error.code }).toEqual({ status: 401, code: "invalid_api_key" });
    }
  });

  test("an invalid Last-Event-ID gets a message", async () => {
    const { body: run } = await server.post("/v1/runs?wait=60", {
      agent_id: await createAgent(server, "test/echo"),
      input: "Hi",
    });
    for (const after of ["x", "-1", "9".repeat(30), "1.2.3", "999999"]) {
      await using stream = await server.stream(`/v1/runs/${run.id}/events`, { after });
      expect({ after, status: stream.response.status }).toEqual({ after, status: 400 });
    }
  });
});

function expectError({ body, headers }: Pick<ParsedResponse, "body" | "headers">, code: string): void {
  expect(body.error).toMatchObject({ code, type: expect.any(String), message: expect.any(String) });
  expect(body.request_id).toBe(headers.get("x-request-id"));
}
