import { afterAll, expect, test } from "bun:test";
import { errorCodes } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { type Answer, testApp } from "../testing/test-app.ts";

// What every response promises, asked of every route there is: a new route is covered the day it is written.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

const kinds = {
  agents: "agent",
  tools: "tool",
  runs: "run",
  traces: "run",
  api_keys: "api_key",
} as const;

interface Route {
  method: string;
  path: string;
}

const routes: Route[] = server.app.routes
  .filter(({ path }) => path.startsWith("/v1/"))
  .map(({ method, path }) => ({ method, path: path.replace(/\/$/, "") }));
const withId = routes.filter(({ path }) => path.includes(":"));

/** The route's address with a well-formed id of nothing in place of each parameter. */
function addressOf(path: string, id?: string): string {
  const resource = path.split("/")[2] as keyof typeof kinds;
  return path.replaceAll(/:\w+/g, (name) => (name === ":version" ? "1" : (id ?? newId(kinds[resource]))));
}

const bodyFor = (method: string) => (method === "GET" ? undefined : method === "DELETE" ? undefined : {});

function expectError({ status, body, headers }: Answer, expected: number, code?: string): void {
  expect({ status, code: body.error?.code }).toEqual({ status: expected, code: code ?? body.error?.code });
  expect(errorCodes).toContain(body.error.code);
  expect(Object.keys(body).sort()).toEqual(["error", "request_id"]);
  expect(body.error).toMatchObject({
    type: expect.any(String),
    message: expect.any(String),
    doc_url: expect.any(String),
  });
  expect(body.error.param === null || typeof body.error.param === "string").toBe(true);
  expectHeaders({ status, body, headers });
}

function expectHeaders({ body, headers }: Answer): void {
  expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}$/);
  expect(body.request_id).toBe(headers.get("x-request-id"));
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  for (const name of ["limit", "remaining", "reset"]) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
}

test("there are routes to ask", () => {
  expect(routes.length).toBeGreaterThan(15);
});

test.each(routes)("$method $path turns a stranger away before it looks at anything else", async ({ method, path }) => {
  await using stranger = testApp(); // Guesses are limited by address: each route gets a server of its own.
  const address = `${addressOf(path, "nonsense")}?unknown=1`;
  const nonsense = method === "GET" ? undefined : "{nonsense";
  const missing = await stranger.send(method, address, nonsense);
  expectError(missing, 401, "missing_api_key");
  expect(missing.headers.get("www-authenticate")).toBe("Bearer");
  const wrong = await stranger.send(method, address, nonsense, { authorization: "Bearer sk_test_wrong" });
  expectError(wrong, 401, "invalid_api_key");
});

test.each(routes)("$method $path says 403 to a key without the scope, before it looks at the body", async (route) => {
  const { method, path } = route;
  const weak = await server.client({ scopes: [method === "GET" ? "run" : "read"] });
  const answer = await server.send(method, addressOf(path), method === "GET" ? undefined : "{nonsense", {
    authorization: `Bearer ${weak.key.secret}`,
  });
  if (method === "GET" && answer.status !== 403) return; // What `run` may read is asked of each resource.
  expectError(answer, 403, "insufficient_scope");
  expect(answer.body.error.details.required_scope).toBeString();
});

test.each(routes)("$method $path refuses a query parameter that it does not know", async ({ method, path }) => {
  const admin = await server.client({ project: `query-${Bun.hash(method + path)}` });
  const answer = await server.send(method, `${addressOf(path)}?surprise=1`, bodyFor(method), {
    authorization: `Bearer ${admin.key.secret}`,
  });
  expectError(answer, 400, "unknown_parameter");
  expect(answer.body.error.param).toBe("surprise");
});

test("a query parameter given twice is refused, also where there is no list", async () => {
  const admin = await server.client({ project: "twice" });
  const { status, body } = await admin.post("/v1/runs?wait=1&wait=2", { agent_id: newId("agent"), input: "x" });
  expect([status, body.error.code, body.error.param]).toEqual([400, "validation_failed", "wait"]);
  expect(body.error.message).toBe("wait: This parameter is given twice.");
  const list = await admin.get("/v1/agents?limit=1&limit=2");
  expect([list.status, list.body.error.errors.length]).toEqual([400, 1]);
});

test("a query parameter without a name is refused in a sentence", async () => {
  const admin = await server.client({ project: "nameless" });
  for (const query of ["=", "=x", "=1&=2"]) {
    const { status, body } = await admin.get(`/v1/agents?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, "unknown_parameter", null]);
    expect(body.error.message).toBe("A query parameter has no name.");
  }
});

test.each(withId)(
  "$method $path answers for another project's id as for one that never was",
  async ({ method, path }) => {
    const [owner, stranger] = [await server.client({ project: "owner" }), await server.client({ project: "stranger" })];
    const other = await server.client({ project: "owner", environment: "live" });
    const resource = path.split("/")[2] as keyof typeof kinds;
    const taken = await makeOne(owner, resource);
    const ask = async (client: typeof owner, id: string) => {
      const { status, body } = await server.send(method, addressOf(path, id), validBody(path, method), {
        authorization: `Bearer ${client.key.secret}`,
      });
      return { status, error: body.error };
    };
    const absent = await ask(stranger, newId(kinds[resource]));
    expect(absent.status).toBe(404);
    expect(await ask(stranger, taken)).toEqual(absent);
    expect(await ask(other, taken)).toEqual(absent);
    for (const id of ["none", "agt_", "..%2f..%2fetc", "%00", "x".repeat(500)])
      expect(await ask(stranger, id)).toEqual(absent);
  },
);

async function makeOne(
  owner: Awaited<ReturnType<typeof server.client>>,
  resource: keyof typeof kinds,
): Promise<string> {
  if (resource === "api_keys") return owner.key.id;
  const name = `t${newId("tool")}`;
  if (resource === "tools") return (await owner.post("/v1/tools", { name })).body.id;
  const agent = await owner.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
  if (resource === "agents") return agent.body.id;
  return (await owner.post("/v1/runs?wait=5", { agent_id: agent.body.id, input: "hello" })).body.id;
}

// A body that the route takes, so that nothing but the id is wrong.
const validBody = (path: string, method: string): unknown =>
  path.endsWith("/submit_tool_outputs")
    ? { tool_outputs: [{ tool_call_id: newId("tool_call"), output: 1 }] }
    : bodyFor(method);

test("an address that nothing has is 404, and one with other methods is 405 and names them", async () => {
  expectError(await server.send("GET", "/v1/nothing"), 404, "resource_not_found");
  expectError(await server.send("GET", "/v1"), 404, "resource_not_found");
  for (const [method, path, allow] of [
    ["PUT", "/v1/agents", "GET, POST"],
    ["OPTIONS", "/v1/tools/", "GET, POST"],
    ["POST", `/v1/agents/${newId("agent")}`, "DELETE, GET, PATCH"],
  ] as const) {
    const answer = await server.send(method, path);
    expectError(answer, 405, "method_not_allowed");
    expect(answer.headers.get("allow")).toBe(allow);
  }
});

test("a success has the same headers, and its request_id beside the rest", async () => {
  const admin = await server.client();
  const me = await admin.get("/v1/me");
  expect(me.status).toBe(200);
  expectHeaders(me);
  expectHeaders(await admin.get("/v1/agents"));
  const created = await admin.post("/v1/agents", { name: "a", instructions: "b", model: "test/echo" });
  expect(created.status).toBe(201);
  expectHeaders(created);
});

test("HEAD is admitted like GET", async () => {
  const admin = await server.client();
  expect((await server.send("HEAD", "/v1/agents")).status).toBe(401);
  const { status, headers } = await server.send("HEAD", "/v1/agents", undefined, {
    authorization: `Bearer ${admin.key.secret}`,
  });
  expect([status, headers.get("x-ratelimit-limit")]).toEqual([200, "600"]);
});

test("all faults of a body are listed, each with its parameter", async () => {
  const admin = await server.client();
  const { status, body } = await admin.post("/v1/agents", {
    name: 7,
    model: "test/echo",
    tools: ["x"],
    max_turns: "5",
    extra: 1,
  });
  expect([status, body.error.code]).toEqual([400, "validation_failed"]);
  const found = Object.fromEntries(
    body.error.errors.map((fault: { param: string; code: string }) => [fault.param, fault.code]),
  );
  expect(found).toEqual({
    name: "invalid_value",
    instructions: "required",
    "tools[0]": "invalid_value",
    max_turns: "invalid_value",
    extra: "unknown_parameter",
  });
});

test("an unknown field alone is an unknown parameter", async () => {
  const admin = await server.client();
  for (const extra of [{ memory: {} }, { guardrails: [] }, { budget: {} }, { model_settings: { top_k: 1 } }]) {
    const { status, body } = await admin.post("/v1/agents", {
      name: "a",
      instructions: "",
      model: "test/echo",
      ...extra,
    });
    expect([status, body.error.code]).toEqual([400, "unknown_parameter"]);
  }
});

test.each<[string, number, string, Record<string, string>]>([
  ["{", 400, "invalid_json", {}],
  ["[]", 400, "validation_failed", {}],
  ["null", 400, "validation_failed", {}],
  ["", 400, "validation_failed", {}],
  ['{"metadata":{"__proto__":"x"}}', 400, "validation_failed", {}],
  ["{}", 415, "unsupported_media_type", { "content-type": "text/plain" }],
  [`"${"x".repeat(1024 * 1024)}"`, 413, "payload_too_large", {}],
])("a body that starts with %.20s is answered with %i", async (body, status, code, headers) => {
  const admin = await server.client();
  const answer = await server.send("POST", "/v1/agents", body, {
    authorization: `Bearer ${admin.key.secret}`,
    ...headers,
  });
  expectError(answer, status, code);
});

test("creations, reads and writes have budgets of their own, and what is over one is 429 with Retry-After", async () => {
  await using small = testApp();
  const admin = await small.client();
  await small.projects.changeSettings(admin.scope.project_id, { reads_per_minute: 2, run_creations_per_minute: 0 });
  expect((await admin.get("/v1/me")).headers.get("x-ratelimit-remaining")).toBe("1");
  expect((await admin.get("/v1/me")).status).toBe(200);
  const refused = await admin.get("/v1/me");
  expectError(refused, 429, "rate_limited");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const write = await admin.post("/v1/agents", {});
  expect([write.status, write.headers.get("x-ratelimit-limit")]).toEqual([400, "300"]);
  expect((await admin.post("/v1/runs", {})).headers.get("x-ratelimit-limit")).toBeNull();
});

test("whoever guesses keys is slowed down, and no project pays for it", async () => {
  await using guessed = testApp();
  const admin = await guessed.client();
  const guess = () => guessed.send("GET", "/v1/me", undefined, { authorization: "Bearer sk_test_guess" });
  for (let i = 0; i < 60; i++) expect((await guess()).status).toBe(401);
  expectError(await guess(), 429, "rate_limited");
  const { status, headers } = await admin.get("/v1/me");
  expect([status, headers.get("x-ratelimit-remaining")]).toEqual([200, "599"]);
});
