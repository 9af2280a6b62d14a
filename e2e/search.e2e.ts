import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { vecLibrary } from "../server/lib/assets.ts";
import { addVectors, addWords } from "../server/runtime/retrieval/vector-search/tables.ts";
import { createAgent, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { waitUntil } from "./until.ts";

// Results of a store's search on the executable, compared with the calculated nearest entries.

/** Returns a vector that depends only on the text. */
function vectorOf(text: string, dimensions: number): Float32Array<ArrayBuffer> {
  let state = Bun.hash.crc32(text);
  return Float32Array.from({ length: dimensions }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
}

/** Starts an OpenAI-compatible embedding server whose model's name contains its dimensions: `vectors-<dimensions>`. */
function startEmbeddingServer() {
  const asked: { text: string; heard(): void }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { model, input }: Json = await request.json();
      const dimensions = Number(model.split("-")[1]);
      const data = input.map((text: string, index: number) => {
        for (const { heard } of asked.filter((each) => each.text === text)) heard();
        return { object: "embedding", index, embedding: [...vectorOf(text, dimensions)] };
      });
      return Response.json({ object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } });
    },
  });
  return {
    environment: {
      RUNNEL_MODEL_VECTORS_BASE_URL: `http://127.0.0.1:${server.port}/v1`,
      RUNNEL_MODEL_VECTORS_API_KEY: "none",
    },
    /** Resolves when a vector of this text is requested. */
    asked(text: string): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      asked.push({ text, heard: resolve });
      return promise;
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

async function createStore(server: Runnel, dimensions: number, more: object = {}): Promise<string> {
  const embedding = { model: `openai_compatible/vectors/vectors-${dimensions}`, dimensions };
  const { status, body } = await server.post("/v1/memory", { name: "notes", kind: "vector", embedding, ...more });
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body.id;
}

async function add(server: Runnel, store: string, body: object): Promise<Json> {
  const answer = await server.post(`/v1/memory/${store}/entries`, body);
  expect([answer.status, answer.body.error ?? null, answer.body.status]).toEqual([201, null, "ready"]);
  return answer.body;
}

async function search(server: Runnel, store: string, body: object): Promise<Json[]> {
  const answer = await server.post(`/v1/memory/${store}/search`, body);
  expect([answer.status, answer.body.error ?? null]).toEqual([200, null]);
  return answer.body.data;
}

const textsOf = (matches: Json[]): string[] => matches.map(({ text }) => text);

async function eachOf(count: number, at_once: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: at_once }, worker));
}

const dimensions = 33; // Not a round number.
const owners = ["ann", "bob", "eve", "joe", "sue"];
const textOf = (index: number) => `Note ${index} of ${owners[index % 5]}, about topic${index % 50} and marker${index}`;

/**
 * Returns the nearest texts by cosine plus the score of shared words; for a text with words, a cosine below 0 counts as
 * 0.
 */
function nearest(query: string, texts: readonly string[], most: number, words = (_: string) => 0): string[] {
  const asked = vectorOf(query, dimensions);
  const length = (vector: Float32Array) => Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  const cosine = (text: string) => {
    const vector = vectorOf(text, dimensions);
    const product = vector.reduce((sum, value, at) => sum + value * asked[at]!, 0);
    return product / (length(vector) * length(asked));
  };
  const nearness = (text: string) => (words(text) > 0 ? Math.max(0, cosine(text)) + words(text) : cosine(text));
  const scored = texts.map((text) => ({ text, near: nearness(text) }));
  return scored
    .sort((a, b) => b.near - a.near)
    .slice(0, most)
    .map(({ text }) => text);
}

test("among five thousand entries each owner finds exactly the nearest of their own, also after a restart", async () => {
  await using vectors = startEmbeddingServer();
  await using server = await startRunnel({ environment: vectors.environment });
  const store = await createStore(server, dimensions, { scope: "user" });
  const ids: string[] = [];
  await eachOf(5000, 16, async (index) => {
    const body = { text: textOf(index), scope_id: owners[index % 5], metadata: { index, late: index >= 4950 } };
    ids[index] = (await add(server, store, body)).id;
  });
  const own = (owner: string) =>
    Array.from({ length: 5000 }, (_, index) => textOf(index)).filter((_, at) => owners[at % 5] === owner);
  const find = async (body: object) => textsOf(await search(server, store, { scope_id: "ann", ...body }));

  async function expectAll(gone: readonly string[] = []): Promise<void> {
    for (const owner of ["ann", "sue"])
      for (const query of ["What was it?", "Another question"]) {
        const left = own(owner).filter((text) => !gone.includes(text));
        expect(await find({ scope_id: owner, query, mode: "vector", top_k: 50 })).toEqual(nearest(query, left, 50));
      }
    expect(await find({ query: "marker1005", mode: "keyword" })).toEqual([textOf(1005)]);
    expect(await find({ query: "marker1006", mode: "keyword" })).toEqual([]);
    const worded = { scope_id: "ann", query: "marker1005" };
    const [{ score }] = (await search(server, store, { ...worded, mode: "keyword" })) as [Json];
    const left = own("ann").filter((text) => !gone.includes(text));
    const words = (text: string) => (text === textOf(1005) ? 1.2 * score : 0);
    expect(await find({ ...worded, mode: "hybrid", top_k: 50 })).toEqual(nearest(worded.query, left, 50, words));
    const filter = { $or: [{ index: { $in: [0, 5, 6] } }, { late: { $eq: true } }] };
    for (const mode of ["vector", "hybrid"]) {
      const found = await search(server, store, { scope_id: "ann", query: "Anything", mode, filter, top_k: 50 });
      expect(found.map(({ metadata }) => metadata.index).sort((a, b) => a - b)).toEqual([
        0,
        5,
        ...Array.from({ length: 10 }, (_, at) => 4950 + 5 * at),
      ]);
    }
  }
  await expectAll();
  const gone = nearest("What was it?", own("ann"), 3);
  for (const text of gone)
    await server.fetch(`/v1/memory/${store}/entries/${ids[Number(text.split(" ")[1])]}`, { method: "DELETE" });
  await expectAll(gone);
  await server.stop();
  await server.restart();
  await expectAll(gone);
}, 180_000);

test("an entry is found as soon as it is acknowledged, and not after its expiry", async () => {
  await using vectors = startEmbeddingServer();
  await using server = await startRunnel({ environment: vectors.environment });
  const store = await createStore(server, dimensions);
  for (let index = 0; index < 20; index++) await add(server, store, { text: textOf(index) });
  const { id, text } = await add(server, store, { text: "A passing marker", ttl_seconds: 3600 });
  const found = async (): Promise<boolean[]> => {
    const modes = ["vector", "keyword", "hybrid"].map((mode) => search(server, store, { query: text, mode }));
    return (await Promise.all(modes)).map((matches) => textsOf(matches).includes(text));
  };
  expect(await found()).toEqual([true, true, true]);
  inDatabase(server, (sqlite) => sqlite.run("UPDATE memory_entries SET expires_at_ms = 1 WHERE id = ?", [id]));
  expect(await found()).toEqual([false, false, false]);
  expect(textsOf(await search(server, store, { query: textOf(3), mode: "vector", top_k: 1 }))).toEqual([textOf(3)]);
});

test("while the embedding changes, each search finds the existing entries, by the old vectors or the new ones", async () => {
  await using vectors = startEmbeddingServer();
  await using server = await startRunnel({ environment: vectors.environment });
  const store = await createStore(server, dimensions);
  await eachOf(300, 8, (index) => add(server, store, { text: textOf(index) }));
  const embeddingOf = (dimensions: number) => ({
    model: `openai_compatible/vectors/vectors-${dimensions}`,
    dimensions,
  });
  let searches = 0;
  for (const embedding of [embeddingOf(48), embeddingOf(7)]) {
    const change = JSON.stringify({ embedding });
    const { status } = await server.fetch(`/v1/memory/${store}`, { method: "PATCH", body: change });
    expect(status).toBe(200);
    let isDone = false;
    const look = async (): Promise<void> => {
      for (let index = 0; !isDone; index = (index + 7) % 300, searches++) {
        const order = { query: textOf(index), mode: index % 2 ? "vector" : "hybrid", top_k: 1 };
        expect(textsOf(await search(server, store, order))).toEqual([textOf(index)]);
      }
    };
    const watch = async (): Promise<void> => {
      for (let told: Json = {}; told.indexing !== null; ) told = (await server.get(`/v1/memory/${store}`)).body;
      isDone = true;
    };
    await Promise.all([watch(), ...Array.from({ length: 6 }, look)]);
    expect((await server.get(`/v1/memory/${store}`)).body).toMatchObject({ embedding, indexing: null });
    expect(textsOf(await search(server, store, { query: textOf(7), mode: "vector", top_k: 1 }))).toEqual([textOf(7)]);
  }
  expect(searches).toBeGreaterThan(10);
});

test("any query counts as plain text, and gets a response", async () => {
  await using vectors = startEmbeddingServer();
  await using server = await startRunnel({ environment: vectors.environment });
  const store = await createStore(server, dimensions);
  for (const text of ["An apple a day", "私は全文検索が好きです"]) await add(server, store, { text });
  const long = (text: string) => text.repeat(Math.floor(8192 / Buffer.byteLength(text)));
  const apple = ['apple" OR text : "', "NEAR(apple, 2)", "apple\u0000*", "-apple AND NOT {pear}", "🍎 apple 🍎"];
  const none = ['"', "*", "\u0000", long('"'), long('z" '), long("💥"), long("(NEAR "), long("語"), long("x")];
  for (const mode of ["vector", "keyword", "hybrid"]) {
    for (const query of apple)
      expect(textsOf(await search(server, store, { query, mode }))).toContain("An apple a day");
    for (const query of none)
      expect(await search(server, store, { query, mode })).toHaveLength(mode === "keyword" ? 0 : 2);
  }
  expect(textsOf(await search(server, store, { query: "全文検索", mode: "keyword" }))).toEqual([
    "私は全文検索が好きです",
  ]);
  const refused = await server.post(`/v1/memory/${store}/search`, { query: `${long("x")}x` });
  expect([refused.status, refused.body.error.param]).toEqual([400, "query"]);
});

/** Works in the database from another connection. */
function inDatabase({ dataDir, folder }: Runnel, work: (sqlite: Database) => void): void {
  const sqlite = new Database(join(dataDir, "runnel.db"), { strict: true });
  sqlite.loadExtension(vecLibrary(folder));
  sqlite.run("PRAGMA busy_timeout = 5000");
  sqlite.transaction(work)(sqlite);
  sqlite.close();
}

/** Adds this many chunks to an entry. */
function lengthen(sqlite: Database, entry: string, count: number): void {
  const chunk = sqlite.prepare<{ number: number }, [string, number, string]>(
    `INSERT INTO memory_chunks (project_id, environment, entry_id, store, chunk_index, text, tokens, generation)
      SELECT project_id, environment, entry_id, store, ?2, ?3, 1, 1 FROM memory_chunks WHERE entry_id = ?1 LIMIT 1
      RETURNING number`,
  );
  const rows = Array.from({ length: count }, (_, index) => {
    const text = `Part ${index + 1}`;
    return { number: chunk.get(entry, index + 1, text)!.number, text, vector: vectorOf(text, 512) };
  });
  addVectors(sqlite, { number: 1, generation: 1, dimensions: 512 }, rows);
  addWords(sqlite, 1, rows);
  chunk.finalize();
}

test("while a store is loaded for a search, others get responses and runs keep streaming", async () => {
  await using vectors = startEmbeddingServer();
  await using model = startModelServer();
  await using server = await startRunnel({ environment: { ...vectors.environment, ...stubConnection(model.url) } });
  const store = await createStore(server, 512);
  const { id } = await add(server, store, { text: "Part 0" });
  inDatabase(server, (sqlite) => lengthen(sqlite, id, 20_000));
  const agent_id = await createAgent(server, "words-60000-1");
  const stream = await server.stream("/v1/runs", { body: { agent_id, input: "Go", stream: true } });
  await stream.until("token");
  const query = "Part 12345";
  const asked = vectors.asked(query);

  /** Counts responses and events during one search. */
  async function beside(): Promise<{ answers: number; frames: number }> {
    let over = false;
    const found = search(server, store, { query, mode: "vector", top_k: 2 }).finally(() => (over = true));
    await asked;
    const before = stream.frames.length;
    let answers = 0;
    // One after the other: a thread that loaded the store itself would respond once at most before the search.
    for (; !over; answers++) await server.get(`/v1/memory/${store}`);
    expect((await found)[0]).toMatchObject({ id, text: query, score: expect.any(Number) });
    return { answers, frames: stream.frames.length - before };
  }
  // A busy machine may leave this process no time during one search.
  await waitUntil(async () => {
    const { answers, frames } = await beside();
    return answers > 3 && frames > 0;
  });
  expect(stream.ending()).toBe("open");
  await stream.close();
});
