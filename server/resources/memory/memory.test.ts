import { expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { builtInModels, defaultModel } from "../../runtime/retrieval/embeddings/models.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

const day_ms = 24 * 3_600_000;

/** Starts a server with a running indexer. */
async function start(options: Parameters<typeof testApp>[0] = {}): Promise<TestApp> {
  const server = testApp(options);
  await server.recover();
  return server;
}

const make = async (client: Client, more: object = {}) => {
  const { status, body } = await client.post("/v1/memory", { name: "notes", kind: "vector", ...more });
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body;
};
const add = async (client: Client, id: string, body: object) => {
  const answer = await client.post(`/v1/memory/${id}/entries`, body);
  expect([answer.status, answer.body.error ?? null]).toEqual([201, null]);
  return answer.body;
};
const refusal = ({ status, body }: { status: number; body: { error?: { code: string; param: string | null } } }) => [
  status,
  body.error?.code,
  body.error?.param,
];
const rows = ({ db }: TestApp, table: string): number =>
  db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n;
const tablesOfStores = ({ db }: TestApp) =>
  db.sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE name GLOB 'memory_[0-9]*'")
    .all()
    .map(({ name }) => name);

test("a store is returned as it was created, with the built-in embedding by default", async () => {
  await using server = await start();
  const client = await server.client();
  const store = await make(client, { ttl_seconds: 60, metadata: { team: "a" } });
  expect(store).toMatchObject({
    object: "memory",
    name: "notes",
    kind: "vector",
    scope: "project",
    ttl_seconds: 60,
    entries: 0,
    keys: null,
    embedding: { model: defaultModel, dimensions: builtInModels[defaultModel].dimensions },
    indexing: null,
    metadata: { team: "a" },
    ...client.scope,
  });
  expect((await client.get(`/v1/memory/${store.id}`)).body).toMatchObject({ ...store, request_id: expect.any(String) });
  const kv = await make(client, { kind: "kv", scope: "user" });
  expect(kv).toMatchObject({ kind: "kv", scope: "user", embedding: null, entries: null, keys: 0, ttl_seconds: null });
  const list = await client.get("/v1/memory?kind=kv");
  expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([kv.id]);
});

test("a store with an impossible embedding is refused", async () => {
  await using server = await start();
  const client = await server.client();
  const create = async (more: object) =>
    refusal(await client.post("/v1/memory", { name: "m", kind: "vector", ...more }));
  const embedding = (model: string, dimensions?: number) => ({ embedding: { model, dimensions } });
  expect(await create({ kind: "kv", ...embedding("builtin/use-lite-512") })).toEqual([
    400,
    "validation_failed",
    "embedding",
  ]);
  expect(await create(embedding("builtin/use-lite-512", 256))).toEqual([
    400,
    "validation_failed",
    "embedding.dimensions",
  ]);
  expect(await create(embedding("none/model"))).toEqual([400, "model_not_available", "embedding.model"]);
  expect(await create(embedding("none/model", 8))).toEqual([400, "model_not_available", "embedding.model"]);
  expect(await create(embedding("a/b", limits.embedding_dimensions + 1))).toEqual([
    400,
    "validation_failed",
    "embedding.dimensions",
  ]);
  expect(rows(server, "memory_stores")).toBe(0);
  expect(await make(client, embedding("openai/words", 64))).toMatchObject(embedding("openai/words", 64));
  expect(await make(client, embedding("openai/words"))).toMatchObject(embedding("openai/words", 512));
});

test("a change of the embedding is shown as indexing until it is done, and old entries are then found again", async () => {
  await using server = await start();
  const client = await server.client();
  const { id } = await make(client, { embedding: { model: "builtin/use-lite-512" } });
  await add(client, id, { text: "The boiler is in the cellar." });
  const embedding = { model: "openai/words", dimensions: 64 };
  const { status, body } = await client.patch(`/v1/memory/${id}`, { name: "house", embedding, ttl_seconds: 5 });
  expect([status, body.name, body.ttl_seconds, body.embedding.dimensions]).toEqual([200, "house", 5, 512]);
  expect(body.indexing).toMatchObject(embedding);
  const find = () => client.post(`/v1/memory/${id}/search`, { query: "boiler" });
  expect((await find()).body.data).toHaveLength(1);
  while ((await client.get(`/v1/memory/${id}`)).body.indexing !== null) await Bun.sleep(5);
  expect((await client.get(`/v1/memory/${id}`)).body).toMatchObject({ embedding, entries: 1 });
  expect((await find()).body.data).toHaveLength(1);
  expect((await client.patch(`/v1/memory/${id}`, { embedding })).body.indexing).toBeNull();
});

test("a text can be found as soon as it was accepted, in each mode, with its metadata", async () => {
  await using server = await start();
  const client = await server.client();
  const { id } = await make(client);
  const entry = await add(client, id, {
    text: "The warranty lasts two years.",
    metadata: { topic: "law", year: 2026 },
  });
  await add(client, id, { text: "Bananas are yellow.", metadata: { topic: "fruit" } });
  expect(entry).toMatchObject({
    object: "memory_entry",
    memory_id: id,
    status: "ready",
    error: null,
    text: "The warranty lasts two years.",
    file_id: null,
    filename: null,
    scope_id: null,
    chunks: 1,
    processed: 1,
    total: 1,
    expires_at: null,
  });
  for (const mode of ["hybrid", "vector", "keyword"]) {
    const { status, body } = await client.post(`/v1/memory/${id}/search`, { query: "warranty years", mode });
    expect([status, body.object, body.has_more]).toEqual([200, "list", false]);
    expect(body.data[0]).toMatchObject({
      id: entry.id,
      object: "memory_match",
      text: entry.text,
      file_id: null,
      filename: null,
      chunk_index: 0,
      page: null,
      heading: null,
      metadata: { topic: "law", year: 2026 },
    });
    expect(body.data[0].score).toBeGreaterThan(0);
  }
  const filtered = { query: "warranty", filter: { year: { $gte: 2027 } } };
  expect((await client.post(`/v1/memory/${id}/search`, filtered)).body.data).toEqual([]);
  expect((await client.get(`/v1/memory/${id}`)).body.entries).toBe(2);
});

test("an invalid search is refused with its fault", async () => {
  await using server = await start();
  const client = await server.client();
  const [{ id }, user, kv] = [
    await make(client),
    await make(client, { scope: "user" }),
    await make(client, { kind: "kv" }),
  ];
  const ask = async (body: unknown, store = id) => refusal(await client.post(`/v1/memory/${store}/search`, body));
  expect(await ask({ query: "a", top_k: 51 })).toEqual([400, "validation_failed", "top_k"]);
  expect(await ask({ query: "a", top_k: 1.5 })).toEqual([400, "validation_failed", "top_k"]);
  expect(await ask('{"query":"a","top_k":NaN}')).toEqual([400, "invalid_json", null]);
  expect(await ask({ query: "a", score_threshold: 1.1 })).toEqual([400, "validation_failed", "score_threshold"]);
  expect(await ask({ query: " " })).toEqual([400, "validation_failed", "query"]);
  expect(await ask({ query: "ä".repeat(4097) })).toEqual([400, "validation_failed", "query"]);
  expect(await ask({ query: "a", mode: "fuzzy" })).toEqual([400, "validation_failed", "mode"]);
  expect(await ask({ query: "a", filter: { year: { $near: 1 } } })).toEqual([
    400,
    "validation_failed",
    "filter.year.$near",
  ]);
  expect(await ask('{"query":"a","filter":{"a":{"__proto__":1}}}')).toEqual([
    400,
    "validation_failed",
    "filter.a.__proto__",
  ]);
  expect(await ask({ query: "a", scope_id: "u" })).toEqual([400, "validation_failed", "scope_id"]);
  expect(await ask({ query: "a" }, user.id)).toEqual([400, "validation_failed", "scope_id"]);
  expect(await ask({ query: "a" }, kv.id)).toEqual([400, "validation_failed", null]);
});

test("one user's memories are found by no other", async () => {
  await using server = await start();
  const client = await server.client();
  const { id } = await make(client, { scope: "user" });
  await add(client, id, { text: "Likes tea.", scope_id: "ann" });
  expect(refusal(await client.post(`/v1/memory/${id}/entries`, { text: "x" }))).toEqual([
    400,
    "validation_failed",
    "scope_id",
  ]);
  const found = async (scope_id: string) =>
    (await client.post(`/v1/memory/${id}/search`, { query: "tea", scope_id })).body.data.length;
  expect([await found("ann"), await found("bob")]).toEqual([1, 0]);
  const listed = async (scope_id: string) =>
    (await client.get(`/v1/memory/${id}/entries?scope_id=${scope_id}&status=ready`)).body.data.length;
  expect([await listed("ann"), await listed("bob")]).toEqual([1, 0]);
});

test("an entry with no content, or two contents, is refused", async () => {
  await using server = await start();
  const client = await server.client();
  const { id } = await make(client);
  const upload = { filename: "a.zip", content_base64: "UEsDBA==", purpose: "attachment" };
  const archive = (await client.post("/v1/files", upload)).body.id;
  const give = async (body: object) => refusal(await client.post(`/v1/memory/${id}/entries`, body));
  expect(await give({})).toEqual([400, "validation_failed", "text"]);
  expect(await give({ text: "a", file_id: archive })).toEqual([400, "validation_failed", "text"]);
  expect(await give({ text: " \n" })).toEqual([400, "validation_failed", "text"]);
  expect(await give({ file_id: newId("file") })).toEqual([400, "validation_failed", "file_id"]);
  expect(await give({ file_id: archive })).toEqual([415, "unsupported_file_type", "file_id"]);
  const chunking = { max_chunk_size_tokens: 200, chunk_overlap_tokens: 150 };
  expect(await give({ text: "a", chunking })).toEqual([400, "validation_failed", "chunking.chunk_overlap_tokens"]);
  expect(await give({ text: "a", metadata: { a: { b: 1 } } })).toEqual([400, "validation_failed", "metadata.a"]);
  expect(rows(server, "memory_entries")).toBe(0);
});

test("the same file is in a store only once", async () => {
  await using server = await start();
  const client = await server.client();
  const { id } = await make(client);
  const upload = { filename: "a.txt", text: "The warranty lasts two years.", purpose: "attachment" };
  const file_id = (await client.post("/v1/files", upload)).body.id;
  const give = (more: object = {}) => client.post(`/v1/memory/${id}/entries`, { file_id, ...more });
  const first = await give();
  expect([first.status, first.body.filename, first.body.text]).toEqual([201, "a.txt", null]);
  const again = await give();
  expect([again.status, again.body.id]).toEqual([200, first.body.id]);
  expect(refusal(await give({ metadata: { a: "b" } }))).toEqual([400, "validation_failed", "file_id"]);
  const other = await make(client);
  expect((await client.post(`/v1/memory/${other.id}/entries`, { file_id })).status).toBe(201);
  expect((await client.get(`/v1/memory/${id}/entries?file_id=${file_id}`)).body.data).toHaveLength(1);
});

test("a deleted entry is not found any more, and nothing of it is left", async () => {
  await using server = await start();
  const client = await server.client();
  const { id } = await make(client);
  const entry = await add(client, id, { text: "Secret plans." });
  await add(client, id, { text: "Public plans." });
  const path = `/v1/memory/${id}/entries/${entry.id}`;
  expect((await client.delete(path)).body).toMatchObject({ id: entry.id, object: "memory_entry", deleted: true });
  expect([(await client.get(path)).status, (await client.delete(path)).status]).toEqual([404, 404]);
  const { body } = await client.post(`/v1/memory/${id}/search`, { query: "plans" });
  expect(body.data.map(({ text }: { text: string }) => text)).toEqual(["Public plans."]);
  expect((await client.get(`/v1/memory/${id}`)).body.entries).toBe(1);
  await server.sweep();
  expect([rows(server, "memory_entries"), rows(server, "memory_chunks")]).toEqual([1, 1]);
  expect(server.db.sqlite.query("SELECT * FROM memory_1_vectors_1").all()).toHaveLength(1);
});

test("a changed entry is found by its new words under the same id, and nothing of the old ones is left", async () => {
  let at = Date.now();
  await using server = await start({ now: () => at });
  const client = await server.client();
  const { id } = await make(client, { scope: "user" });
  const of = { scope_id: "ada" };
  const entry = await add(client, id, { text: "Ada drinks coffee.", metadata: { run_id: "run_1" }, ...of });
  const path = `/v1/memory/${id}/entries/${entry.id}`;
  const found = async (query: string, more: object = {}) =>
    (await client.post(`/v1/memory/${id}/search`, { query, mode: "keyword", ...of, ...more })).body.data.map(
      ({ id, text }: { id: string; text: string }) => [id, text],
    );
  expect(await found("coffee")).toEqual([[entry.id, "Ada drinks coffee."]]);
  at += 1000;
  const { body } = await client.patch(path, { text: "Ada drinks tea." });
  const changed = { ...entry, text: "Ada drinks tea.", updated_at: new Date(at).toISOString() };
  for (const shown of [body, (await client.get(path)).body])
    expect(shown).toEqual({ ...changed, request_id: shown.request_id });
  expect([await found("tea"), await found("coffee")]).toEqual([[[entry.id, "Ada drinks tea."]], []]);
  const [byMeaning] = (await client.post(`/v1/memory/${id}/search`, { query: "tea", mode: "vector", ...of })).body.data;
  expect(byMeaning).toMatchObject({ id: entry.id, text: "Ada drinks tea." });

  expect((await client.patch(path, { metadata: { seen: true } })).body.metadata).toEqual({ seen: true });
  const filtered = (filter: object) => found("tea", { filter });
  expect([await filtered({ seen: { $eq: true } }), await filtered({ run_id: { $eq: "run_1" } })]).toEqual([
    [[entry.id, "Ada drinks tea."]],
    [],
  ]);
  await server.sweep();
  expect([rows(server, "memory_entries"), rows(server, "memory_chunks")]).toEqual([1, 1]);
  expect(server.db.sqlite.query("SELECT * FROM memory_1_vectors_1").all()).toHaveLength(1);
  expect((await client.get(`/v1/memory/${id}`)).body.entries).toBe(1);
  const { data } = (await client.get("/v1/audit_log?action=memory_entry.updated")).body;
  expect(data).toMatchObject([
    { target: { type: "memory_entry", id: entry.id }, details: { memory_id: id, changes: ["metadata"] } },
    { details: { changes: ["text"] } },
  ]);
  expect(JSON.stringify(data)).not.toContain("tea");
});

test("an update without effect writes nothing; one of a file's text, or to an empty text, is refused", async () => {
  let at = Date.now();
  await using server = await start({ now: () => at });
  const client = await server.client();
  const { id } = await make(client);
  const entry = await add(client, id, { text: "Some text.", metadata: { year: 2026 } });
  const path = `/v1/memory/${id}/entries/${entry.id}`;
  at += 1000;
  for (const same of [{}, { text: "Some text." }, { metadata: { year: 2026 } }])
    expect((await client.patch(path, same)).body).toMatchObject({ status: "ready", updated_at: entry.updated_at });
  expect(refusal(await client.patch(path, { text: " \n" }))).toEqual([400, "validation_failed", "text"]);
  expect((await client.patch(path, { scope_id: "ada" })).status).toBe(400);
  const file = (await client.post("/v1/files", { filename: "a.txt", text: "Of a file.", purpose: "retrieval" })).body;
  const ofFile = await add(client, id, { file_id: file.id });
  const filePath = `/v1/memory/${id}/entries/${ofFile.id}`;
  await server.windDown();
  expect(refusal(await client.patch(filePath, { text: "Mine." }))).toEqual([400, "validation_failed", "text"]);
  await client.delete(path);
  expect((await client.patch(path, { text: "Again." })).status).toBe(404);
});

test("a deleted store is gone at once, and its tables soon after; its neighbour stays", async () => {
  await using server = await start();
  const client = await server.client();
  const [gone, stays] = [await make(client), await make(client)];
  for (const { id } of [gone, stays]) await add(client, id, { text: "Some text." });
  expect((await client.delete(`/v1/memory/${gone.id}`)).body).toMatchObject({ object: "memory", deleted: true });
  for (const path of ["", "/entries"]) expect((await client.get(`/v1/memory/${gone.id}${path}`)).status).toBe(404);
  expect((await client.post(`/v1/memory/${gone.id}/search`, { query: "text" })).status).toBe(404);
  expect((await client.get("/v1/memory")).body.data).toHaveLength(1);
  await server.sweep();
  expect([rows(server, "memory_stores"), rows(server, "memory_entries"), rows(server, "memory_chunks")]).toEqual([
    1, 1, 1,
  ]);
  expect(tablesOfStores(server).filter((name) => name.startsWith("memory_1_"))).toEqual([]);
  expect((await client.post(`/v1/memory/${stays.id}/search`, { query: "text" })).body.data).toHaveLength(1);
  const { body } = await client.get("/v1/audit_log?action=memory.deleted");
  expect(body.data).toMatchObject([{ target: { type: "memory", id: gone.id } }]);
  expect((await make(client)).id).toBeString();
  expect(tablesOfStores(server)).toContain("memory_3_forms");
});

test("an expired entry is not found any more, and is deleted later", async () => {
  let at = Date.now();
  await using server = await start({ now: () => at });
  const client = await server.client();
  const { id } = await make(client, { ttl_seconds: 3600 });
  const [short, long] = [
    await add(client, id, { text: "Short words.", ttl_seconds: 60 }),
    await add(client, id, { text: "Long words." }),
  ];
  expect(Date.parse(long.expires_at)).toBe(Date.parse(long.created_at) + 3_600_000);
  at += 60_000;
  const found = async () =>
    (await client.post(`/v1/memory/${id}/search`, { query: "words" })).body.data.map(({ id }: { id: string }) => id);
  expect(await found()).toEqual([long.id]);
  expect((await client.get(`/v1/memory/${id}/entries/${short.id}`)).status).toBe(404);
  expect((await client.get(`/v1/memory/${id}/entries`)).body.data).toHaveLength(1);
  await server.sweep();
  expect([rows(server, "memory_entries"), rows(server, "memory_chunks")]).toEqual([1, 1]);
  expect((await client.get(`/v1/memory/${id}`)).body.entries).toBe(1);
  at += day_ms;
  await server.sweep();
  expect([rows(server, "memory_entries"), rows(server, "memory_chunks")]).toEqual([0, 0]);
});

test("a deleted project leaves no tables of its stores", async () => {
  await using server = await start();
  const [gone, stays] = [await server.client({ project: "gone" }), await server.client({ project: "stays" })];
  for (const client of [gone, stays]) {
    await add(client, (await make(client)).id, { text: "Some text." });
    const { id } = await make(client, { kind: "kv" });
    await client.put(`/v1/memory/${id}/keys/a`, { value: 1 });
  }
  await server.projects.remove(gone.scope.project_id, { type: "cli", id: "test", ip: null, request_id: null });
  await server.windDown();
  expect(tablesOfStores(server).filter((name) => name.startsWith("memory_1_"))).toEqual([]);
  expect([rows(server, "memory_stores"), rows(server, "memory_entries"), rows(server, "memory_keys")]).toEqual([
    2, 1, 1,
  ]);
  expect(tablesOfStores(server)).toContain("memory_3_forms");
  expect(server.db.sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
});

test("a key with the run scope adds, searches and deletes entries; stores require the admin scope", async () => {
  await using server = await start();
  const admin = await server.client();
  const runner = await server.client({ scopes: ["run"] });
  const reader = await server.client({ scopes: ["read"] });
  const { id } = await make(admin);
  const entry = await add(runner, id, { text: "Some text." });
  for (const client of [runner, reader])
    expect((await client.post(`/v1/memory/${id}/search`, { query: "text" })).body.data).toHaveLength(1);
  expect((await reader.post(`/v1/memory/${id}/entries`, { text: "a" })).status).toBe(403);
  expect((await runner.post("/v1/memory", { name: "m", kind: "kv" })).status).toBe(403);
  expect((await runner.delete(`/v1/memory/${id}/entries/${entry.id}`)).status).toBe(200);
});
