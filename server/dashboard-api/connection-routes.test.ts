import { afterEach, beforeEach, expect, test } from "bun:test";
import { type ConsoleVisitor, visitorOf } from "../testing/console-visitor.ts";
import { startChatServer } from "../testing/model-server.ts";
import { startProviders } from "../testing/provider-server.ts";
import { wires } from "../testing/provider-wire.ts";
import { testServiceAccount } from "../testing/service-account.ts";
import { type TestApp, testApp } from "../testing/test-app.ts";

let server: TestApp;
let owner: ConsoleVisitor;
beforeEach(async () => {
  server = testApp({ dashboard: true, environment: { OPENAI_API_KEY: "sk-of-the-environment" } });
  owner = await visitorOf(server, "owner");
});
afterEach(() => server[Symbol.asyncDispose]());

const list = async () => (await owner.send("GET", "/connections")).body.data;

test("connections are added, replaced and removed, and no answer and no log has a key", async () => {
  const made = await owner.send("POST", "/connections", { name: "openai", api_key: " sk-canary " });
  expect([made.status, made.body]).toMatchObject([201, { name: "openai", source: "stored", used: true }]);
  const gpu = {
    name: "gpu",
    base_url: "http://127.0.0.1:9/v1",
    api_key: null,
    max_concurrent: 4,
    idle_timeout_ms: 2000,
  };
  expect((await owner.send("POST", "/connections", gpu)).body).toMatchObject({
    prefix: "openai_compatible/gpu",
    max_concurrent: 4,
    idle_timeout_ms: 2000,
  });
  expect([made.body.max_concurrent, made.body.idle_timeout_ms]).toEqual([null, null]);
  expect((await list()).map(({ name, source, used }: Record<string, unknown>) => [name, source, used])).toEqual([
    ["gpu", "stored", true],
    ["openai", "stored", true],
    ["openai", "environment", false],
    ["ollama", "environment", true],
  ]);
  expect(server.connections.resolve("openai/gpt-5", "live").connection.api_key).toBe("sk-canary");
  expect((await owner.send("DELETE", "/connections/openai")).status).toBe(200);
  expect((await owner.send("DELETE", "/connections/openai")).status).toBe(404);
  const log = server.db.sqlite.query("SELECT * FROM audit_log").all();
  expect(JSON.stringify([await list(), log])).not.toMatch(/canary|of-the-environment/);
});

test("connections to clouds are added with their credentials, and no answer and no log has one", async () => {
  const service_account = JSON.stringify(testServiceAccount().account);
  const aws = { access_key_id: "AKIDCANARY", secret_access_key: "canary-secret", session_token: "canary-session" };
  const made = [
    await owner.send("POST", "/connections", { name: "bedrock", region: "eu-west-1", ...aws }),
    await owner.send("POST", "/connections", { name: "vertex", location: "europe-west1", service_account }),
    await owner.send("POST", "/connections", { name: "vertex", service_account: "canary" }),
  ];
  expect(made.map(({ status, body }) => [status, body.prefix, body.region, body.location])).toEqual([
    [201, "bedrock", "eu-west-1", null],
    [201, "vertex", null, "europe-west1"],
    [400, undefined, undefined, undefined],
  ]);
  expect(server.connections.resolve("bedrock/m", "live").connection).toMatchObject(aws);
  expect(server.connections.resolve("vertex/m", "live").connection).toMatchObject({ service_account });
  const log = server.db.sqlite.query("SELECT * FROM audit_log").all();
  const shown = JSON.stringify([made.map(({ body }) => body), await list(), log]);
  expect(shown).not.toMatch(/canary|PRIVATE KEY|sealed/i);
});

test("a connection to a cloud is tested with a small model that it has", async () => {
  await using providers = startProviders(({ provider }) => {
    const wire = wires[provider];
    return [wire.begin(), wire.text("ready"), wire.end()];
  });
  const asked = [];
  for (const [provider, region] of [
    ["bedrock", "eu-west-1"],
    ["bedrock", "ap-south-1"],
    ["bedrock", "ca-central-1"],
    ["vertex"],
  ] as const) {
    const { name, base_url, api_key } = providers.connectionOf(provider);
    await owner.send("POST", "/connections", { name, base_url, api_key, ...(region && { region }) });
    const { ok, model, output } = (await owner.send("POST", `/connections/${name}/test`, {})).body;
    asked.push([ok, model, output]);
  }
  expect(asked).toEqual([
    [true, "eu.amazon.nova-micro-v1:0", "ready"],
    [true, "apac.amazon.nova-micro-v1:0", "ready"],
    [true, "amazon.nova-micro-v1:0", "ready"],
    [true, "gemini-2.5-flash-lite", "ready"],
  ]);
});

test("a service account's key that cannot be used is refused at its field", async () => {
  const { private_key, ...keyless } = testServiceAccount().account;
  const account = { ...keyless, private_key };
  const params = [];
  for (const given of [
    keyless,
    { ...account, token_uri: "https://evil.example/token" },
    { ...account, project_id: "" },
  ]) {
    const service_account = JSON.stringify(given);
    params.push((await owner.send("POST", "/connections", { name: "vertex", service_account })).body.error.param);
  }
  expect(params).toEqual(["service_account", "service_account", "project"]);
});

const key = { access_key_id: "AKID", secret_access_key: "secret" };
test.each([
  [{ name: "bedrock", api_key: "k" }, "region"],
  [{ name: "bedrock", api_key: "k", region: "us-east-1.evil.example/" }, "region"],
  [{ name: "bedrock", region: "us-east-1" }, "api_key"],
  [{ name: "bedrock", region: "us-east-1", api_key: "k", ...key }, "api_key"],
  [{ name: "bedrock", region: "us-east-1", access_key_id: "AKID" }, "secret_access_key"],
  [{ name: "bedrock", region: "us-east-1", secret_access_key: "secret" }, "access_key_id"],
  [{ name: "bedrock", region: "us-east-1", ...key, session_token: "two words" }, "session_token"],
  [{ name: "bedrock", region: "us-east-1", ...key, location: "global" }, "location"],
  [{ name: "openai", api_key: "k", region: "us-east-1" }, "region"],
  [{ name: "vertex" }, "api_key"],
  [{ name: "vertex", api_key: "k", project: "shop-123" }, "project"],
  [{ name: "vertex", api_key: "k", location: "evil.example/" }, "location"],
  [{ name: "openai" }, "api_key"],
  [{ name: "gpu" }, "base_url"],
  [{ name: "gpu", base_url: "ftp://x" }, "base_url"],
  [{ name: "gpu", base_url: "http://me:pw@x/v1" }, "base_url"],
  [{ name: "GPU", base_url: "http://x/v1" }, "name"],
  [{ name: "mine", provider: "anthropic", api_key: "k" }, "name"],
  [{ name: "test", provider: "test" }, "provider"],
  [{ name: "openai", api_key: "two words" }, "api_key"],
  [{ name: "gpu", base_url: "http://x/v1", max_concurrent: 0 }, "max_concurrent"],
  [{ name: "gpu", base_url: "http://x/v1", max_concurrent: 1.5 }, "max_concurrent"],
  [{ name: "gpu", base_url: "http://x/v1", idle_timeout_ms: 999 }, "idle_timeout_ms"],
  [{ name: "gpu", base_url: "http://x/v1", idle_timeout_ms: 3_600_001 }, "idle_timeout_ms"],
])("%p is refused at its field", async (given, param) => {
  const { status, body } = await owner.send("POST", "/connections", given);
  expect([status, body.error.param]).toEqual([400, param]);
});

test("a connection test requests one word from the provider and returns the outcome, and never the key", async () => {
  await using model = startChatServer(({ model }) => {
    if (model === "broken") throw new Error("It broke.");
    return { text: "ready", prompt_tokens: 9, completion_tokens: 1 };
  });
  const base_url = model.environment.RUNNEL_MODEL_STUB_BASE_URL;
  await owner.send("POST", "/connections", { name: "gpu", base_url, api_key: "sk-canary" });
  const ask = async (body: object) => (await owner.send("POST", "/connections/gpu/test", body)).body;
  expect(await ask({ model: "small" })).toMatchObject({
    ok: true,
    model: "small",
    output: "ready",
    error: null,
    latency_ms: expect.any(Number),
    usage: { input_tokens: 9, output_tokens: 1 },
  });
  expect(model.requests).toMatchObject([{ model: "small", max_tokens: 64 }]);
  await owner.send("POST", "/connections", { name: "gpu", base_url: "http://127.0.0.1:9/v1", api_key: "sk-canary" });
  const failed = await ask({ model: "small" });
  expect(failed).toMatchObject({ ok: false, output: null, error: { code: "model_error" } });
  expect(await ask({})).toMatchObject({ ok: false, model: null, error: { code: "model_not_available" } });
  const log = server.db.sqlite.query("SELECT details FROM audit_log WHERE action = 'model_connection.tested'").all();
  expect(log).toHaveLength(3);
  expect(JSON.stringify([failed, log])).not.toContain("canary");
  expect((await owner.send("POST", "/connections/none/test", {})).status).toBe(404);
});

test("prices are listed, set and taken back", async () => {
  const of = async (id: string) =>
    (await owner.send("GET", "/prices")).body.data.find((price: { id: string }) => price.id === id);
  expect(await of("openai/gpt-5")).toMatchObject({ input: 1.25, source: "built_in", context_window: 400_000 });
  const own = { input: 3, cached_input: 1, output: 9 };
  expect((await owner.send("PUT", "/prices", { model: "openai/gpt-5", ...own })).status).toBe(200);
  expect((await owner.send("PUT", "/prices", { model: "ollama/*", ...own, context_window: 8192 })).status).toBe(200);
  expect(await of("openai/gpt-5")).toMatchObject({ ...own, source: "operator" });
  expect(await of("ollama/*")).toMatchObject({ ...own, source: "operator", context_window: 8192 });
  expect((await owner.send("POST", "/prices/reset", { model: "openai/gpt-5" })).status).toBe(200);
  expect(await of("openai/gpt-5")).toMatchObject({ source: "built_in" });
  expect((await owner.send("POST", "/prices/reset", { model: "openai/gpt-5" })).status).toBe(404);
  expect((await owner.send("PUT", "/prices", { model: "openai", ...own })).body.error.param).toBe("model");
});

const lines = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

test("a test can be read line by line, and its outcome stays until the connection is changed", async () => {
  await using model = startChatServer(() => ({ text: "ready", prompt_tokens: 9, completion_tokens: 1 }));
  const base_url = model.environment.RUNNEL_MODEL_STUB_BASE_URL;
  await owner.send("POST", "/connections", { name: "gpu", base_url, api_key: "sk-canary" });
  const body = { model: "small", checks: ["tools"] };
  const { body: text } = await owner.send("POST", "/connections/gpu/test", body, { accept: "application/x-ndjson" });
  const told = lines(text);
  expect(told.slice(0, -1)).toMatchObject(
    ["reachable", "key", "answer", "stream", "tools"].map((check) => ({ check: { check } })),
  );
  expect(told.at(-1)).toMatchObject({ result: { ok: true, model: "small", adjustments: [] } });
  const [gpu] = await list();
  expect(gpu.last_test).toMatchObject({ ok: true, model: "small", error: null, tested_at: expect.any(String) });
  await owner.send("PATCH", "/connections/gpu", { max_concurrent: 3 });
  expect((await list())[0].last_test).toBeNull();
  expect((await owner.send("POST", "/connections/gpu/test", { checks: ["magic"] })).status).toBe(400);
});

test("a connection is changed in part: an empty key stays, null removes it, and the version is counted", async () => {
  const gpu = { name: "gpu", base_url: "http://127.0.0.1:9/v1", api_key: "sk-canary-1", max_concurrent: 4 };
  const made = (await owner.send("POST", "/connections", gpu)).body;
  expect(made).toMatchObject({ version: 1, has_key: true, updated_at: null });
  const patch = (body: object) => owner.send("PATCH", "/connections/gpu", body);
  const used = () => server.connections.resolve("openai_compatible/gpu/m", "live").connection;
  const { body: moved } = await patch({ base_url: "http://127.0.0.1:8/v1", api_key: "", expected_version: 1 });
  expect(moved).toMatchObject({ version: 2, base_url: "http://127.0.0.1:8/v1", max_concurrent: 4, has_key: true });
  expect(moved.updated_at).not.toBeNull();
  expect(used()).toMatchObject({ base_url: "http://127.0.0.1:8/v1", api_key: "sk-canary-1" });
  // A key that was pasted with a line break.
  expect((await patch({ api_key: " sk-canary-2\r\n", max_concurrent: null })).body).toMatchObject({
    version: 3,
    max_concurrent: null,
  });
  expect(used()).toEqual({
    name: "gpu",
    provider: "openai_compatible",
    base_url: moved.base_url,
    api_key: "sk-canary-2",
  });
  expect((await patch({ api_key: null })).body).toMatchObject({ version: 4, has_key: false });
  expect((await patch({})).body.version).toBe(4);
  const log = server.db.sqlite.query("SELECT details FROM audit_log WHERE action = 'model_connection.updated'").all();
  expect(log).toEqual(
    [
      { provider: "openai_compatible", changed: ["base_url"], version: 2 },
      { provider: "openai_compatible", changed: ["max_concurrent", "api_key"], version: 3 },
      { provider: "openai_compatible", changed: ["api_key"], version: 4 },
    ].map((details) => ({ details: JSON.stringify(details) })),
  );
  expect(JSON.stringify([made, moved, await list(), log])).not.toContain("canary");
});

test("a change that is about an older version is refused, and so are invalid ones", async () => {
  await owner.send("POST", "/connections", { name: "gpu", base_url: "http://127.0.0.1:9/v1" });
  await owner.send("POST", "/connections", { name: "openai", api_key: "sk-canary" });
  await owner.send("PATCH", "/connections/gpu", { max_concurrent: 2, expected_version: 1 });
  const stale = await owner.send("PATCH", "/connections/gpu", { max_concurrent: 3, expected_version: 1 });
  expect([stale.status, stale.body.error]).toMatchObject([
    409,
    { code: "version_conflict", param: "expected_version", details: { version: 2 } },
  ]);
  const refused = async (name: string, body: object) => {
    const { status, body: answer } = await owner.send("PATCH", `/connections/${name}`, body);
    return [status, answer.error.param];
  };
  expect(await refused("gpu", { base_url: null })).toEqual([400, "base_url"]);
  expect(await refused("gpu", { base_url: "ftp://x" })).toEqual([400, "base_url"]);
  expect(await refused("openai", { api_key: null })).toEqual([400, "api_key"]);
  expect(await refused("openai", { api_key: "two words" })).toEqual([400, "api_key"]);
  expect(await refused("gpu", { name: "other" })).toEqual([400, "name"]);
  expect(await refused("ollama", { max_concurrent: 1 })).toEqual([404, "name"]);
  const member = await visitorOf(server, "member");
  expect((await member.send("PATCH", "/connections/gpu", { max_concurrent: 3 })).status).toBe(403);
});

test("a running call ends with the old key, and the next one has the new key", async () => {
  const keys: (string | null)[] = [];
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  using model = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET") return new Response(null, { status: 404 });
      const isFirst = keys.push(request.headers.get("authorization")) === 1;
      asked.resolve();
      if (isFirst) await released.promise;
      const text = `${chunk({ content: "Done." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`;
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const base_url = `http://127.0.0.1:${model.port}/v1`;
  await owner.send("POST", "/connections", { name: "gpu", base_url, api_key: "sk-old" });
  const client = await server.client();
  const agent = { name: "Clerk", instructions: "", model: "openai_compatible/gpu/m" };
  const { body: made } = await client.post("/v1/agents", agent);
  const running = client.post("/v1/runs?wait=60", { agent_id: made.id, input: "Hi" });
  await asked.promise;
  await owner.send("PATCH", "/connections/gpu", { api_key: "sk-new" });
  released.resolve();
  expect((await running).body).toMatchObject({ status: "completed", output: "Done." });
  const next = await client.post("/v1/runs?wait=60", { agent_id: made.id, input: "Hi" });
  expect(next.body.status).toBe("completed");
  expect(keys).toEqual(["Bearer sk-old", "Bearer sk-new"]);
});

test("a connection's list is read again on demand, with the server's words for people who may see them", async () => {
  let failure: Response | null = null;
  using model = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => failure ?? Response.json({ data: [{ id: "a" }, { id: "b" }] }),
  });
  const base_url = `http://127.0.0.1:${model.port}/v1`;
  await owner.send("POST", "/connections", { name: "gpu", base_url, api_key: "sk-canary-4711" });
  const refresh = async (who = owner) => await who.send("POST", "/connections/gpu/models");
  expect((await refresh()).body).toMatchObject({ count: 2, reading: false, error: null });
  expect((await list())[0].models).toMatchObject({ count: 2, error: null });
  failure = Response.json({ error: { message: "Out of credit: sk-canary-4711" } }, { status: 402 });
  await owner.send("PATCH", "/connections/gpu", { max_concurrent: 1 });
  const { body } = await refresh();
  expect(body).toMatchObject({
    count: null,
    error: { code: "refused", detail: expect.stringContaining("Out of credit") },
  });
  expect(JSON.stringify(body)).not.toContain("canary");
  expect((await refresh(await visitorOf(server, "viewer"))).status).toBe(403);
  expect((await owner.send("POST", "/connections/none/models")).status).toBe(404);
});

const prices = { as_of: "2026-11-20", models: [{ id: "openai/gpt-9", input: 7, output: 70 }] };
const priced = async (id: string) =>
  (await owner.send("GET", "/prices")).body.data.find((model: { id: string }) => model.id === id);

test("an owner replaces the price table by a file, and goes back", async () => {
  expect((await owner.send("GET", "/price_table")).body).toMatchObject({ source: "built_in", loaded_at: null });
  const put = await owner.send("PUT", "/price_table", { name: "prices.json", table: prices });
  expect([put.status, put.body]).toMatchObject([
    200,
    { object: "price_table", source: "table", as_of: "2026-11-20", origin: "prices.json", models: 1 },
  ]);
  expect(await priced("openai/gpt-9")).toMatchObject({
    as_of: "2026-11-20",
    source: "table",
    reference: "prices.json",
  });
  const back = await owner.send("POST", "/price_table/reset");
  expect([back.status, back.body.source]).toEqual([200, "built_in"]);
  expect((await owner.send("POST", "/price_table/reset")).status).toBe(404);
  expect(await priced("openai/gpt-9")).toBeUndefined();
  expect(await priced("openai/gpt-5.4")).toMatchObject({ reference: expect.stringContaining("https://") });
});

test("a wrong price table changes nothing, and each wrong line is named", async () => {
  const table = { ...prices, models: [...prices.models, { id: "openai/a", input: "1", output: 2 }] };
  const { status, body } = await owner.send("PUT", "/price_table", { name: "prices.json", table });
  expect([status, body.error.errors]).toMatchObject([
    400,
    [{ param: "models[1].input", message: expect.stringContaining("models[1].input must be a number") }],
  ]);
  for (const wrong of [{}, { table: prices, url: "https://example.com" }])
    expect((await owner.send("PUT", "/price_table", wrong)).status).toBe(400);
  expect((await owner.send("GET", "/price_table")).body.source).toBe("built_in");
});

test("only owners replace the price table, and no address of this machine is fetched", async () => {
  const viewer = await visitorOf(server, "viewer");
  expect((await viewer.send("GET", "/price_table")).status).toBe(200);
  expect((await viewer.send("PUT", "/price_table", { table: prices })).status).toBe(403);
  expect((await viewer.send("POST", "/price_table/reset")).status).toBe(403);
  for (const url of ["http://127.0.0.1:9/p.json", "http://169.254.169.254/p.json"]) {
    const { status, body } = await owner.send("PUT", "/price_table", { url });
    expect([status, body.error.code]).toEqual([403, "url_not_allowed"]);
  }
});

test("a change of a cloud's connection keeps its secrets, and another kind of credentials replaces them", async () => {
  const aws = { access_key_id: "AKIDCANARY", secret_access_key: "canary-secret", session_token: "canary-session" };
  await owner.send("POST", "/connections", { name: "bedrock", region: "eu-west-1", ...aws });
  const patch = (body: object) => owner.send("PATCH", "/connections/bedrock", body);
  const { name: _, provider: __, base_url, ...rest } = server.connections.resolve("bedrock/m", "live").connection;
  const stored = () => {
    const { connection } = server.connections.resolve("bedrock/m", "live");
    const { name, provider, base_url: address, ...fields } = connection;
    expect([name, provider, address]).toEqual(["bedrock", "bedrock", base_url]);
    return fields;
  };
  expect(rest).toEqual({ api_key: null, region: "eu-west-1", ...aws });
  const moved = await patch({ region: "us-east-1", secret_access_key: "", session_token: " " });
  expect(moved.body).toMatchObject({ version: 2, region: "us-east-1", has_key: true });
  expect(stored()).toEqual({ api_key: null, region: "us-east-1", ...aws });
  expect((await patch({ access_key_id: "AKIDNEW" })).body.error.param).toBe("secret_access_key");
  await patch({ access_key_id: "AKIDNEW", secret_access_key: "canary-new" });
  expect(stored()).toEqual({
    api_key: null,
    region: "us-east-1",
    access_key_id: "AKIDNEW",
    secret_access_key: "canary-new",
  });
  await patch({ api_key: "canary-key" });
  expect(stored()).toEqual({ api_key: "canary-key", region: "us-east-1" });
  await patch(aws);
  expect(stored()).toEqual({ api_key: null, region: "us-east-1", ...aws });
  await patch({ session_token: null });
  expect(stored()).not.toHaveProperty("session_token");
  const refused = [{ region: null }, { location: "eu" }, { secret_access_key: null, access_key_id: null }];
  const params = [];
  for (const body of refused) params.push((await patch(body)).body.error.param);
  expect(params).toEqual(["region", "location", "api_key"]);
  const { body } = await patch({ region: "us-east-1" });
  expect(body.version).toBe(6);
  const log = server.db.sqlite.query("SELECT * FROM audit_log").all();
  expect(JSON.stringify([body, await list(), log])).not.toMatch(/canary/i);
});

test("a service account stays while its connection moves to another location", async () => {
  const service_account = JSON.stringify(testServiceAccount().account);
  await owner.send("POST", "/connections", { name: "vertex", service_account });
  const { body } = await owner.send("PATCH", "/connections/vertex", { location: "europe-west1", project: "shop-9" });
  expect(body).toMatchObject({ location: "europe-west1", project: "shop-9", has_key: true, version: 2 });
  expect(server.connections.resolve("vertex/m", "live").connection).toMatchObject({
    service_account,
    project: "shop-9",
  });
});
