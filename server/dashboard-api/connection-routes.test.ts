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
