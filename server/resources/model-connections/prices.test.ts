import { describe, expect, test } from "bun:test";
import { createAudit } from "../../storage/db/audit.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { testActor } from "../../testing/test-actor.ts";
import { testApp } from "../../testing/test-app.ts";
import { createPriceStore } from "./prices.ts";

const noon = Date.parse("2026-11-21T12:00:00Z");

function open(path = ":memory:") {
  const db = openDatabase(path);
  const store = createPriceStore({ db, audit: createAudit({ db }), now: () => noon });
  return { ...store, db, [Symbol.dispose]: () => db.close() };
}

const own = { input: 3, cached_input: 1, output: 9, context_window: null };

describe("a price", () => {
  test("is the built-in one until the operator sets another, and again once that is removed", async () => {
    using prices = open();
    const listed = prices.priceOf("openai/gpt-5");
    expect(listed).toMatchObject({ input: 1.25, source: "built_in", as_of: "2026-09-23" });
    await prices.set("openai/gpt-5", own, testActor);
    expect(prices.priceOf("openai/gpt-5")).toEqual({
      input: 3,
      cached_input: 1,
      output: 9,
      max_output_tokens: 128_000,
      as_of: "2026-11-21",
      source: "operator",
    });
    await prices.set("openai/gpt-5", { ...own, input: 4 }, testActor);
    expect(prices.priceOf("openai/gpt-5")?.input).toBe(4);
    expect([await prices.reset("openai/gpt-5", testActor), await prices.reset("openai/gpt-5", testActor)]).toEqual([
      true,
      false,
    ]);
    expect(prices.priceOf("openai/gpt-5")).toEqual(listed);
  });

  test("of a self-hosted model is unknown until the operator declares it free, for one model or all", async () => {
    using prices = open();
    const known = (model: string) => prices.priceOf(model)?.input ?? null;
    expect([known("ollama/llama3.3"), known("openai_compatible/gpu/org/m")]).toEqual([null, null]);
    await prices.set("ollama/*", { ...own, input: 0 }, testActor);
    await prices.set("openai_compatible/gpu/*", { ...own, input: 1 }, testActor);
    await prices.set("openai_compatible/gpu/org/m", { ...own, input: 2 }, testActor);
    expect([known("ollama/llama3.3"), known("ollama/org/m")]).toEqual([0, 0]);
    expect([known("openai_compatible/gpu/other"), known("openai_compatible/gpu/org/m")]).toEqual([1, 2]);
    expect([known("openai_compatible/cpu/m"), known("openai/unlisted")]).toEqual([null, null]);
  });

  test.each(["gpt-5", "openai", "openai/", "openai/*", "test/echo", "test/*", "*", "", "openai_compatible/gpu"])(
    "cannot be %p",
    async (model) => {
      using prices = open();
      await expect(prices.set(model, own, testActor)).rejects.toMatchObject({ param: "model" });
      expect(prices.all()).toEqual([]);
    },
  );

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 100_001])("cannot be %p", async (input) => {
    using prices = open();
    await expect(prices.set("openai/gpt-5", { ...own, input }, testActor)).rejects.toThrow("A price must be from 0");
  });

  test("set by another process applies at once", async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/runnel.db`;
    using server = open(path);
    expect(server.priceOf("ollama/m")).toBeNull();
    using commandLine = open(path);
    await commandLine.set("ollama/m", own, testActor);
    expect(server.priceOf("ollama/m")?.input).toBe(3);
  });

  test("is logged with its author", async () => {
    using prices = open();
    await prices.set("openai/gpt-5", own, testActor);
    await prices.reset("openai/gpt-5", testActor);
    const notes = prices.db.sqlite.query("SELECT action, target_id, details FROM audit_log ORDER BY id").all();
    expect(notes).toEqual([
      { action: "model_price.set", target_id: "openai/gpt-5", details: JSON.stringify(own) },
      { action: "model_price.reset", target_id: "openai/gpt-5", details: "{}" },
    ]);
  });
});

test("an operator's price of Claude has the prices of writing to the cache, at every provider", async () => {
  using prices = open();
  for (const model of [
    "anthropic/claude-sonnet-9",
    "bedrock/anthropic.claude-sonnet-9",
    "openrouter/anthropic/claude-9",
  ]) {
    await prices.set(model, own, testActor);
    expect(prices.priceOf(model)).toMatchObject({ cache_write_5m: 3.75, cache_write_1h: 6 });
  }
  await prices.set("openai/gpt-9", own, testActor);
  expect(prices.priceOf("openai/gpt-9")).not.toHaveProperty("cache_write_5m");
});

test("a price of a server's own list keeps what only the table has: writes to the cache and long prompts", () => {
  using db = Object.assign(openDatabase(":memory:"), { [Symbol.dispose]() {} });
  const model = "openrouter/anthropic/claude-sonnet-4.5";
  const inTable = createPriceStore({ db, audit: createAudit({ db }) }).priceOf(model);
  expect(inTable).toMatchObject({ cache_write_5m: expect.any(Number) });
  const listed = (price: { input: number; cached_input: number; output: number; cache_write_5m?: number }) => () => ({
    id: "anthropic/claude-sonnet-4.5",
    name: null,
    kind: "chat" as const,
    is_deprecated: false,
    context_window: null,
    max_output_tokens: null,
    features: null,
    price,
    read_at_ms: noon,
  });
  const priceWith = (price: Parameters<typeof listed>[0]) =>
    createPriceStore({ db, audit: createAudit({ db }), listed: listed(price) }).priceOf(model);
  const counts = { input: 2, cached_input: 0.2, output: 10 };
  expect(priceWith(counts)).toMatchObject({ ...counts, cache_write_5m: inTable?.cache_write_5m, source: "server" });
  expect(priceWith({ ...counts, cache_write_5m: 2.5 })).toMatchObject({ cache_write_5m: 2.5 });
  db.close();
});

test("GET /v1/models shows the prices of models, their date and their source", async () => {
  await using server = testApp({ now: () => noon });
  const client = await server.client();
  const price = async (id: string) => {
    const { data } = (await client.get("/v1/models")).body as { data: Record<string, unknown>[] };
    return data.find((model) => model.id === id) ?? null;
  };
  expect(await price("openai/gpt-4.1")).toMatchObject({
    prices: { input: 2, cached_input: 0.5, output: 8, as_of: "2026-09-23", source: "built_in" },
  });
  expect(await price("test/echo")).toMatchObject({ prices: { input: 0, output: 0, as_of: null, source: "built_in" } });
  expect(await price("openai_compatible/gpu/m")).toBeNull();
  await server.prices.set("openai_compatible/gpu/m", { ...own, context_window: 32_768 }, testActor);
  await server.prices.set("ollama/*", own, testActor);
  await server.prices.set("openai/gpt-4.1", own, testActor);
  expect(await price("openai_compatible/gpu/m")).toEqual({
    connection: "openai_compatible/gpu",
    name: null,
    kind: "chat",
    listed: null,
    deprecated: false,
    features: null,
    max_output_tokens: null,
    id: "openai_compatible/gpu/m",
    object: "model",
    provider: "openai_compatible",
    available: false,
    context_window: 32_768,
    prices: { input: 3, cached_input: 1, output: 9, as_of: "2026-11-21", source: "operator" },
  });
  expect(await price("openai/gpt-4.1")).toMatchObject({ context_window: 1_047_576, prices: { source: "operator" } });
  expect(await price("ollama/*")).toBeNull();
});
