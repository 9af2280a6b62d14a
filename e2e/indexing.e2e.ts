import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { docxOf, pdfOf } from "../server/testing/documents.ts";
import { startWebhookReceiver } from "../server/testing/webhook-receiver.ts";
import { startEmbeddingServer } from "./embedding-server.ts";
import { stubConnection } from "./fixtures.ts";
import { type Json, parseResponse, type Runnel, startRunnel } from "./harness.ts";
import { canMount, smallDisk } from "./small-disk.ts";
import { patience_ms, waitUntil } from "./until.ts";

// From a document to a search result, on the executable with its own embedding model, parsers and jail.

async function createStore(server: Runnel, embedding?: Json): Promise<string> {
  const store = { name: "handbook", kind: "vector", scope: "project", embedding };
  const { status, body } = await server.post("/v1/memory", store);
  expect({ status, error: body.error }).toEqual({ status: 201, error: undefined });
  return body.id;
}

async function upload(
  server: Runnel,
  filename: string,
  content: string | Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
): Promise<Json> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ purpose: "retrieval", ...fields })) form.append(name, value);
  form.append("file", new Blob([content]), filename);
  const { status, body } = await parseResponse(await server.fetch("/v1/files", { method: "POST", body: form }));
  expect({ status, error: body.error }).toEqual({ status: 201, error: null });
  return body;
}

/** Returns the file once it is ready or failed. */
async function ended(server: Runnel, id: string): Promise<Json> {
  for (const end = performance.now() + patience_ms; ; await Bun.sleep(20)) {
    const { body } = await server.get(`/v1/files/${id}`);
    if (body.status === "ready" || body.status === "failed") return body;
    if (performance.now() > end) throw new Error(`It did not end: ${JSON.stringify(body)}\n${server.log()}`);
  }
}

async function search(server: Runnel, store: string, query: string): Promise<Json[]> {
  const { status, body } = await server.post(`/v1/memory/${store}/search`, { query, top_k: 3 });
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
  return body.data;
}

/** Returns row counts of the database, as another process sees it. */
function countRows({ dataDir }: Runnel, generation = 1): Record<string, number> {
  const sqlite = new Database(join(dataDir, "runnel.db"), { readonly: true });
  try {
    const count = (table: string) => sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n;
    return {
      files: count("files"),
      blobs: count("file_blobs"),
      document_chunks: count("document_chunks"),
      entries: count("memory_entries"),
      chunks: count("memory_chunks"),
      vectors: count(`memory_1_vectors_${generation}_rowids`),
      words: count("memory_1_forms_docsize"),
    };
  } finally {
    sqlite.close();
  }
}

function hasTable({ dataDir }: Runnel, name: string): boolean {
  const sqlite = new Database(join(dataDir, "runnel.db"), { readonly: true });
  try {
    return sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== null;
  } finally {
    sqlite.close();
  }
}

/** Creates a document of this many sections, each a chunk of its own. */
const sections = (count: number): string =>
  Array.from({ length: count }, (_, at) => `# Section ${at}\n\nParagraph ${at} is about ship number ${at}.`).join(
    "\n\n",
  );

test("a PDF and a Word document are found by synonyms, with page and heading", async () => {
  await using receiver = startWebhookReceiver();
  await using server = await startRunnel();
  await server.post("/v1/webhooks", { url: receiver.url, events: ["file.ready", "file.failed"] });
  const memory_id = await createStore(server);
  const pdf = await upload(
    server,
    "manual.pdf",
    pdfOf([
      "# Opening hours\nThe office is closed on public holidays.",
      "# Cats\nThe kitten sleeps on the sofa all day.",
    ]),
    { memory_id },
  );
  expect(["uploaded", "processing"]).toContain(pdf.status);
  const docx = await upload(
    server,
    "vehicles.docx",
    docxOf([{ heading: "Cars", text: "The automobile needs petrol every week." }]),
    { memory_id },
  );
  for (const { id } of [pdf, docx]) {
    const file = await ended(server, id);
    expect(file).toMatchObject({ status: "ready", error: null, memory_ids: [memory_id] });
    expect(file.chunks).toBeGreaterThan(0);
    expect([file.processed, file.total]).toEqual([file.chunks, file.chunks]);
  }
  expect((await search(server, memory_id, "Where does the cat nap?"))[0]).toMatchObject({
    file_id: pdf.id,
    filename: "manual.pdf",
  });
  expect((await search(server, memory_id, "fuel for my car"))[0]).toMatchObject({ file_id: docx.id });
  const { body: chunks } = await server.get(`/v1/files/${pdf.id}/chunks?limit=1`);
  expect(chunks).toMatchObject({ object: "list", has_more: true, first_id: "0", last_id: "0" });
  expect(chunks.data[0]).toMatchObject({ chunk_index: 0, page: 1, tokens: expect.any(Number) });
  const events = (await receiver.heard(2)).map(({ body }) => JSON.parse(body));
  expect(events.map(({ type }) => type)).toEqual(["file.ready", "file.ready"]);
  expect(events.map(({ data }) => data.object.id).sort()).toEqual([pdf.id, docx.id].sort());
});

test.each([
  ["mid_document", 2],
  ["mid_chunks", 2],
  ["mid_indexing", 4],
])("a kill -9 at %s neither loses nor doubles a chunk, a vector or a word", async (point, times) => {
  await using embeddings = startEmbeddingServer(64); // The built-in model takes half a minute for as many on two cores.
  const environment = stubConnection(embeddings.url);
  await using server = await startRunnel({ environment });
  const memory_id = await createStore(server, { model: "openai_compatible/stub/words", dimensions: 64 });
  await server.stop();
  await server.restart({ ...environment, RUNNEL_FAILPOINT: `${point}:${times}` });
  const answer = upload(server, "ships.md", sections(500), { memory_id }).catch(() => null);
  expect(await server.died()).toBe("SIGKILL");
  await answer;
  await server.restart(environment);
  const [{ id }] = (await server.get("/v1/files")).body.data;
  const file = await ended(server, id);
  const { chunks } = file;
  expect(chunks).toBeGreaterThanOrEqual(500);
  expect(file).toMatchObject({ status: "ready", processed: chunks, total: chunks });
  expect(countRows(server)).toEqual({
    files: 1,
    blobs: 1,
    document_chunks: chunks,
    entries: 1,
    chunks,
    vectors: chunks,
    words: chunks,
  });
  expect((await search(server, memory_id, "ship number 321"))[0].text).toContain("ship number 321");
});

test("a file that is no document fails with its reason, can be retried, and the server stays healthy", async () => {
  await using receiver = startWebhookReceiver();
  await using server = await startRunnel();
  await server.post("/v1/webhooks", { url: receiver.url, events: ["file.failed"] });
  const memory_id = await createStore(server);
  const broken = await upload(server, "broken.pdf", "%PDF-1.7\nThis is none.", { memory_id });
  const file = await ended(server, broken.id);
  expect(file).toMatchObject({ status: "failed", error: { code: "document_unreadable" }, chunks: 0 });
  const [event] = await receiver.heard(1);
  expect(JSON.parse(event!.body)).toMatchObject({ type: "file.failed", data: { object: { id: broken.id } } });
  await waitUntil(async () => (await server.get(`/v1/memory/${memory_id}/entries`)).body.data[0].status === "failed");
  expect((await server.post(`/v1/files/${broken.id}/retry`)).status).toBe(200);
  expect(await ended(server, broken.id)).toMatchObject({ status: "failed" });
  const good = await upload(server, "good.txt", "All is well.", { memory_id });
  expect(await ended(server, good.id)).toMatchObject({ status: "ready" });
  expect((await server.post(`/v1/files/${good.id}/retry`)).body.error.code).toBe("file_not_failed");
  expect(server.log()).not.toContain("This is none");
});

test("a document that the server could not read is read and found after a retry", async () => {
  await using receiver = startWebhookReceiver();
  await using server = await startRunnel({ environment: { RUNNEL_SANDBOX: "off" } });
  await server.post("/v1/webhooks", { url: receiver.url, events: ["file.ready", "file.failed"] });
  const memory_id = await createStore(server);
  const { id } = await upload(server, "cats.pdf", pdfOf(["# Cats\nThe kitten sleeps on the sofa."]), { memory_id });
  expect(await ended(server, id)).toMatchObject({ status: "failed", error: { code: "sandbox_unavailable" } });
  await receiver.heard(1);
  expect(await search(server, memory_id, "Where does the cat nap?")).toEqual([]);
  // Plain text has no format to parse: it needs no sandbox, however long it is.
  const text = `${"The harbour is busy in summer. ".repeat(600)}\n\nThe lighthouse keeper is called Ada.`;
  const { body: entry } = await server.post(`/v1/memory/${memory_id}/entries`, { text });
  const readEntry = async () => (await server.get(`/v1/memory/${memory_id}/entries/${entry.id}`)).body;
  await waitUntil(async () => (await readEntry()).status !== "processing");
  expect(await readEntry()).toMatchObject({ status: "ready", error: null, chunks: 8, processed: 8 });
  const [keeper] = await search(server, memory_id, "What is the name of the lighthouse keeper?");
  expect(keeper.text).toEndWith("called Ada.");

  await server.stop();
  await server.restart({});
  expect(await ended(server, id)).toMatchObject({ status: "failed" }); // No retry was requested.
  const { status, body } = await server.post(`/v1/files/${id}/retry`);
  expect({ status, error: body.error }).toEqual({ status: 200, error: null });
  expect(await ended(server, id)).toMatchObject({ status: "ready", error: null, chunks: 1, processed: 1, total: 1 });
  expect((await search(server, memory_id, "Where does the cat nap?"))[0]).toMatchObject({ file_id: id, page: 1 });
  const types = (await receiver.heard(2)).map(({ body }) => JSON.parse(body).type);
  expect(types).toEqual(["file.failed", "file.ready"]);
});

test("a change of the embedding survives a kill -9 in its middle, while the old one is searched", async () => {
  await using old = startEmbeddingServer(32);
  await using embeddings = startEmbeddingServer(64);
  const environment = {
    ...stubConnection(embeddings.url),
    RUNNEL_MODEL_OLD_BASE_URL: old.url,
    RUNNEL_MODEL_OLD_API_KEY: "none",
  };
  await using server = await startRunnel({ environment });
  const memory_id = await createStore(server, { model: "openai_compatible/old/words", dimensions: 32 });
  const { id } = await upload(server, "ships.md", sections(300), { memory_id });
  const { chunks } = await ended(server, id);
  await server.stop();
  await server.restart({ ...environment, RUNNEL_FAILPOINT: "mid_reindexing:3" });
  const embedding = { model: "openai_compatible/stub/words", dimensions: 64 };
  const patch = server.fetch(`/v1/memory/${memory_id}`, { method: "PATCH", body: JSON.stringify({ embedding }) });
  expect(await server.died()).toBe("SIGKILL");
  expect((await patch.catch(() => null))?.status ?? 200).toBe(200);

  const goOn = embeddings.hold();
  await server.restart(environment);
  const { indexing } = (await server.get(`/v1/memory/${memory_id}`)).body;
  expect(indexing).toMatchObject({ ...embedding, total: chunks, error: null });
  expect(indexing.processed).toBeGreaterThan(0);
  expect(indexing.processed).toBeLessThan(chunks);
  expect((await search(server, memory_id, "ship number 213"))[0].text).toContain("ship number 213");
  goOn();
  await waitUntil(async () => (await server.get(`/v1/memory/${memory_id}`)).body.indexing === null);
  expect((await server.get(`/v1/memory/${memory_id}`)).body.embedding).toEqual(embedding);
  expect(countRows(server, 2)).toMatchObject({ chunks, vectors: chunks, words: chunks });
  expect((await search(server, memory_id, "ship number 213"))[0].text).toContain("ship number 213");
  await waitUntil(() => !hasTable(server, "memory_1_vectors_1"));
});

test.skipIf(!canMount())(
  "indexing waits for space on a full disk, also over a restart, and loses nothing",
  async () => {
    using disk = smallDisk(96);
    await using embeddings = startEmbeddingServer(512);
    await using server = await startRunnel({
      dataDir: join(disk.path, "data"),
      environment: stubConnection(embeddings.url),
      flags: ["--min-free-disk", "0"], // Otherwise the disk could not be filled up like this.
    });
    const memory_id = await createStore(server, { model: "openai_compatible/stub/words", dimensions: 512 });
    const before = embeddings.requests();
    const goOn = embeddings.hold();
    const { id } = await upload(server, "ships.md", sections(500), { memory_id });
    await waitUntil(() => embeddings.requests() > before);
    // Fills it to the last page: first by large writes, then by small ones.
    for (const size of [50_000, 1000])
      await waitUntil(async () => {
        disk.fillUpTo(0);
        const agent = { name: "Filler", instructions: "x".repeat(size), model: "test/echo" };
        return (await server.post("/v1/agents", agent)).status === 507;
      });
    goOn();
    for (let look = 0; look < 10; look++) {
      expect(await server.get(`/v1/files/${id}`)).toMatchObject({
        status: 200,
        body: { status: "processing", error: null, processed: 0 },
      });
      await Bun.sleep(100);
    }
    await server.kill9();
    await server.restart();
    expect((await server.get(`/v1/files/${id}`)).body.status).toBe("processing");

    disk.empty();
    const file = await ended(server, id);
    const { chunks } = file;
    expect(file).toMatchObject({ status: "ready", error: null, processed: chunks, total: chunks });
    expect(countRows(server)).toMatchObject({ document_chunks: chunks, chunks, vectors: chunks, words: chunks });
    expect((await search(server, memory_id, "ship number 321"))[0].text).toContain("ship number 321");
  },
);

test("a deleted file is found in no store any more, and leaves no row", async () => {
  await using embeddings = startEmbeddingServer(64);
  await using server = await startRunnel({ environment: stubConnection(embeddings.url) });
  const embedding = { model: "openai_compatible/stub/words", dimensions: 64 };
  const [memory_id, second] = [await createStore(server, embedding), await createStore(server, embedding)];
  const [file, other] = [
    await upload(server, "ships.md", sections(500), { memory_id }),
    await upload(server, "cats.md", "The kitten sleeps on the sofa all day.", { memory_id }),
  ];
  for (const { id } of [file, other]) expect(await ended(server, id)).toMatchObject({ status: "ready" });
  expect((await server.post(`/v1/memory/${second}/entries`, { file_id: file.id })).status).toBe(201);
  await waitUntil(async () => (await server.get(`/v1/memory/${second}/entries`)).body.data[0].status === "ready");
  expect((await server.get(`/v1/files/${file.id}`)).body.memory_ids).toEqual([memory_id, second]);
  for (const store of [memory_id, second])
    expect((await search(server, store, "ship number 321"))[0].file_id).toBe(file.id);
  expect((await server.fetch(`/v1/files/${file.id}`, { method: "DELETE" })).status).toBe(200);
  const left = await search(server, memory_id, "ship number 321");
  expect(left.map(({ file_id }) => file_id)).not.toContain(file.id);
  expect(await search(server, second, "ship number 321")).toEqual([]);
  expect((await server.get(`/v1/files/${file.id}/chunks`)).status).toBe(404);
  const one = { files: 1, blobs: 1, document_chunks: 1, entries: 1, chunks: 1, vectors: 1, words: 1 };
  await waitUntil(() => Bun.deepEquals(countRows(server), one));
  expect((await search(server, memory_id, "Where does the cat nap?"))[0].file_id).toBe(other.id);
});
