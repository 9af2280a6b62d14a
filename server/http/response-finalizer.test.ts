import { expect, test } from "bun:test";
import type { Answer } from "../testing/expect-declared.ts";
import { type Client, testApp } from "../testing/test-app.ts";

const limitOf = ({ headers }: Answer): number[] =>
  ["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN));
const agent = { name: "a", instructions: "b", model: "test/echo" };
const authorized = ({ key }: Client) => ({ authorization: `Bearer ${key.secret}` });

test("unauthenticated clients learn no paths or methods: 401 comes before 404 and 405", async () => {
  await using server = testApp();
  const asked = [
    ["GET", "/v1/nothing"],
    ["GET", "/v1"],
    ["GET", "/v1?x=1"],
    ["HEAD", "/v1/nothing"],
    ["POST", "/v1/nothing"],
    ["PUT", "/v1/agents"],
    ["OPTIONS", "/v1/agents"],
    ["DELETE", "/v1/me/"],
  ] as const;
  for (const [method, path] of asked) {
    const answer = await server.send(method, path);
    const code = method === "HEAD" ? undefined : answer.body.error.code;
    expect({ method, path, status: answer.status, code }).toEqual({
      method,
      path,
      status: 401,
      code: method === "HEAD" ? undefined : "missing_api_key",
    });
    expect([answer.headers.get("allow"), limitOf(answer)[0]]).toEqual([null, 60]);
  }
  const guess = await server.send("PUT", "/v1/agents", undefined, { authorization: "Bearer sk_test_guess" });
  expect([guess.status, guess.body.error.code, limitOf(guess)[1]]).toEqual([401, "invalid_api_key", 60 - 9]);
});

test("a request to an unknown route with a valid key counts in its method's bucket, until that is full", async () => {
  await using server = testApp();
  const client = await server.client();
  const ask = (method: string, path: string) => server.send(method, path, undefined, authorized(client));
  expect(limitOf(await ask("GET", "/v1/nothing")).slice(0, 2)).toEqual([600, 599]);
  expect(limitOf(await ask("PUT", "/v1/agents")).slice(0, 2)).toEqual([300, 299]);
  expect(limitOf(await ask("OPTIONS", "/v1/nothing")).slice(0, 2)).toEqual([300, 298]);
  expect(limitOf(await ask("GET", "/v1/me")).slice(0, 2)).toEqual([600, 598]);
  await server.projects.update(client.scope.project_id, { limits: { writes_per_minute: 2 } });
  const refused = await ask("PUT", "/v1/agents");
  expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limited"]);
});

test("every response has rate limit headers", async () => {
  await using server = testApp({ dashboard: true });
  const open = ["/healthz", "/readyz", "/docs", "/docs/errors", "/nothing", "/console/api/session", "/v1"];
  for (const path of open)
    for (const method of ["GET", "HEAD", "POST"]) {
      const answer = await server.send(method, path, method === "POST" ? {} : undefined);
      const [limit, remaining, reset] = limitOf(answer);
      expect({ method, path, limit, told: remaining! >= 0 && reset! > 0 }).toEqual({
        method,
        path,
        limit: 60,
        told: true,
      });
    }
  const callback = await server.send("POST", "/callbacks/none", { output: 1 });
  expect([callback.status, limitOf(callback)[0]]).toEqual([404, 60]);
});

test("every response of a project without limits has the three numbers too", async () => {
  await using server = testApp();
  const client = await server.client();
  await server.projects.update(client.scope.project_id, {
    limits: { reads_per_minute: 0, writes_per_minute: 0, run_creations_per_minute: 0 },
  });
  const doors = ["/openai/v1/models", "/openai/v1/files", "/streams/v1/runs/none"];
  const asked = [
    ...server.routes().filter(({ path, method }) => path.startsWith("/v1/") && /^[A-Z]+$/.test(method)),
    ...["/v1/nothing", "/v1/me?x=1", ...doors].map((path) => ({ method: "GET", path })),
    { method: "PUT", path: "/v1/agents" },
  ];
  for (const { method, path } of asked) {
    const body = method === "GET" || method === "DELETE" || method === "HEAD" ? undefined : {};
    const answer = await server.send(method, path.replaceAll(/:\w+/g, "none"), body, authorized(client));
    expect({ method, path, told: limitOf(answer) }).toEqual({ method, path, told: [2147483647, 2147483647, 0] });
  }
  expect(asked.length).toBeGreaterThan(100);
});

test("a preflight response tells the remaining budget of the address", async () => {
  await using server = testApp();
  const client = await server.client();
  await server.projects.update(client.scope.project_id, { origins: ["https://shop.example"] });
  const headers = { origin: "https://shop.example", "access-control-request-method": "POST" };
  for (const path of ["/v1/runs", "/openai/v1/models", "/docs"]) {
    const answer = await server.send("OPTIONS", path, undefined, headers);
    expect({ path, status: answer.status, limit: limitOf(answer)[0] }).toEqual({ path, status: 204, limit: 60 });
  }
});

test("a callback response tells the remaining writes of its project", async () => {
  await using server = testApp();
  const client = await server.client();
  let address = "";
  using hook = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      address = ((await request.json()) as { callback_url: string }).callback_url;
      return new Response(null, { status: 202 });
    },
  });
  const url = `http://127.0.0.1:${hook.port}/`;
  const tool = await client.post("/v1/tools", { name: "t", type: "webhook", url });
  expect(tool.status).toBe(201);
  const model_settings = { script: [{ tool_calls: [{ name: "t", arguments: {} }] }, { text: "Done." }] };
  const script = { ...agent, model: "test/script", model_settings, tools: [tool.body.id] };
  const made = await client.post("/v1/agents", script);
  await client.post("/v1/runs?wait=60", { agent_id: made.body.id, input: "Go." });
  expect(address).not.toBe("");
  const answer = await server.send("POST", new URL(address).pathname, { output: 1 });
  expect([answer.status, ...limitOf(answer).slice(0, 2)]).toEqual([200, 300, 297]);
});

test("the bucket of a request depends on method and route, not on its query", async () => {
  await using server = testApp();
  const client = await server.client();
  const counted = async (method: string, path: string) =>
    limitOf(await server.send(method, path, method === "GET" ? undefined : {}, authorized(client)))[0];
  expect(await counted("POST", "/v1/runs")).toBe(120);
  for (const query of ["x=/memory/a/search", "/memory/a/search", "wait=/memory/a/search"])
    expect([query, await counted("POST", `/v1/runs?${query}`)]).toEqual([query, 120]);
  expect(await counted("POST", "/v1/agents?x=/runs")).toBe(300);
  expect(await counted("POST", "/v1/agents?x=/memory/a/search")).toBe(300);
  expect(await counted("GET", "/v1/agents?x=/runs")).toBe(600);
  const creations = ["/runs/x/fork", "/runs/x/replay", "/suites/x/runs", "/schedules/x/trigger", "/runs/"];
  for (const path of creations) expect([path, await counted("POST", `/v1${path}`)]).toEqual([path, 120]);
  expect(await counted("POST", "/v1/memory/x/search")).toBe(600);
  expect(await counted("POST", "/v1/memory/x/entries")).toBe(300);
});

test("HEAD of an event stream returns at once and counts as no reader", async () => {
  await using server = testApp();
  const client = await server.client();
  const tool = await client.post("/v1/tools", { name: "t" });
  const model_settings = { script: [{ tool_calls: [{ name: "t", arguments: {} }] }] };
  const waiting = { ...agent, model: "test/script", model_settings, tools: [tool.body.id] };
  const { body } = await client.post("/v1/agents", waiting);
  const run = (await client.post("/v1/runs?wait=60", { agent_id: body.id, input: "Go." })).body;
  expect(run.status).toBe("requires_action");
  const head = await server.send("HEAD", `/v1/runs/${run.id}/events`, undefined, {
    ...authorized(client),
    accept: "text/event-stream",
  });
  expect([head.status, head.body, head.headers.get("content-type")]).toEqual([
    200,
    "",
    "text/event-stream; charset=utf-8",
  ]);
  expect(server.watches.readers(run.id)).toBe(0);
});

test("a key with anything but blanks beside it is invalid", async () => {
  await using server = testApp();
  const { key } = await server.client();
  const status = async (authorization: string) =>
    (await server.send("GET", "/v1/me", undefined, { authorization })).status;
  for (const text of [`Bearer ${key.secret}`, `bearer  ${key.secret}\t `])
    expect([text, await status(text)]).toEqual([text, 200]);
  for (const sign of ["\u00a0", "\u0085", "\u00ad", ".", "\u00ff"])
    for (const text of [`Bearer ${key.secret}${sign}`, `Bearer ${sign}${key.secret}`])
      expect([text, await status(text)]).toEqual([text, 401]);
});

test("every error links to the documentation of its own server", async () => {
  await using server = testApp({ publicUrl: "https://agents.example.com" });
  const client = await server.client();
  const linked = async (answer: Promise<Answer>) => (await answer).body.error.doc_url;
  const at = "https://agents.example.com/docs/reference/errors";
  expect(await linked(server.send("GET", "/v1/agents"))).toBe(`${at}/authentication_error#missing_api_key`);
  expect(await linked(client.get("/v1/agents/agt_none"))).toBe(`${at}/not_found_error#resource_not_found`);
  expect(await linked(client.post("/v1/agents", {}))).toBe(`${at}/invalid_request_error#validation_failed`);
});
