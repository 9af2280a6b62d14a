import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { silentLog } from "../../lib/log.ts";
import { createEmbedders } from "../../runtime/retrieval/embeddings/embedder.ts";
import type { Match } from "../../runtime/retrieval/vector-search/searcher.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { testApp } from "../../testing/test-app.ts";
import type { StoreRow } from "./row.ts";
import type { SearchMemory } from "./schema.ts";
import { createMemorySearch, maximalMarginalRelevance } from "./search.ts";

/** Creates a search of a store whose model server never answers, and the matches of the query's words. */
function beforeASilentServer(byWords: Match[], patience_ms = 200) {
  let asked = 0;
  const silent = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch() {
      asked++;
      return new Promise<Response>(() => {});
    },
  });
  const embedders = createEmbedders({
    log: silentLog,
    resolve: (model) => ({
      connection: { name: "ollama", provider: "ollama", api_key: null, base_url: `${silent.url}v1` },
      model,
    }),
  });
  const sqlite = new Database(":memory:");
  sqlite.run("CREATE TABLE files (project_id, environment, id, filename)");
  sqlite.run("CREATE TABLE memory_chunks (project_id, environment, entry_id, chunk_index, text)");
  const store = { kind: "vector", scope: "project", model: "ollama/m", dimensions: 8, generation: 1 } as StoreRow;
  const search = createMemorySearch({
    rank: () => Promise.reject(new Error("Nothing is ranked.")),
    db: { sqlite } as never,
    findStore: () => store,
    embedders,
    patience_ms,
    searcher: {
      search: async ({ mode, vector }) => {
        if (mode !== "keyword" || vector !== null) throw new Error("There is no vector to search by.");
        return byWords;
      },
    },
  });
  return {
    asked: () => asked,
    search: (body: SearchMemory) => search({ project_id: "proj_1", environment: "live" }, "mem_1", body),
    async [Symbol.asyncDispose]() {
      embedders.stop();
      await silent.stop(true);
    },
  };
}

const match: Match = {
  entry_id: "ment_1",
  file_id: null,
  chunk_index: 0,
  text: "The harbour.",
  page: null,
  heading: null,
  metadata: {},
  score: 0.5,
  score_parts: { vector: null, keyword: 0.5 },
};

test("a semantic search does not wait for an embedding server that never answers", async () => {
  await using it = beforeASilentServer([match]);
  await expect(it.search({ query: "harbour", mode: "vector" })).rejects.toMatchObject({ code: "embedding_failed" });
});

test("a hybrid search falls back to words if the embedding server never answers, and reports the reason", async () => {
  await using it = beforeASilentServer([match]);
  expect(await it.search({ query: "harbour" })).toMatchObject({
    data: [{ id: "ment_1", text: "The harbour." }],
    degraded: true,
    degraded_error: { code: "embedding_failed", message: expect.any(String) },
  });
});

test("only the first search waits for an embedding server that never answers: later ones skip it for a while", async () => {
  const asked = await withEnoughTime(200, async (patience_ms) => {
    await using it = beforeASilentServer([match], patience_ms);
    const first = await it.search({ query: "harbour" });
    for (const query of ["harbour", "boats"]) expect(await it.search({ query })).toEqual(first);
    await expect(it.search({ query: "harbour", mode: "vector" })).rejects.toMatchObject({ code: "embedding_failed" });
    return it.asked() || null; // Null: the time was over before the request arrived.
  });
  expect(asked).toBe(1);
});

test("a client that leaves its search does not count as a fault of the server", async () => {
  const faults: string[] = [];
  const log = { ...silentLog, error: (message: string) => void faults.push(message) };
  const asked = Promise.withResolvers<void>();
  const embed = (_texts: readonly string[], signal?: AbortSignal) => {
    asked.resolve();
    return new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  };
  const embedders = { of: () => ({ embed }), probe: async () => 384, stop() {} } as never;
  await using server = testApp({ log, embedders });
  const { key, ...client } = await server.client();
  const { body: store } = await client.post("/v1/memory", { name: "m", kind: "vector" });
  const leave = new AbortController();
  const search = server.app.handle(
    new Request(`http://localhost/v1/memory/${store.id}/search`, {
      method: "POST",
      body: JSON.stringify({ query: "harbour" }),
      signal: leave.signal,
      headers: { authorization: `Bearer ${key.secret}`, "content-type": "application/json" },
    }),
  );
  await asked.promise;
  leave.abort();
  await search;
  expect(faults).toEqual([]);
});

describe("similar passages", () => {
  const passage = (text: string, score: number, ...vector: number[]) => ({
    ...match,
    text,
    score,
    vector: new Float32Array(vector),
  });
  const found = [passage("a", 0.9, 1, 0), passage("b", 0.85, 1, 0.1), passage("c", 0.6, 0, 1)];
  const chosen = (count: number, diversity: number) =>
    maximalMarginalRelevance(found, count, diversity).map(({ text }) => text);

  test("are all returned by default, the best first", () => {
    expect([chosen(2, 0), chosen(3, 0)]).toEqual([
      ["a", "b"],
      ["a", "b", "c"],
    ]);
  });

  test("rank below one that says something else", () => {
    expect([chosen(2, 0.5), chosen(3, 0.5), chosen(3, 1)]).toEqual([
      ["a", "c"],
      ["a", "c", "b"],
      ["a", "c", "b"],
    ]);
  });

  test("are duplicates if their texts are equal, whatever their vectors", () => {
    const same = [
      { ...match, score: 0.9 },
      { ...match, score: 0.9 },
      { ...match, text: "Ships.", score: 0.4 },
    ];
    expect(maximalMarginalRelevance(same, 2, 0.6).map(({ text }) => text)).toEqual(["The harbour.", "Ships."]);
  });
});

test("a search chooses dissimilar passages, and shows each with its neighbors", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: store } = await client.post("/v1/memory", { name: "m", kind: "vector" });
  const at = `/v1/memory/${store.id}`;
  const says = (text: string, more: object = {}) => client.post(`${at}/entries`, { text, ...more });
  for (const text of [
    "The harbour opens at six.",
    "The harbour opens at six!",
    "Fishing boats pay a fee for the harbour.",
  ])
    expect((await says(text)).body.status).toBe("ready");
  const search = async (more: object) => (await client.post(`${at}/search`, { query: "harbour opens", ...more })).body;
  const texts = async (more: object) => (await search(more)).data.map(({ text }: { text: string }) => text);
  expect((await texts({ top_k: 2 })).filter((text: string) => text.includes("six"))).toHaveLength(2);
  for (const mode of ["hybrid", "vector", "keyword"])
    expect(await texts({ top_k: 2, mode, diversity: 0.7 })).toContain("Fishing boats pay a fee for the harbour.");
  expect(await search({})).toMatchObject({ degraded: false });

  const paragraphs = Array.from({ length: 6 }, (_, at) => `Paragraph ${at}. ${`Word${at} `.repeat(60).trim()}.`);
  const chunking = { max_chunk_size_tokens: 200, chunk_overlap_tokens: 0 };
  await says(paragraphs.join("\n\n"), { chunking });
  const [alone] = (await search({ query: "Word3", mode: "keyword" })).data;
  expect(alone).not.toHaveProperty("context");
  const [around] = (await search({ query: "Word3", mode: "keyword", neighbors: 1 })).data;
  expect(around.text).toBe(alone.text);
  expect(around.context).toContain(alone.text);
  expect(paragraphs.filter((text) => around.context.includes(text))).toEqual(paragraphs.slice(2, 5));
  const { status, body } = await client.post(`${at}/search`, { query: "x", neighbors: 6, diversity: 1.1 });
  expect([status, body.error.errors.map(({ param }: { param: string }) => param).sort()]).toEqual([
    400,
    ["diversity", "neighbors"],
  ]);
});
