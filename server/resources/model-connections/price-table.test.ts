import { describe, expect, test } from "bun:test";
import { AppError } from "../../domain/errors.ts";
import { createEgress } from "../../lib/egress.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { testActor } from "../../testing/test-actor.ts";
import { testApp } from "../../testing/test-app.ts";
import { fetchPriceList } from "./fetch-price-list.ts";
import { createPriceStore } from "./prices.ts";
import { priceListMax, readPriceList } from "./read-price-list.ts";

const noon = Date.parse("2026-11-29T12:00:00Z");

function open(path = ":memory:") {
  const db = openDatabase(path);
  const store = createPriceStore({ db, audit: createAudit({ db }), now: () => noon });
  return { ...store, db, [Symbol.dispose]: () => db.close() };
}

const line = { id: "openai/gpt-9", input: 7, output: 70 };
const listOf = (models: unknown, more: object = {}) => JSON.stringify({ as_of: "2026-11-20", models, ...more });
const read = (text: string) => readPriceList(text, "prices.json", noon);

describe("a table of prices that the operator loads", () => {
  const whole = {
    id: "anthropic/claude-opus-9",
    input: 6,
    output: 30,
    cache_read: 0.6,
    cache_write_5m: 7.5,
    cache_write_1h: 12,
    context_window: 500_000,
    max_output_tokens: 9000,
    source: "https://example.com/prices",
    long_context: { above: 200_000, input: 12, output: 45 },
  };

  test("replaces the built-in one, each line with its source and date, until it is taken back", async () => {
    using prices = open();
    expect(prices.table()).toMatchObject({ source: "built_in", as_of: "2026-09-23", origin: null });
    await prices.load(read(listOf([whole, line])), "prices.json", testActor);
    expect(prices.table()).toEqual({
      source: "table",
      as_of: "2026-11-20",
      origin: "prices.json",
      models: 2,
      loaded_at_ms: noon,
    });
    expect(prices.priceOf("anthropic/claude-opus-9-20270101")).toEqual({
      input: 6,
      cached_input: 0.6,
      output: 30,
      cache_write_5m: 7.5,
      cache_write_1h: 12,
      long_context: { above: 200_000, input: 12, cached_input: 12, output: 45 },
      max_output_tokens: 9000,
      as_of: "2026-11-20",
      source: "table",
    });
    expect(prices.windowOf("anthropic/claude-opus-9")).toBe(500_000);
    expect([prices.referenceOf("anthropic/claude-opus-9"), prices.referenceOf("openai/gpt-9")]).toEqual([
      "https://example.com/prices",
      "prices.json",
    ]);
    expect(prices.priceOf("mistral/mistral-large-latest")).toBeNull();
    expect([await prices.unload(testActor), await prices.unload(testActor)]).toEqual([true, false]);
    expect(prices.priceOf("openai/gpt-5.4")?.source).toBe("built_in");
  });

  test("never overrides a price that the operator set", async () => {
    using prices = open();
    await prices.set("openai/gpt-9", { input: 1, cached_input: 1, output: 1, context_window: null }, testActor);
    await prices.load(read(listOf([line])), "prices.json", testActor);
    expect(prices.priceOf("openai/gpt-9")).toMatchObject({ input: 1, source: "operator" });
    await prices.reset("openai/gpt-9", testActor);
    expect(prices.priceOf("openai/gpt-9")).toMatchObject({ input: 7, source: "table" });
  });

  test("has families too, and the limits of known models where it names none", async () => {
    using prices = open();
    await prices.load(read(listOf([line, { id: "openai/gpt-5.4", input: 3, output: 9 }])), "prices.json", testActor);
    expect(prices.priceOf("openai/gpt-10")).toMatchObject({ input: 7, estimated: true, source: "table" });
    expect(prices.priceOf("openai/gpt-5.4")).toMatchObject({ input: 3, max_output_tokens: 128_000 });
    expect(prices.windowOf("openai/gpt-5.4")).toBe(1_050_000);
  });

  test("is there after a restart, and another process's applies at once", async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/runnel.db`;
    using server = open(path);
    expect(server.priceOf("openai/gpt-9")?.estimated).toBe(true);
    {
      using commandLine = open(path);
      await commandLine.load(read(listOf([line])), "prices.json", testActor);
    }
    expect(server.priceOf("openai/gpt-9")?.input).toBe(7);
    using restarted = open(path);
    expect(restarted.priceOf("openai/gpt-9")?.input).toBe(7);
    await restarted.load(read(listOf([{ ...line, input: 8 }])), "prices.json", testActor);
    expect(server.priceOf("openai/gpt-9")?.input).toBe(8);
  });

  test("is logged with its author", async () => {
    using prices = open();
    await prices.load(read(listOf([line])), "prices.json", testActor);
    await prices.unload(testActor);
    expect(prices.db.sqlite.query("SELECT action, target_id, details FROM audit_log ORDER BY id").all()).toEqual([
      { action: "price_table.loaded", target_id: "prices.json", details: '{"as_of":"2026-11-20","models":1}' },
      { action: "price_table.reset", target_id: "prices.json", details: "{}" },
    ]);
  });
});

describe("a table is refused whole, with the fault of each line,", () => {
  test.each([
    ["not JSON", "as_of: 1", "not valid JSON"],
    ["no object", "[]", "an object with as_of and models"],
    ["without a day", JSON.stringify({ models: [line] }), "as_of must be a day"],
    ["with a day that does not exist", listOf([line], { as_of: "2026-02-30" }), "as_of must be a day"],
    ["of the future", listOf([line], { as_of: "2026-12-24" }), "as_of must not be in the future"],
    ["without models", listOf([]), "models must be a list of at least one model"],
    ["with an unknown field", listOf([line], { prices: 1 }), "prices is no field"],
    ["with a model that is a text", listOf([line, "gpt"]), "models[1] must be an object"],
    ["with a typo", listOf([{ ...line, cached: 1 }]), "models[0].cached is no field of a model"],
    ["without a price", listOf([{ id: "openai/a", output: 1 }]), "models[0].input must be a number from 0"],
    ["with a price as text", listOf([{ ...line, output: "1.5" }]), "models[0].output must be a number"],
    ["with a price below 0", listOf([{ ...line, cache_read: -1 }]), "models[0].cache_read must be"],
    ["with a price of a token instead of a million", listOf([{ ...line, input: 1e9 }]), "models[0].input must be"],
    [
      "with half a token",
      listOf([{ ...line, context_window: 1.5 }]),
      "models[0].context_window must be a whole number",
    ],
    ["without provider", listOf([{ ...line, id: "gpt-9" }]), "models[0].id must be a model's full name"],
    ["of an unknown provider", listOf([{ ...line, id: "test/echo" }]), "models[0].id names the provider test"],
    ["with a wildcard", listOf([{ ...line, id: "ollama/*" }]), "models[0].id must name one model"],
    ["with a model twice", listOf([line, line]), "models[1].id is already models[0]"],
    [
      "with a bad threshold",
      listOf([{ ...line, long_context: { input: 1, output: 1 } }]),
      "long_context.above must be",
    ],
    ["with more models than fit", listOf(Array(priceListMax.models + 1).fill(line)), "at most 5000 models"],
    ["that is too long", " ".repeat(priceListMax.bytes + 1), `at most ${priceListMax.bytes} bytes`],
  ])("%s", (_, text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  test("up to twenty at once", () => {
    const wrong = Array.from({ length: 25 }, (_, at) => ({ id: `openai/m${at}`, input: "1", output: 1 }));
    try {
      read(listOf(wrong));
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      expect(error.errors).toHaveLength(20);
      expect(error.errors?.[3]?.param).toBe("models[3].input");
      expect(error.message).toEndWith("… and 5 more.");
    }
  });
});

describe("a table at an address", () => {
  const serve = (answer: () => Response) => {
    const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
    return { url: `http://127.0.0.1:${server.port}/prices.json?key=secret`, [Symbol.dispose]: () => server.stop(true) };
  };
  const egress = createEgress({ allow: ["127.0.0.1"], loopback: false });

  test("is fetched, and its origin does not keep the query", async () => {
    using server = serve(() => new Response(listOf([line])));
    const { list, origin } = await fetchPriceList(egress, server.url, noon);
    expect([list.lines[0]?.id, origin.endsWith("/prices.json")]).toEqual(["openai/gpt-9", true]);
    expect(list.lines[0]?.source).toBe(origin);
  });

  test("that is private is refused without the operator's permission, and plain HTTP to the outside always", async () => {
    using server = serve(() => new Response(listOf([line])));
    const strict = createEgress({ allow: [], loopback: false });
    for (const url of [server.url, "http://169.254.169.254/prices.json"])
      await expect(fetchPriceList(strict, url, noon)).rejects.toMatchObject({ code: "url_not_allowed" });
  });

  test.each([
    ["that does not exist", () => new Response("no", { status: 404 }), "status 404"],
    ["with a page instead", () => new Response("<html>"), "not valid JSON"],
    ["that never ends", () => new Response(" ".repeat(priceListMax.bytes + 10)), "at most"],
  ])("%s is refused", async (_, answer, message) => {
    using server = serve(answer);
    await expect(fetchPriceList(egress, server.url, noon)).rejects.toThrow(message);
  });
});

test("a connection that is called like a provider and leads to its own server has the provider's prices, no other has", async () => {
  await using server = testApp({ now: () => noon });
  const { prices, connections } = server;
  const model = "openai_compatible/mistral/mistral-large-2512";
  const connect = (name: string, base_url: string) =>
    connections.put({ name, provider: "openai_compatible", base_url, api_key: null }, testActor);
  expect(prices.priceOf(model)).toBeNull();
  await connect("mistral", "https://gateway.example.com/v1");
  expect(prices.priceOf(model)).toBeNull();
  await connect("mistral", "https://api.mistral.ai/v1");
  expect(prices.priceOf(model)).toMatchObject({ input: 0.5, output: 1.5, source: "built_in" });
  expect(prices.windowOf(model)).toBe(262_144);
  await connect("gateway", "https://api.mistral.ai/v1");
  expect(prices.priceOf("openai_compatible/gateway/mistral-large-2512")).toBeNull();
});
