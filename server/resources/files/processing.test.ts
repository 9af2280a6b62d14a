import { expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import { silentLog } from "../../lib/log.ts";
import type { DocumentChunk } from "../../runtime/documents/chunking.ts";
import { createDocumentReader } from "../../runtime/sandbox/document-reader.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { FileBlobs } from "../../storage/db/file-blobs.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { docxOf, xlsxOf } from "../../testing/documents.ts";
import { testActor } from "../../testing/test-actor.ts";
import { createDocumentChunks } from "./document-chunks.ts";
import { createDocumentWork } from "./document-work.ts";
import { Processing, type Reader } from "./processing.ts";
import type { IndexingProgress } from "./row.ts";
import { createFileStore } from "./store.ts";

const notIndexed: IndexingProgress = {
  memory_ids: [],
  processed: 0,
  total: 0,
  processing: 0,
  error: null,
  delay: null,
};
const chunk = (text: string): DocumentChunk => ({ text, tokens: text.length, page: null, heading: null });
/** One chunk per line. */
const lines = (text: string) => ({
  chunks: text.split("\n").map(chunk),
  pages: null,
  report: { characters: text.length, encoding: "utf-8", warnings: [] },
});
const textOf = (content: Iterable<Uint8Array>): string => Buffer.concat([...content]).toString();
const lineReader: Reader = { read: async ({ content }) => lines(textOf(content)) };

/** Opens files in a database of their own; `restart` simulates another process. */
function start(reader: Reader = lineReader, places = { count: 1, reserve: 0 }) {
  const db = openDatabase(":memory:");
  let now = Date.now();
  const clock = () => now;
  const blobs = new FileBlobs({ db });
  const work = createDocumentWork({ db, now: clock });
  const chunks = createDocumentChunks({ db });
  const told: { type: string; id: unknown; status: unknown; error: unknown }[] = [];
  let indexed = notIndexed;
  const scopes = new Map<string, Scope>();

  const open = (by: Reader) =>
    new Processing({
      db,
      blobs,
      work,
      chunks,
      reader: by,
      log: silentLog,
      places,
      pause_ms: 1,
      indexedOf: () => indexed,
      announce: (_, type, { id, status, error }) => void told.push({ type, id, status, error }),
      announced: () => {},
      onRead: () => {},
    });
  let processing = open(reader);
  const files = createFileStore({
    db,
    blobs,
    audit: createAudit({ db }),
    work,
    chunks,
    now: clock,
    memory: { of: () => indexed, add: () => {}, forget: () => {}, retry: () => 0 },
    process: () => processing.wake(),
    removed: (id) => processing.forget(id),
  });

  async function author(project: string) {
    if (!scopes.has(project)) {
      const id = newId("project");
      scopes.set(project, { project_id: id, environment: "test" });
      const insert = "INSERT INTO projects (id, name, settings, created_at_ms) VALUES (?, ?, '{}', 0)";
      await db.write(() => db.sqlite.query(insert).run(id, project));
    }
    return { ...scopes.get(project)!, actor: testActor };
  }

  return {
    db,
    files,
    told,
    get processing() {
      return processing;
    },
    indexAs: (next: Partial<IndexingProgress>) => {
      indexed = { ...notIndexed, ...next };
    },
    now: clock,
    advance: (ms: number) => {
      now += ms;
    },
    author,
    async upload(content: string | Uint8Array, filename = "a.txt", project = "p") {
      const by = await author(project);
      const upload = blobs.begin(by);
      const bytes = typeof content === "string" ? Buffer.from(content) : content;
      await upload.append(bytes);
      return files.create(by, { filename, purpose: "retrieval" }, { upload, head: bytes.subarray(0, 4096) });
    },
    get: async (id: string, project = "p") => files.get(await author(project), id),
    texts: async (id: string, project = "p") =>
      chunks.read(await author(project), id, 0, 10_000).map(({ text }) => text),
    async restart(by: Reader = reader) {
      await processing.stop();
      processing = open(by);
      processing.start();
    },
    count: (table: string) => db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n,
    async [Symbol.asyncDispose]() {
      await processing.stop();
      await files.stop();
      await blobs.stop();
      db.close();
    },
  };
}

/** Returns a reader that waits for the test at each document. */
function slowReader() {
  const begun: string[] = [];
  let wake = Promise.withResolvers<void>();
  const waiting: { go: (text: string) => void; signal: AbortSignal }[] = [];
  const reader: Reader = {
    read({ content }, signal) {
      begun.push(textOf(content));
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof lines>>();
      signal.addEventListener("abort", () => reject(signal.reason));
      waiting.push({ go: (text) => resolve(lines(text)), signal });
      wake.resolve();
      wake = Promise.withResolvers();
      return promise;
    },
  };
  return {
    reader,
    begun,
    waiting,
    async reached(count: number) {
      while (begun.length < count) await wake.promise;
    },
  };
}

test("a document is read into chunks that can be paged, and becomes ready", async () => {
  await using server = start();
  const text = Array.from({ length: 450 }, (_, index) => `line ${index}`);
  const file = await server.upload(text.join("\n"));
  expect(file).toMatchObject({ status: "uploaded", chunks: 0, processed: 0, total: null });
  await server.processing.idle();
  expect(await server.get(file.id)).toMatchObject({ status: "ready", error: null, chunks: 450, total: 450 });
  expect(await server.texts(file.id)).toEqual(text);
  const by = await server.author("p");
  const seen: string[] = [];
  for (let from: string | null = null, more = true; more; ) {
    const page: Awaited<ReturnType<typeof server.files.chunks>> = await server.files.chunks(by, file.id, from, 100);
    seen.push(...page.data.map((one) => one.text));
    [from, more] = [page.last_id, page.has_more];
  }
  expect(seen).toEqual(text);
  await expect(server.files.chunks(by, file.id, "450", 10)).rejects.toThrow("not the chunk_index");
  expect(server.told).toEqual([{ type: "file.ready", id: file.id, status: "ready", error: null }]);
});

test("a Word document is read by a child process, with its headings", async () => {
  const reader = createDocumentReader({ level: () => "process", spares: 0 });
  await using server = start(reader);
  const file = await server.upload(docxOf([{ text: "The harbour is closed." }]), "a.docx");
  await server.processing.idle();
  expect(await server.get(file.id)).toMatchObject({ status: "ready", chunks: 1 });
  expect((await server.texts(file.id)).join()).toContain("The harbour is closed.");
  reader.stop();
}, 60_000);

test("a file that is not what its name says is read as what it is, and its report says so", async () => {
  const reader = createDocumentReader({ level: () => "process", spares: 0 });
  await using server = start(reader);
  const page = await server.upload("<html><body><p>The harbour is <b>closed</b>.</p></body></html>", "a.doc");
  const book = await server.upload(xlsxOf([{ name: "S", rows: [["oar", 4711]] }]), "b.docx");
  await server.processing.idle();
  expect(await server.get(page.id)).toMatchObject({
    status: "ready",
    mime_type: "text/html",
    warnings: [{ code: "type_mismatch", message: expect.stringContaining("a web page") }],
  });
  expect((await server.texts(page.id)).join()).toBe("The harbour is **closed**.");
  expect(await server.get(book.id)).toMatchObject({
    status: "ready",
    warnings: [{ code: "type_mismatch", message: expect.stringContaining("workbook") }],
  });
  expect((await server.texts(book.id)).join()).toContain("| oar | 4711 |");
  reader.stop();
}, 60_000);

test("an unreadable document fails with a reason and can be retried; other files cannot", async () => {
  let error: { code: string; message: string } | null = { code: "document_encrypted", message: "It has a password." };
  await using server = start({ read: async ({ content }) => (error ? { error } : lines(textOf(content))) });
  const file = await server.upload("a\nb");
  await server.processing.idle();
  expect(await server.get(file.id)).toMatchObject({ status: "failed", error, chunks: 0 });
  expect(server.told).toEqual([{ type: "file.failed", id: file.id, status: "failed", error }]);
  error = null;
  const by = await server.author("p");
  expect(await server.files.retry(by, file.id)).toMatchObject({ status: "uploaded", error: null });
  await server.processing.idle();
  expect(await server.get(file.id)).toMatchObject({ status: "ready", error: null, chunks: 2 });
  await expect(server.files.retry(by, file.id)).rejects.toThrow("The file is ready.");
});

test("a child process that dies is replaced, but one that dies every time fails its document", async () => {
  let tries = 0;
  const died = { error: { code: "sandbox_failed", message: "It died." } };
  await using server = start({ read: async ({ content }) => (++tries === 2 ? lines(textOf(content)) : died) });
  const first = await server.upload("once");
  await server.processing.idle();
  expect([(await server.get(first.id)).status, tries]).toEqual(["ready", 2]);
  const second = await server.upload("always");
  await server.processing.idle();
  expect(await server.get(second.id)).toMatchObject({ status: "failed", error: died.error });
  expect(tries).toBe(5);
});

test("each project gets its turn, however many documents another one has", async () => {
  const slow = slowReader();
  await using server = start(slow.reader);
  for (const name of ["a1", "a2", "a3"]) await server.upload(name, "a.txt", "a");
  for (const name of ["b1", "c1"]) await server.upload(name, "a.txt", name[0]);
  for (let count = 1; count <= 5; count++) {
    await slow.reached(count);
    slow.waiting[count - 1]!.go("x");
  }
  await server.processing.idle();
  expect(new Set(slow.begun.slice(0, 3).map((name) => name[0]))).toEqual(new Set(["a", "b", "c"]));
  expect(slow.begun.slice(3).sort()).toEqual(["a2", "a3"]);
});

test("each visitor of a project gets their turn, however many documents another one has", async () => {
  const slow = slowReader();
  await using server = start(slow.reader);
  for (const name of ["a1", "a2", "a3", "a4", "b1", "c1"]) {
    const { id } = await server.upload(name);
    server.db.sqlite.run("UPDATE files SET owner = ? WHERE id = ?", [`user:${name[0]}`, id]);
  }
  for (let count = 1; count <= 6; count++) {
    await slow.reached(count);
    slow.waiting[count - 1]!.go("x");
  }
  await server.processing.idle();
  expect(new Set(slow.begun.slice(1, 4))).toEqual(new Set(["a2", "b1", "c1"]));
});

test("slow documents of one project leave a slot to another project's", async () => {
  const slow = slowReader();
  await using server = start(slow.reader, { count: 3, reserve: 1 });
  for (const name of ["a1", "a2", "a3", "a4"]) await server.upload(name, "a.txt", "a");
  await slow.reached(2);
  const quiet = await server.upload("b1", "b.txt", "b");
  await slow.reached(3);
  slow.waiting[2]!.go("x");
  while ((await server.get(quiet.id, "b")).status !== "ready") await Bun.sleep(1);
  expect(slow.begun).toEqual(["a1", "a2", "b1"]);
});

test("a document gets more room within its project's share, and what it gives back goes to a waiting document", async () => {
  const begun: string[] = [];
  const done = Promise.withResolvers<void>();
  const rooms = Promise.withResolvers<() => (() => void) | null>();
  const starts = new Map(["a1", "a2", "b1"].map((name) => [name, Promise.withResolvers<void>()]));
  const reader: Reader = {
    async read({ content }, _, { takeRoom }) {
      const name = textOf(content);
      begun.push(name);
      starts.get(name)!.resolve();
      if (name === "a1") rooms.resolve(takeRoom);
      await done.promise;
      return lines(name);
    },
  };
  await using server = start(reader, { count: 3, reserve: 1 });
  await server.upload("a1", "a.txt", "a");
  const takeRoom = await rooms.promise;
  const giveBack = takeRoom();
  expect([giveBack === null, takeRoom()]).toEqual([false, null]);
  await server.upload("a2", "a.txt", "a");
  expect(begun).toEqual(["a1"]);
  giveBack?.();
  await starts.get("a2")!.promise;
  expect(takeRoom()).toBeNull();
  await server.upload("b1", "b.txt", "b");
  await starts.get("b1")!.promise;
  done.resolve();
  await server.processing.idle();
  expect(begun).toEqual(["a1", "a2", "b1"]);
});

test("a document that was read halfway is read again from its start, without duplicates", async () => {
  await using server = start();
  const text = Array.from({ length: 250 }, (_, index) => `line ${index}`);
  await server.processing.stop();
  const file = await server.upload(text.join("\n"));
  // The state left by a process that dies between two writes.
  const scope = await server.author("p");
  const half = createDocumentChunks(server);
  await server.db.write(() => {
    half.insert(scope, file.id, text.slice(0, 200).map(chunk), 0);
    server.db.sqlite.query("UPDATE files SET status = 'processing', attempts = 1").run();
  });
  await server.restart();
  await server.processing.idle();
  expect(await server.texts(file.id)).toEqual(text);
  expect(server.told).toHaveLength(1);
});

test("a document that crashed the server too often is given up", async () => {
  const slow = slowReader();
  await using server = start(slow.reader);
  await server.processing.stop();
  const file = await server.upload("x");
  await server.db.write(() => server.db.sqlite.query("UPDATE files SET status = 'processing', attempts = 5").run());
  await server.restart();
  await server.processing.idle();
  expect(await server.get(file.id)).toMatchObject({ status: "failed", error: { code: "sandbox_failed" } });
  expect(slow.begun).toEqual([]);
});

test("a stop cancels the reading, and does not count against the document", async () => {
  const slow = slowReader();
  await using server = start(slow.reader);
  const file = await server.upload("a\nb");
  for (let stops = 1; stops <= 7; stops++) {
    await slow.reached(stops);
    await server.restart();
  }
  await slow.reached(8);
  slow.waiting[7]!.go("a\nb");
  await server.processing.idle();
  expect(await server.texts(file.id)).toEqual(["a", "b"]);
});

test("a file that is being read shows how many pages are done, from the start again if it is read again", async () => {
  const starts = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ends = Promise.withResolvers<void>();
  let reads = 0;
  await using server = start({
    async read({ content }, signal, { onPages }) {
      const isFirst = reads++ === 0;
      if (isFirst) onPages(3, 8);
      starts[isFirst ? 0 : 1]!.resolve();
      const stopped = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      await Promise.race([ends.promise, stopped]);
      return { ...lines(textOf(content)), pages: 8 };
    },
  });
  const file = await server.upload("a\nb");
  await starts[0]!.promise;
  while ((await server.get(file.id)).pages_done === null) await Bun.sleep(1);
  expect(await server.get(file.id)).toMatchObject({ status: "processing", pages: 8, pages_done: 3 });
  await server.restart();
  await starts[1]!.promise;
  expect(await server.get(file.id)).toMatchObject({ status: "processing", pages: null, pages_done: null });
  ends.resolve();
  await server.processing.idle();
  expect(await server.get(file.id)).toMatchObject({ status: "ready", pages: 8, pages_done: 8 });
});

test("a file that is deleted during its reading is gone at once, and its reading stops", async () => {
  const slow = slowReader();
  await using server = start(slow.reader);
  const file = await server.upload("a");
  await slow.reached(1);
  await server.files.remove(await server.author("p"), file.id);
  expect(slow.waiting[0]!.signal.aborted).toBe(true);
  await server.processing.idle();
  expect([server.count("files"), server.count("document_chunks"), server.count("file_blobs")]).toEqual([0, 0, 0]);
  expect(server.told).toEqual([]);
});

test("a long document that is deleted or expires is hidden at once, and deleted in batches", async () => {
  await using server = start();
  const text = Array.from({ length: 900 }, (_, index) => `line ${index}`).join("\n");
  const [deleted, expiring] = [await server.upload(text), await server.upload(text)];
  await server.processing.idle();
  const by = await server.author("p");
  await server.files.remove(by, deleted.id);
  expect(() => server.files.get(by, deleted.id)).toThrow();
  expect(server.count("document_chunks")).toBeGreaterThan(900);
  while (server.count("document_chunks") > 900) await Bun.sleep(1);
  expect(server.files.get(by, expiring.id).chunks).toBe(900);
  await server.db.write(() => server.db.sqlite.query("UPDATE files SET expires_at_ms = ?").run(server.now() + 1000));
  server.advance(2000);
  for (let more = 1; more > 0; ) more = await server.db.write(() => server.files.forgetExpired(500));
  expect([server.count("files"), server.count("document_chunks"), server.count("file_blobs")]).toEqual([0, 0, 0]);
});

test("reading waits for a full disk, and no document is lost", async () => {
  await using server = start();
  const text = Array.from({ length: 500 }, (_, index) => `line ${index}`);
  const pages = server.db.sqlite.query<{ n: number }, []>("SELECT page_count AS n FROM pragma_page_count").get()!.n;
  const file = await server.upload(text.join("\n"));
  server.db.sqlite.run(`PRAGMA max_page_count = ${pages + 1}`);
  while ((await server.get(file.id)).status !== "processing") await Bun.sleep(1);
  await Bun.sleep(20); // The write is refused again and again meanwhile.
  expect((await server.get(file.id)).status).toBe("processing");
  server.db.sqlite.run("PRAGMA max_page_count = 1073741823");
  await server.processing.idle();
  expect(await server.texts(file.id)).toEqual(text);
});

test("a file for a memory store is ready when the store has it, or fails with it", async () => {
  await using server = start();
  server.indexAs({ memory_ids: ["mem_1"], processing: 1, total: null });
  const [good, bad] = [await server.upload("a\nb"), await server.upload("c")];
  await server.processing.idle();
  expect(await server.get(good.id)).toMatchObject({
    status: "processing",
    chunks: 2,
    memory_ids: ["mem_1"],
    total: null,
  });
  const delay = { code: "embedding_failed", message: "The model does not answer." };
  server.indexAs({ memory_ids: ["mem_1"], processing: 1, total: 2, delay });
  expect(await server.get(good.id)).toMatchObject({ status: "processing", error: delay });
  const by = await server.author("p");
  server.indexAs({ memory_ids: ["mem_1"], processed: 2, total: 2 });
  await server.db.write(() => server.processing.settle(by, good.id));
  expect(await server.get(good.id)).toMatchObject({ status: "ready", error: null, processed: 2, total: 2 });
  const error = { code: "model_not_available", message: "There is none." };
  server.indexAs({ memory_ids: ["mem_1"], error });
  await server.processing.look();
  expect(await server.get(bad.id)).toMatchObject({ status: "failed", error });
  expect(server.told.map(({ type }) => type)).toEqual(["file.ready", "file.failed"]);
});
