import { afterAll, expect, test } from "bun:test";
import { errorCodes } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { testApp } from "../testing/test-app.ts";

// Checks common to all responses, run on every route, so that new routes are covered automatically.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

interface Route {
  method: string;
  path: string;
}

const routes: Route[] = server.app.routes
  .filter(({ path }) => path.startsWith("/v1/"))
  .map(({ method, path }) => ({ method, path: path.replace(/\/$/, "") }));

/** The route's path with an unknown id for each parameter. */
const addressOf = (path: string) => path.replaceAll(/:\w+/g, "none");

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

test.each(routes)(
  "$method $path refuses an unauthenticated client in the common error format",
  async ({ method, path }) => {
    await using stranger = testApp(); // Guesses are limited by address, so each route gets its own server.
    const missing = await stranger.send(method, addressOf(path), bodyFor(method));
    expectError(missing, 401, "missing_api_key");
    expect(missing.headers.get("www-authenticate")).toBe("Bearer");
  },
);

test.each(routes)("$method $path refuses a query parameter that it does not know", async ({ method, path }) => {
  const admin = await server.client({ project: `query-${Bun.hash(method + path)}` });
  const answer = await server.send(method, `${addressOf(path)}?surprise=1`, bodyFor(method), {
    authorization: `Bearer ${admin.key.secret}`,
  });
  expectError(answer, 400, "unknown_parameter");
  expect(answer.body.error.param).toBe("surprise");
});

test("a repeated query parameter is refused, also by routes that are no lists", async () => {
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

test("an unknown path is 404, and a known one with another method is 405 and lists its methods", async () => {
  const { key } = await server.client({ project: "lost" });
  const ask = (method: string, path: string) =>
    server.send(method, path, undefined, { authorization: `Bearer ${key.secret}` });
  expectError(await ask("GET", "/v1/nothing"), 404, "resource_not_found");
  expectError(await ask("GET", "/v1"), 404, "resource_not_found");
  for (const [method, path, allow] of [
    ["PUT", "/v1/agents", "GET, POST"],
    ["OPTIONS", "/v1/tools/", "GET, POST"],
    ["POST", `/v1/agents/${newId("agent")}`, "DELETE, GET, PATCH"],
  ] as const) {
    const answer = await ask(method, path);
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
  for (const extra of [{ memories: {} }, { model_settings: { top_k: 1 } }]) {
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

test("creations, reads and writes have separate budgets, and exceeding one is 429 with Retry-After", async () => {
  await using small = testApp();
  const admin = await small.client();
  await small.projects.update(admin.scope.project_id, { limits: { reads_per_minute: 2, run_creations_per_minute: 0 } });
  expect((await admin.get("/v1/me")).headers.get("x-ratelimit-remaining")).toBe("1");
  expect((await admin.get("/v1/me")).status).toBe(200);
  const refused = await admin.get("/v1/me");
  expectError(refused, 429, "rate_limited");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  const write = await admin.post("/v1/agents", {});
  expect([write.status, write.headers.get("x-ratelimit-limit")]).toEqual([400, "300"]);
  const unlimited = await admin.post("/v1/runs", {});
  expectError(unlimited, 400, "validation_failed");
  expect(unlimited.headers.get("x-ratelimit-limit")).toBe("2147483647");
});

test("guessing keys is throttled, and no project is charged for it", async () => {
  await using guessed = testApp();
  const admin = await guessed.client();
  const guess = () => guessed.send("GET", "/v1/me", undefined, { authorization: "Bearer sk_test_guess" });
  for (let i = 0; i < 60; i++) expect((await guess()).status).toBe(401);
  expectError(await guess(), 429, "rate_limited");
  const { status, headers } = await admin.get("/v1/me");
  expect([status, headers.get("x-ratelimit-remaining")]).toEqual([200, "599"]);
});
