import { expect, test } from "bun:test";
import { createSeal } from "../../lib/seal.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { testActor } from "../../testing/test-actor.ts";
import { testApp } from "../../testing/test-app.ts";
import { createConnectionStore } from "./store.ts";

const masterKey = crypto.getRandomValues(new Uint8Array(32));

function connections(environment: Record<string, string> = {}) {
  const db = openDatabase(":memory:");
  const store = createConnectionStore({
    db,
    audit: createAudit({ db }),
    seal: createSeal(masterKey),
    environment,
    now: () => 1,
  });
  return { ...store, db, [Symbol.dispose]: () => db.close() };
}

const openai = (api_key: string): Connection => ({ name: "openai", provider: "openai", base_url: null, api_key });
const gpu: Connection = {
  name: "gpu",
  provider: "openai_compatible",
  base_url: "http://127.0.0.1:8000/v1",
  api_key: null,
};

test("a stored key is nowhere in the database's bytes, and is decrypted for a model call", async () => {
  using store = connections();
  await store.put(openai("sk-canary-4711"), testActor);
  expect(store.resolve("openai/gpt-5", "live")).toEqual({ connection: openai("sk-canary-4711"), model: "gpt-5" });
  const bytes = store.db.sqlite.serialize();
  expect([bytes.includes("openai"), bytes.includes("canary")]).toEqual([true, false]);
  expect(JSON.stringify(store.list())).not.toContain("canary");
});

const aws: Connection = {
  name: "bedrock",
  provider: "bedrock",
  base_url: null,
  api_key: null,
  region: "eu-west-1",
  access_key_id: "AKIDCANARY0123456789",
  secret_access_key: "canary/secret+0123456789",
  session_token: "canary-session-0123456789",
};
const google: Connection = {
  name: "vertex",
  provider: "vertex",
  base_url: null,
  api_key: null,
  project: "shop-123",
  location: "global",
  service_account: '{"private_key": "canary of Google"}',
};

test("the credentials of clouds are nowhere in the database's bytes, and their places are shown", async () => {
  using store = connections();
  for (const connection of [aws, google]) await store.put(connection, testActor);
  expect(store.resolve("bedrock/eu.amazon.nova-lite-v1:0", "live")).toEqual({
    connection: aws,
    model: "eu.amazon.nova-lite-v1:0",
  });
  expect(store.resolve("vertex/gemini-2.5-flash", "live").connection).toEqual(google);
  const bytes = store.db.sqlite.serialize();
  expect([bytes.includes("eu-west-1"), bytes.includes("canary"), bytes.includes("CANARY")]).toEqual([
    true,
    false,
    false,
  ]);
  expect(JSON.stringify(store.list())).not.toMatch(/canary|sealed/i);
  expect(store.list()).toMatchObject([
    { name: "bedrock", region: "eu-west-1", project: null, location: null },
    { name: "vertex", region: null, project: "shop-123", location: "global" },
    { name: "ollama" },
  ]);
  // The replacement has an API key, and nothing of the credentials before it.
  const { access_key_id: _, secret_access_key: __, session_token: ___, ...rest } = aws;
  await store.put({ ...rest, api_key: "new-key" }, testActor);
  expect(store.resolve("bedrock/m", "live").connection).toEqual({ ...rest, api_key: "new-key" });
});

test("credentials that were moved to another connection cannot be decrypted", async () => {
  using store = connections();
  await store.put(aws, testActor);
  await store.put(google, testActor);
  store.db.sqlite.run(
    "UPDATE model_connections SET sealed_secrets = (SELECT sealed_secrets FROM model_connections WHERE name = 'bedrock')",
  );
  expect(store.resolve("bedrock/m", "live").connection).toEqual(aws);
  expect(() => store.resolve("vertex/m", "live")).toThrow();
});

test("a cloud of the environment shows its place and no credential, and a stored one overrides it", async () => {
  const AWS_REGION = "us-west-2";
  using store = connections({ AWS_REGION, AWS_ACCESS_KEY_ID: "AKIDCANARY", AWS_SECRET_ACCESS_KEY: "canary-secret" });
  expect(store.resolve("bedrock/m", "live").connection).toMatchObject({
    region: AWS_REGION,
    secret_access_key: "canary-secret",
  });
  expect(store.list()[0]).toMatchObject({ name: "bedrock", region: AWS_REGION, source: "environment" });
  expect(JSON.stringify(store.list())).not.toMatch(/canary/i);
  await store.put(aws, testActor);
  expect(store.resolve("bedrock/m", "live").connection).toEqual(aws);
  using none = connections({ AWS_BEARER_TOKEN_BEDROCK: "key-without-a-region" });
  expect(() => none.resolve("bedrock/m", "live")).toThrow("needs a region and a key");
});

test("a key that was moved to another connection cannot be decrypted", async () => {
  using store = connections();
  await store.put({ ...gpu, api_key: "sk-canary" }, testActor);
  store.db.sqlite.run("UPDATE model_connections SET name = 'evil', base_url = 'http://127.0.0.1:9/v1'");
  expect(() => store.resolve("openai_compatible/evil/m", "live")).toThrow();
});

const noLimits = {
  max_concurrent: null,
  idle_timeout_ms: null,
  fallbacks: [],
  region: null,
  project: null,
  location: null,
  auth: null,
  consent: null,
};

test("a stored connection overrides the environment's, which is back once it is removed", async () => {
  using store = connections({ OPENAI_API_KEY: "sk-env" });
  const key = () => store.resolve("openai/gpt-5", "test").connection.api_key;
  expect(key()).toBe("sk-env");
  await store.put(openai("sk-stored"), testActor);
  expect(key()).toBe("sk-stored");
  await store.put(openai("sk-newer"), testActor);
  expect(key()).toBe("sk-newer");
  expect(store.list().filter(({ name }) => name === "openai")).toEqual([
    {
      name: "openai",
      provider: "openai",
      base_url: null,
      has_key: true,
      ...noLimits,
      source: "stored",
      created_at_ms: 1,
      version: 2,
      updated_at_ms: 1,
    },
    {
      name: "openai",
      provider: "openai",
      base_url: null,
      has_key: true,
      ...noLimits,
      source: "environment",
      created_at_ms: null,
      version: null,
      updated_at_ms: null,
    },
  ]);
  expect([await store.remove("openai", testActor), await store.remove("openai", testActor)]).toEqual([true, false]);
  expect(key()).toBe("sk-env");
});

test("a connection has the number of concurrent calls of its server, stored or in the environment", async () => {
  const url = "http://127.0.0.1:8000/v1";
  const RUNNEL_MODEL_GPU = { RUNNEL_MODEL_GPU_BASE_URL: url, RUNNEL_MODEL_GPU_MAX_CONCURRENT: "2" };
  using store = connections({ ...RUNNEL_MODEL_GPU, RUNNEL_MODEL_OLLAMA_MAX_CONCURRENT: " 1 " });
  const limits = () => ["openai_compatible/gpu", "ollama", "openai"].map(store.maxConcurrent);
  expect(limits()).toEqual([2, 1, null]);
  expect(store.resolve("openai_compatible/gpu/m", "live").connection.max_concurrent).toBe(2);
  await store.put({ ...gpu, max_concurrent: 5 }, testActor);
  await store.put(openai("sk"), testActor);
  expect(limits()).toEqual([5, 1, null]);
  expect(store.resolve("openai_compatible/gpu/m", "live").connection).toEqual({ ...gpu, max_concurrent: 5 });
  expect(store.list().map(({ max_concurrent }) => max_concurrent)).toEqual([5, null, 1, 2]);
  await store.put(gpu, testActor); // The replacement has none.
  expect(limits()).toEqual([null, 1, null]);
  for (const wrong of ["0", "-1", "1.5", "many", "10001"])
    expect(() => connections({ RUNNEL_MODEL_OPENAI_MAX_CONCURRENT: wrong, OPENAI_API_KEY: "sk" })).toThrow(
      "RUNNEL_MODEL_OPENAI_MAX_CONCURRENT takes a whole number",
    );
});

test("the idle timeout of a server comes from the environment or from the stored connection", async () => {
  const url = "http://127.0.0.1:9/v1";
  const gpu = { name: "gpu", provider: "openai_compatible", base_url: url, api_key: null } as const;
  const variables = { RUNNEL_MODEL_GPU_BASE_URL: url, RUNNEL_MODEL_GPU_IDLE_TIMEOUT_MS: "2000" };
  using store = connections(variables);
  const connection = () => store.resolve("openai_compatible/gpu/m", "live").connection;
  expect(connection().idle_timeout_ms).toBe(2000);
  await store.put({ ...gpu, idle_timeout_ms: 600_000 }, testActor);
  expect(connection()).toEqual({ ...gpu, idle_timeout_ms: 600_000 });
  expect(store.list().map(({ idle_timeout_ms }) => idle_timeout_ms)).toEqual([600_000, null, 2000]);
  await store.put(gpu, testActor); // The replacement has none.
  expect(connection().idle_timeout_ms).toBeUndefined();
  for (const wrong of ["0", "999", "1.5", "soon", "3600001"])
    expect(() => connections({ ...variables, RUNNEL_MODEL_GPU_IDLE_TIMEOUT_MS: wrong })).toThrow(
      "RUNNEL_MODEL_GPU_IDLE_TIMEOUT_MS takes a whole number",
    );
});

test("a stored connection that has a new provider's name goes on, and is not replaced by that provider's", async () => {
  using store = connections({ MISTRAL_API_KEY: "sk-env" });
  const own: Connection = { ...gpu, name: "mistral", api_key: "sk-own" };
  const theirs: Connection = { name: "mistral", provider: "mistral", base_url: null, api_key: "sk-theirs" };
  await store.put(own, testActor);
  await expect(store.put(theirs, testActor)).rejects.toThrow("openai_compatible/mistral/…: remove it first");
  expect(store.resolve("openai_compatible/mistral/m", "live").connection).toEqual(own);
  expect(store.resolve("mistral/m", "live").connection).toEqual({ ...theirs, api_key: "sk-env" });
  await store.put({ ...own, api_key: "sk-newer" }, testActor);
  await store.remove("mistral", testActor);
  await store.put(theirs, testActor);
  expect(store.resolve("mistral/m", "live").connection).toEqual(theirs);
});

test("a model without a connection is not available, with a reason", async () => {
  using store = connections();
  for (const [model, why] of [
    ["gpt-5", "names no provider"],
    ["openai/gpt-5", "no connection"],
    ["openai_compatible/gpu/m", "no connection"],
    ["test/none", "no such model"],
  ] as const) {
    expect(store.isAvailable(model, "test")).toBe(false);
    expect(() => store.resolve(model, "test")).toThrow(
      expect.objectContaining({ code: "model_not_available", message: expect.stringContaining(why) }),
    );
  }
  await store.put(gpu, testActor);
  expect(store.resolve("openai_compatible/gpu/org/m", "live")).toEqual({ connection: gpu, model: "org/m" });
});

test("a model of Ollama is unavailable to agents, runs and forks without a server, unless its address is configured", async () => {
  const listener = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data() {} } });
  const ollama = `http://127.0.0.1:${listener.port}/v1`;
  await using server = testApp({ ollama });
  const client = await server.client();
  const agent = { name: "Clerk", instructions: "", model: "ollama/m" };
  const price = { input: 0, cached_input: 0, output: 0, context_window: null };
  await server.prices.set("ollama/m", price, testActor);
  const available = async () => {
    const { data } = (await client.get("/v1/models")).body;
    return data.find(({ id }: { id: string }) => id === "ollama/m").available;
  };
  const { body: made } = await client.post("/v1/agents", agent);
  expect([made.model, await available()]).toEqual(["ollama/m", true]);
  listener.stop(true);
  expect(await available()).toBe(false);
  const refused = await client.post("/v1/agents", agent);
  expect([refused.status, refused.body.error]).toMatchObject([
    400,
    { code: "model_not_available", param: "model", message: expect.stringContaining("There is no Ollama") },
  ]);
  const path = `/v1/agents/${made.id}`;
  expect((await client.patch(path, { model: "ollama/n" })).body.error.code).toBe("model_not_available");
  const { body: echo } = await client.post("/v1/agents", { ...agent, model: "test/echo" });
  const order = { agent_id: echo.id, input: "Hi" };
  const { body: run } = await client.post("/v1/runs?wait=60", order);
  const overridden = await client.post("/v1/runs", { ...order, overrides: { model: "ollama/m" } });
  expect(overridden.body.error).toMatchObject({ code: "model_not_available", param: "overrides.model" });
  const forked = await client.post(`/v1/runs/${run.id}/fork`, { step_index: -1, edits: { model: "ollama/m" } });
  expect(forked.body.error).toMatchObject({ code: "model_not_available", param: "edits.model" });
  // The agent has this model already.
  expect((await client.patch(path, { model: "ollama/m", name: "Other" })).status).toBe(200);
  await server.connections.put({ name: "ollama", provider: "ollama", base_url: null, api_key: null }, testActor);
  expect((await client.post("/v1/agents", agent)).status).toBe(201);
  await using other = testApp({ ollama, environment: { OLLAMA_BASE_URL: ollama } });
  expect((await (await other.client()).post("/v1/agents", agent)).status).toBe(201);
});

test("test models exist in the test environment only", () => {
  using store = connections();
  expect([store.isAvailable("test/echo", "test"), store.isAvailable("test/echo", "live")]).toEqual([true, false]);
  expect(() => store.resolve("test/echo", "live")).toThrow("is a test model");
});

test("GET /v1/models shows for each model whether a run could use it now", async () => {
  await using server = testApp();
  const [client, live] = [await server.client(), await server.client({ environment: "live" })];
  const available = async (asker = client) => {
    const { data } = (await asker.get("/v1/models")).body as { data: { id: string; available: boolean }[] };
    return {
      openai: data.filter(({ id, available }) => id.startsWith("openai/") && available).length > 0,
      echo: data.find(({ id }) => id === "test/echo")?.available ?? null,
    };
  };
  expect(await available()).toEqual({ openai: false, echo: true });
  await server.connections.put(openai("sk-canary"), testActor);
  expect(await available()).toEqual({ openai: true, echo: true });
  expect(await available(live)).toEqual({ openai: true, echo: null });
  const { body } = await client.get("/v1/models");
  expect(body).toMatchObject({ object: "list", has_more: false });
  expect(JSON.stringify(body)).not.toContain("canary");
  expect(body.data[0]).toMatchObject({
    object: "model",
    provider: expect.any(String),
    context_window: expect.any(Number),
    prices: { input: expect.any(Number), output: expect.any(Number) },
  });
  await server.connections.remove("openai", testActor);
  expect(await available()).toEqual({ openai: false, echo: true });
});

test("a key that cannot be decrypted disables only its own connection", async () => {
  using store = connections();
  await store.put(openai("sk-canary"), testActor);
  store.db.sqlite.run("UPDATE model_connections SET sealed_key = 'v1.broken'");
  await store.put(gpu, testActor);
  expect(store.resolve("test/echo", "test").model).toBe("echo");
  expect(store.resolve("openai_compatible/gpu/m", "live").connection).toEqual(gpu);
  expect(() => store.resolve("openai/gpt-5", "live")).toThrow();
});
