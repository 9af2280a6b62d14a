import { expect, test } from "bun:test";
import { createSeal } from "../../lib/seal.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { type Db, openDatabase } from "../../storage/db/open.ts";
import { modelLists } from "../../storage/db/schema.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type TestApp, testApp } from "../../testing/test-app.ts";
import { createModelCatalog } from "./model-catalog.ts";
import { createPriceStore } from "./prices.ts";
import { createConnectionStore } from "./store.ts";

const key = "sk-canary-0123456789";

/** Starts a server whose list of models the test sets, with a count of its readings. */
function listServer(models: unknown[] = []) {
  const state = { models, failure: null as (() => Response) | null, reads: 0, waiting: null as Promise<void> | null };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (new URL(request.url).pathname !== "/v1/models") return new Response("", { status: 404 });
      state.reads++;
      await state.waiting;
      return state.failure?.() ?? Response.json({ object: "list", data: state.models });
    },
  });
  const connection: Connection = {
    name: "gpu",
    provider: "openai_compatible",
    base_url: `http://127.0.0.1:${server.port}/v1`,
    api_key: key,
  };
  return Object.assign(state, { connection, [Symbol.asyncDispose]: () => server.stop(true) });
}

async function listed(app: TestApp, query = "") {
  const client = await app.client();
  let { body } = await client.get(`/v1/models?connection=openai_compatible/gpu${query}`);
  // On a busy machine the list may take longer than a request waits.
  while (body.connections?.some(({ reading }: { reading: boolean }) => reading))
    ({ body } = await client.get(`/v1/models?connection=openai_compatible/gpu${query}`));
  const state = body.connections?.find(
    ({ connection }: { connection: string }) => connection === "openai_compatible/gpu",
  );
  return { ids: body.data?.map(({ id }: { id: string }) => id.split("/").slice(2).join("/")), state, body };
}

test("the models of a new connection are listed at once, with the window and the price that its server names", async () => {
  await using server = listServer([
    { id: "meta/llama", context_length: 131_072, pricing: { prompt: "0.000001", completion: "0.000002" } },
    { id: "plain" },
    { id: "text-embedding-x" },
  ]);
  await using app = testApp();
  await app.connections.put(server.connection, testActor);
  const { ids, body } = await listed(app);
  expect(ids).toEqual(["meta/llama", "plain"]);
  expect(body.data[0]).toMatchObject({
    id: "openai_compatible/gpu/meta/llama",
    connection: "openai_compatible/gpu",
    available: true,
    listed: true,
    context_window: 131_072,
    prices: { input: 1, cached_input: 1, output: 2, source: "server" },
  });
  expect(body.data[1]).toMatchObject({ context_window: null, prices: null });
  expect((await listed(app, "&kind=embedding")).ids).toEqual(["text-embedding-x"]);
  // A run is priced and compacted by the same values.
  expect(app.prices.windowOf("openai_compatible/gpu/meta/llama")).toBe(131_072);
  expect(app.prices.priceOf("openai_compatible/gpu/meta/llama")).toMatchObject({ input: 1, output: 2 });
  expect(JSON.stringify(body)).not.toMatch(/canary|127\.0\.0\.1/);
});

test("an operator's price and window take precedence over those of the server's list", async () => {
  const own = { input: 7, cached_input: 7, output: 7, context_window: 4096 };
  await using server = listServer([
    { id: "m", context_length: 131_072, pricing: { prompt: "0.000001", completion: "0.000002" } },
  ]);
  await using app = testApp();
  await app.connections.put(server.connection, testActor);
  await app.prices.set("openai_compatible/gpu/m", own, testActor);
  expect((await listed(app)).body.data).toMatchObject([
    { context_window: 4096, prices: { input: 7, source: "operator" } },
  ]);
});

const minutes = 60_000;

interface CatalogSettings {
  db?: Db;
  environment?: Record<string, string>;
  wait_ms?: number;
}

/** A catalog with its stores and a clock. */
function catalogOf({ db = openDatabase(":memory:"), environment = {}, wait_ms = 60_000 }: CatalogSettings = {}) {
  const clock = { now: Date.parse("2026-11-29T12:00:00Z") };
  const now = () => clock.now;
  const audit = createAudit({ db });
  const connections = createConnectionStore({
    db,
    audit,
    seal: createSeal(masterKey),
    environment,
    ollama: nowhere,
    now,
  });
  const catalog = createModelCatalog({ db, connections, now, wait_ms });
  const prices = createPriceStore({ db, audit, now, listed: catalog.listed });
  const ids = async () =>
    (await catalog.models("live", prices)).flatMap(({ id, listed }) => (listed ? [id.split("/").at(-1)] : []));
  /** Waits for a reading that is under way. */
  const settled = () => catalog.refresh("gpu");
  return { db, clock, connections, catalog, prices, ids, settled };
}

const masterKey = crypto.getRandomValues(new Uint8Array(32));
const nowhere = "http://127.0.0.1:1/v1";

test("a list is kept for five minutes and then read beside the request; a failure keeps it and says why", async () => {
  await using server = listServer([{ id: "a" }]);
  const { clock, connections, ids, settled } = catalogOf();
  await connections.put(server.connection, testActor);
  expect(await ids()).toEqual(["a"]);
  server.models = [{ id: "b" }];
  clock.now += 4 * minutes;
  expect([await ids(), server.reads]).toEqual([["a"], 1]);
  clock.now += 2 * minutes;
  expect(await ids()).toEqual(["a"]);
  await settled();
  expect([await ids(), server.reads]).toEqual([["b"], 2]);
  server.failure = () => Response.json({ error: { message: `Bad key ${key}` } }, { status: 401 });
  clock.now += 6 * minutes;
  await ids();
  const state = await settled();
  expect(state).toMatchObject({ count: 1, error: { code: "key_refused" }, read_at_ms: clock.now - 6 * minutes });
  expect([await ids(), server.reads]).toEqual([["b"], 3]);
  expect(JSON.stringify(state)).not.toContain("canary");
  // After a failure the list is read again sooner.
  server.failure = null;
  clock.now += minutes;
  await ids();
  expect(await settled()).toMatchObject({ error: null, read_at_ms: clock.now });
});

test("a refresh reads the list now, and many at once are one request", async () => {
  await using server = listServer([{ id: "a" }]);
  const { clock, connections, catalog, ids } = catalogOf();
  await connections.put(server.connection, testActor);
  await ids();
  server.models = [{ id: "b" }];
  clock.now += 3000;
  const refreshed = await Promise.all(Array.from({ length: 20 }, () => catalog.refresh("openai_compatible/gpu")));
  expect(refreshed.map((state) => state?.count)).toEqual(Array(20).fill(1));
  expect([await ids(), server.reads]).toEqual([["b"], 2]);
  await catalog.refresh("gpu"); // Within two seconds of the one before.
  expect(server.reads).toBe(2);
  expect(await catalog.refresh("none")).toBeNull();
});

test("a changed address has its own list, and a removed connection none", async () => {
  await using server = listServer([{ id: "a" }]);
  await using other = listServer([{ id: "b" }]);
  const { connections, catalog, prices, ids } = catalogOf();
  await connections.put(server.connection, testActor);
  expect(await ids()).toEqual(["a"]);
  await connections.update("gpu", { base_url: other.connection.base_url }, testActor);
  expect(prices.windowOf("openai_compatible/gpu/a")).toBeNull();
  expect(await ids()).toEqual(["b"]);
  await connections.remove("gpu", testActor);
  expect(await ids()).toEqual([]);
  expect(catalog.listed("openai_compatible/gpu/b")).toBeNull();
});

test("another key in the environment begins with a list of its own after the restart, and no key is stored", async () => {
  await using server = listServer([{ id: "a" }]);
  const address = { RUNNEL_MODEL_GPU_BASE_URL: server.connection.base_url ?? "" };
  const db = openDatabase(":memory:");
  const started = (key: string) => catalogOf({ db, environment: { ...address, RUNNEL_MODEL_GPU_API_KEY: key } });
  const [first, second] = ["first-key-0123456789", "second-key-0123456789"] as const;
  expect(await started(first).ids()).toEqual(["a"]);
  expect(started(first).catalog.listed("openai_compatible/gpu/a")).not.toBeNull();
  const { catalog, ids } = started(second);
  expect(catalog.listed("openai_compatible/gpu/a")).toBeNull();
  server.models = [{ id: "b" }];
  expect(await ids()).toEqual(["b"]);
  const stored = db.orm.select().from(modelLists).all();
  expect(JSON.stringify(stored)).not.toContain("key-0123");
});

test("a list that arrives after its connection was changed is dropped", async () => {
  const held = Promise.withResolvers<void>();
  await using server = listServer([{ id: "of-the-old-key" }]);
  server.waiting = held.promise;
  const { connections, catalog, ids } = catalogOf();
  await connections.put(server.connection, testActor);
  const reading = catalog.refresh("gpu");
  while (server.reads === 0) await new Promise(setImmediate);
  await connections.update("gpu", { api_key: "sk-other" }, testActor);
  held.resolve();
  await reading;
  expect(catalog.listed("openai_compatible/gpu/of-the-old-key")).toBeNull();
  expect(await ids()).toEqual(["of-the-old-key"]); // Read again with the new key.
  expect(server.reads).toBe(2);
});

test("windows and prices of a list are known after a restart, without a request", async () => {
  await using server = listServer([{ id: "m", max_model_len: 40_960 }]);
  const before = catalogOf();
  await before.connections.put(server.connection, testActor);
  await before.ids();
  const { prices, ids } = catalogOf({ db: before.db });
  expect(prices.windowOf("openai_compatible/gpu/m")).toBe(40_960);
  expect([await ids(), server.reads]).toEqual([["m"], 1]);
});

test("a server that says nothing delays a request once, and no request after that", async () => {
  await using server = listServer();
  const held = Promise.withResolvers<void>();
  server.waiting = held.promise;
  const { connections, catalog, ids, settled } = catalogOf({ wait_ms: 20 });
  await connections.put(server.connection, testActor);
  expect(await ids()).toEqual([]);
  expect(catalog.states()).toMatchObject([{ prefix: "openai_compatible/gpu", is_reading: true, count: null }, {}]);
  expect(await ids()).toEqual([]);
  server.models = [{ id: "late" }];
  held.resolve();
  await settled();
  expect(await ids()).toEqual(["late"]);
});

test("models of connections come before known models of other providers, and models out of use last", async () => {
  await using server = listServer([{ id: "a-old", deprecated: true }, { id: "z-new" }]);
  const { connections, catalog, prices } = catalogOf();
  await connections.put(server.connection, testActor);
  const models = await catalog.models("test", prices);
  expect(models.slice(0, 2)).toMatchObject([{ id: "openai_compatible/gpu/z-new" }, { deprecated: true }]);
  const places = models.map(({ available, provider }) => (available ? (provider === "test" ? 1 : 0) : 2));
  expect(places).toEqual(places.toSorted());
  expect(new Set(places)).toEqual(new Set([0, 1, 2]));
});

test("an Ollama that was not configured and is not there is no error", async () => {
  const { catalog, ids } = catalogOf();
  await ids();
  expect(catalog.states()).toMatchObject([{ prefix: "ollama", count: null, error: null }]);
  const configured = catalogOf({ environment: { OLLAMA_BASE_URL: nowhere } });
  await configured.ids();
  expect(configured.catalog.states()).toMatchObject([{ prefix: "ollama", error: { code: "unreachable" } }]);
});

// https://github.com/lobehub/lobehub/issues/9898
test("a long list is paged, and a page begins after the model that the client names", async () => {
  await using server = listServer(
    Array.from({ length: 450 }, (_, index) => ({ id: `m${String(index).padStart(3, "0")}` })),
  );
  await using app = testApp();
  await app.connections.put(server.connection, testActor);
  const first = await listed(app, "&limit=200");
  expect([first.ids.length, first.ids[0], first.body.has_more]).toEqual([200, "m000", true]);
  const second = await listed(app, `&limit=200&starting_after=${first.body.last_id}`);
  expect([second.ids[0], second.body.first_id]).toEqual(["m200", "openai_compatible/gpu/m200"]);
  const last = await listed(app, `&limit=200&starting_after=${second.body.last_id}`);
  expect([last.ids.length, last.body.has_more]).toEqual([50, false]);
  // A cursor stays valid after its model has left the list.
  const gone = await listed(app, "&limit=1&starting_after=openai_compatible/gpu/m007-gone");
  expect(gone.ids).toEqual(["m008"]);
  expect((await listed(app)).ids).toHaveLength(450);
  expect((await listed(app, "&q=m44")).ids).toHaveLength(10);
});

test.each([
  "limit=0",
  "limit=1001",
  "limit=x",
  "kind=cat",
  "available=yes",
  "other=1",
  "limit=1&limit=2",
  "starting_after=",
])("GET /v1/models?%s is refused", async (query) => {
  await using app = testApp();
  const { status, body } = await (await app.client()).get(`/v1/models?${query}`);
  expect([status, body.error.param]).toEqual([400, query.split("=")[0]]);
});

test("clients of OpenAI's API see the models that a connection's server lists", async () => {
  await using server = listServer([{ id: "m" }, { id: "text-embedding-x" }]);
  await using app = testApp();
  await app.connections.put(server.connection, testActor);
  const admin = await (await app.client()).get("/openai/v1/models");
  const ids = admin.body.data.map(({ id }: { id: string }) => id);
  expect(ids).toContain("openai_compatible/gpu/m");
  expect(ids).not.toContain("openai_compatible/gpu/text-embedding-x");
  const reader = await (await app.client({ scopes: ["read"] })).get("/openai/v1/models");
  expect(JSON.stringify(reader.body)).not.toContain("gpu");
});
