import { expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import { vecLibrary } from "../../lib/assets.ts";
import { silentLog } from "../../lib/log.ts";
import type { DocumentChunk } from "../../runtime/documents/chunking.ts";
import { type Embedder, EmbeddingError } from "../../runtime/retrieval/embeddings/embedder.ts";
import { findByAllWords } from "../../runtime/retrieval/vector-search/keyword.ts";
import { createStoreTables, removeChunks } from "../../runtime/retrieval/vector-search/tables.ts";
import { foldedWordText } from "../../runtime/retrieval/vector-search/word-text.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { createEntryStore } from "./entries.ts";
import { createIndexer } from "./indexer.ts";
import type { StoreRow } from "./row.ts";

const library = vecLibrary("/nonexistent");

/** Returns a vector that identifies its model and its text. */
const vectorOf = (model: string, dimensions: number, text: string): Float32Array<ArrayBuffer> => {
  const hash = Bun.hash.crc32(text);
  return Float32Array.from({ length: dimensions }, (_, index) =>
    index === 0 ? model.length : ((hash >>> (index % 31)) & 1) + 0.5,
  );
};

type Embed = (model: string, texts: readonly string[]) => void | Promise<void>;

/** Opens stores and entries in a database of their own; `restart` simulates another process. */
function start(options: { embed?: Embed; pause_ms?: number } = {}) {
  const db = openDatabase(":memory:", { vecLibrary: library });
  const { sqlite } = db;
  const scopes = new Map<string, Scope>();
  const documents = new Map<string, { chunks: DocumentChunk[]; failed: { code: string; message: string } | null }>();
  const settledFiles: string[] = [];
  const demanded: string[] = [];
  const forgotten: number[] = [];
  const batches: { model: string; texts: string[] }[] = [];
  let embed: Embed = options.embed ?? (() => {});
  let number = 0;

  const embedders = {
    of: (model: string, dimensions: number): Embedder => ({
      async embed(texts, signal) {
        batches.push({ model, texts: [...texts] });
        await embed(model, texts);
        signal?.throwIfAborted();
        return texts.map((text) => vectorOf(model, dimensions, text));
      },
    }),
  };
  const open = () =>
    createIndexer({
      db,
      embedders,
      log: silentLog,
      pause_ms: options.pause_ms ?? 1,
      forget: (store) => void forgotten.push(store),
      documents: {
        reading: (_, id) => {
          const known = documents.get(id);
          return known ? { chunks: known.chunks.length, failed: known.failed, isWanted: false } : null;
        },
        chunks: (_, id, from, limit) => documents.get(id)!.chunks.slice(from, from + limit),
        demand: (_, id) => void demanded.push(id),
        settle: (_, id) => void settledFiles.push(id),
      },
    });
  let indexer = open();

  async function scope(project: string): Promise<Scope> {
    const known = scopes.get(project);
    if (known) return known;
    const made: Scope = { project_id: newId("project"), environment: "test" };
    scopes.set(project, made);
    const insert = "INSERT INTO projects (id, name, settings, created_at_ms) VALUES (?, ?, '{}', 0)";
    await db.write(() => sqlite.query(insert).run(made.project_id, project));
    return made;
  }

  const count = (sql: string): number => sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${sql}`).get()!.n;

  return {
    db,
    sqlite,
    documents,
    settledFiles,
    demanded,
    forgotten,
    batches,
    count,
    get indexer() {
      return indexer;
    },
    embedAs: (next: Embed) => {
      embed = next;
    },
    async store(project = "p", model = "m", dimensions = 8): Promise<StoreRow> {
      const { project_id, environment } = await scope(project);
      const id = newId("memory");
      const own = ++number;
      await db.write(() => {
        sqlite
          .query(
            `INSERT INTO memory_stores (project_id, environment, id, number, name, kind, scope, model, dimensions,
               generation, last_generation, metadata, created_at_ms, updated_at_ms)
             VALUES (?, ?, ?, ?, ?, 'vector', 'project', ?, ?, 1, 1, '{}', 0, 0)`,
          )
          .run(project_id, environment, id, own, id, model, dimensions);
        createStoreTables(sqlite, { number: own, generation: 1, dimensions });
      });
      return row(id);
    },
    row,
    async add({ project_id, environment, id }: StoreRow, content: { text: string } | { file_id: string }) {
      const entry = newId("memory_entry");
      const { text = null, file_id = null } = content as { text?: string; file_id?: string };
      const at = Date.now();
      await db.write(() =>
        sqlite
          .query(
            `INSERT INTO memory_entries (project_id, environment, id, memory_id, scope_id, file_id, text, chunking,
               metadata, status, created_at_ms, updated_at_ms)
             VALUES (?, ?, ?, ?, '', ?, ?, '{"max_chunk_size_tokens":800,"chunk_overlap_tokens":200}', '{}',
               'processing', ?, ?)`,
          )
          .run(project_id, environment, entry, id, file_id, text, at, at),
      );
      indexer.wake();
      return entry;
    },
    /** Changes the entries of this store as requests do. */
    entries: (store: StoreRow) =>
      createEntryStore({
        db,
        indexer,
        audit: { note: () => {}, forgetOlder: () => 0 },
        fileFor: () => null,
        onDelete: () => {},
        stores: { find: () => store, facts: () => store },
      }),
    author: ({ project_id, environment }: StoreRow) => ({
      project_id,
      environment,
      actor: { type: "cli" as const, id: "test", ip: null, request_id: null },
    }),
    /** Adds an entry of a file that has been read, with this number of chunks. */
    document(chunks: number): string {
      const id = newId("file");
      const text = (index: number) => `chunk ${index} of ${id}`;
      const made = Array.from({ length: chunks }, (_, index) => ({
        text: text(index),
        tokens: 5,
        page: 1,
        heading: null,
      }));
      documents.set(id, { chunks: made, failed: null });
      return id;
    },
    change: (store: StoreRow, model: string, dimensions: number) =>
      db.write(() =>
        sqlite
          .query(
            "UPDATE memory_stores SET next_model = ?, next_dimensions = ?, last_generation = last_generation + 1 WHERE id = ?",
          )
          .run(model, dimensions, store.id),
      ),
    entry: (id: string) =>
      sqlite
        .query<{ status: string; error: string | null; processed: number; total: number }, [string]>(
          "SELECT status, error, processed, total FROM memory_entries WHERE id = ?",
        )
        .get(id)!,
    /**
     * Checks that every chunk of a store has exactly one vector, of its text and the store's model, and its words, and
     * that there are no others.
     */
    expectWhole(store: StoreRow, chunks: number): void {
      const { number, generation, dimensions, model } = row(store.id);
      const vectors = sqlite
        .query<{ text: string; embedding: Uint8Array }, []>(
          `SELECT c.text, v.embedding FROM memory_${number}_vectors_${generation} v JOIN memory_chunks c ON c.number = v.rowid`,
        )
        .all();
      expect(count(`memory_chunks WHERE store = ${number}`)).toBe(chunks);
      expect(count(`memory_${number}_vectors_${generation}`)).toBe(chunks);
      expect(vectors).toHaveLength(chunks);
      for (const { text, embedding } of vectors)
        expect(new Float32Array(embedding.slice().buffer)).toEqual(vectorOf(model!, dimensions!, text));
      expect(count(`memory_${number}_forms_docsize`)).toBe(chunks);
      expect(
        sqlite.query(`INSERT INTO memory_${number}_forms (memory_${number}_forms) VALUES ('integrity-check')`).run(),
      );
    },
    async restart(): Promise<void> {
      await indexer.stop();
      indexer = open();
      indexer.start();
    },
    async [Symbol.asyncDispose]() {
      await indexer.stop();
      db.close();
    },
  };

  function row(id: string): StoreRow {
    return sqlite.query<StoreRow, [string]>("SELECT * FROM memory_stores WHERE id = ?").get(id)!;
  }
}

// Timeout for a test that hangs.
const patience_ms = 50_000;

async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + patience_ms; !holds(); await Bun.sleep(1))
    if (performance.now() > end) throw new Error(`Waited in vain: ${holds}`);
}

test("a text can be found once its creator has waited", async () => {
  await using memory = start();
  const store = await memory.store();
  const id = await memory.add(store, { text: "The harbour is closed." });
  await memory.indexer.settled(id, patience_ms);
  expect(memory.entry(id)).toEqual({ status: "ready", error: null, processed: 1, total: 1 });
  memory.expectWhole(store, 1);
});

test("a text that changes during its embedding is indexed in its new version, whatever the old call returns", async () => {
  for (const answer of ["given", "refused"]) {
    await using memory = start();
    const store = await memory.store();
    const asked = Promise.withResolvers<void>();
    const changed = Promise.withResolvers<void>();
    memory.embedAs(async (_, [text]) => {
      if (text !== "The harbour is closed.") return;
      asked.resolve();
      await changed.promise;
      if (answer === "refused") throw new EmbeddingError("embedding_failed", "Not this text.");
    });
    const id = await memory.add(store, { text: "The harbour is closed." });
    await asked.promise;
    const waited = memory.entries(store).update(memory.author(store), store.id, id, { text: "The harbour is open." });
    await until(() => memory.entry(id).total === null);
    changed.resolve();
    await waited;
    await until(() => memory.entry(id).status !== "processing");
    expect(memory.entry(id)).toEqual({ status: "ready", error: null, processed: 1, total: 1 });
    const texts = memory.sqlite.query("SELECT text FROM memory_chunks WHERE entry_id = ?").values(id);
    expect(texts).toEqual([["The harbour is open."]]);
    for (const [word, chunks] of [
      ["closed", 0],
      ["open", 1],
    ] as const)
      expect(findByAllWords(memory.sqlite, store.number, word).scores.size).toBe(chunks);
  }
});

test("a long document is indexed in batches, with visible progress", async () => {
  await using memory = start();
  const store = await memory.store();
  const seen: number[] = [];
  memory.embedAs(() => void seen.push(memory.entry(id).processed));
  const file = memory.document(450);
  const id = await memory.add(store, { file_id: file });
  await memory.indexer.settled(id, patience_ms);
  expect(memory.entry(id)).toEqual({ status: "ready", error: null, processed: 450, total: 450 });
  expect(seen).toEqual(Array.from({ length: 15 }, (_, index) => index * 32));
  expect(memory.settledFiles).toEqual([file]);
  memory.expectWhole(store, 450);
});

test("restarts in the middle lose nothing and duplicate nothing", async () => {
  await using memory = start();
  const store = await memory.store();
  let batches = 0;
  const reached = () => batches;
  memory.embedAs(async () => {
    batches++;
    await Bun.sleep(1);
  });
  const ids = [await memory.add(store, { file_id: memory.document(300) }), await memory.add(store, { text: "One." })];
  for (let stops = 1; stops <= 5; stops++) {
    await until(() => reached() >= stops * 2);
    await memory.restart();
  }
  await until(() => ids.every((id) => memory.entry(id).status === "ready"));
  expect(memory.entry(ids[0]!)).toMatchObject({ processed: 300, total: 300 });
  memory.expectWhole(store, 301);
});

test("chunks that a process left half indexed are completed", async () => {
  await using memory = start();
  const store = await memory.store();
  await memory.indexer.stop();
  const file = memory.document(250);
  const id = await memory.add(store, { file_id: file });
  const insert = memory.sqlite.query(
    `INSERT INTO memory_chunks (project_id, environment, entry_id, store, chunk_index, text, tokens) VALUES (?, ?, ?, ?, ?, ?, 5)`,
  );
  await memory.db.write(() => {
    for (const [index, { text }] of memory.documents.get(file)!.chunks.slice(0, 200).entries())
      insert.run(store.project_id, store.environment, id, store.number, index, text);
  });
  await memory.restart();
  await memory.indexer.settled(id, patience_ms);
  expect(memory.entry(id)).toMatchObject({ status: "ready", processed: 250, total: 250 });
  memory.expectWhole(store, 250);
});

test("a small store waits neither for a large one nor for another project's", async () => {
  await using memory = start();
  const [large, small, foreign] = [await memory.store(), await memory.store(), await memory.store("other")];
  memory.embedAs(() => Bun.sleep(1));
  const long = await memory.add(large, { file_id: memory.document(2000) });
  await until(() => memory.batches.length > 1);
  for (const store of [small, foreign])
    await memory.indexer.settled(await memory.add(store, { text: "x" }), patience_ms);
  expect(memory.entry(long).status).toBe("processing");
  expect(memory.entry(long).processed).toBeLessThan(1000);
});

test("stores of a project whose model never answers leave a slot to another project's", async () => {
  await using memory = start();
  const { promise: gate, resolve: goOn } = Promise.withResolvers<void>();
  memory.embedAs((_, texts) => (texts.includes("quiet") ? undefined : gate));
  for (let index = 0; index < 6; index++) await memory.add(await memory.store("noisy"), { text: `noisy ${index}` });
  await until(() => memory.batches.length === 2);
  const quiet = await memory.add(await memory.store("quiet"), { text: "quiet" });
  await until(() => memory.entry(quiet).status === "ready");
  expect(memory.batches).toHaveLength(3);
  goOn();
});

test("an unavailable model is retried, and delays no other one", async () => {
  await using memory = start();
  const [broken, well] = [await memory.store("p", "broken"), await memory.store("p", "well")];
  const { promise: gate, resolve: goOn } = Promise.withResolvers<void>();
  let failures = 0;
  memory.embedAs(async (model) => {
    if (model !== "broken") return;
    if (++failures < 4) throw new EmbeddingError("embedding_failed", "Not now.", true);
    await gate;
  });
  const [late, soon] = [await memory.add(broken, { text: "a" }), await memory.add(well, { text: "b" })];
  await memory.indexer.settled(soon, patience_ms);
  expect(memory.entry(soon).status).toBe("ready");
  const why = JSON.stringify({ code: "embedding_failed", message: "Not now." });
  await until(() => memory.entry(late).error === why);
  expect(memory.entry(late).status).toBe("processing");
  goOn();
  await until(() => memory.entry(late).status === "ready");
  expect(memory.entry(late).error).toBeNull();
  expect(failures).toBe(4);
  memory.expectWhole(broken, 1);
});

test("an error that the model will not recover from fails only its entry, with the reason", async () => {
  await using memory = start();
  const store = await memory.store();
  memory.embedAs((_, texts) => {
    if (texts.includes("poison")) throw new EmbeddingError("embedding_failed", "I will not.", false);
  });
  const ids = await Promise.all(["a", "poison", "b"].map((text) => memory.add(store, { text })));
  await until(() => ids.every((id) => memory.entry(id).status !== "processing"));
  expect(ids.map((id) => memory.entry(id).status)).toEqual(["ready", "failed", "ready"]);
  expect(JSON.parse(memory.entry(ids[1]!).error!)).toEqual({ code: "embedding_failed", message: "I will not." });
});

test("a text that the model always fails on does not keep others from being indexed", async () => {
  await using memory = start();
  const store = await memory.store();
  memory.embedAs((_, texts) => {
    if (texts.includes("poison")) throw new EmbeddingError("embedding_failed", "Overloaded.", true);
  });
  const [poison, ...others] = await Promise.all(["poison", "a", "b"].map((text) => memory.add(store, { text })));
  await until(() => others.every((id) => memory.entry(id).status === "ready"));
  expect(memory.entry(poison!).status).toBe("processing");
});

test("an unreadable file fails its entry, an unread one is requested", async () => {
  await using memory = start();
  const store = await memory.store();
  const error = { code: "document_encrypted", message: "It has a password." };
  memory.documents.set("file_bad", { chunks: [], failed: error });
  memory.documents.set("file_new", { chunks: [], failed: null });
  const bad = await memory.add(store, { file_id: "file_bad" });
  const fresh = await memory.add(store, { file_id: "file_new" });
  const gone = await memory.add(store, { file_id: "file_gone" });
  await until(() => [bad, gone].every((id) => memory.entry(id).status === "failed"));
  expect(JSON.parse(memory.entry(bad).error!)).toEqual(error);
  await until(() => memory.demanded.includes("file_new"));
  memory.documents.set("file_new", { chunks: [{ text: "x", tokens: 1, page: null, heading: null }], failed: null });
  memory.indexer.wake();
  await until(() => memory.entry(fresh).status === "ready");
});

test("an entry that is deleted in the middle gets no more vectors", async () => {
  await using memory = start();
  const store = await memory.store();
  const id = await memory.add(store, { file_id: memory.document(100) });
  memory.embedAs(async () => {
    if (memory.batches.length === 2)
      await memory.db.write(() => memory.sqlite.query("UPDATE memory_entries SET deleted_at_ms = 1").run());
  });
  await until(() => memory.batches.length === 2);
  await memory.indexer.idle();
  expect(memory.entry(id).processed).toBe(32);
  expect(memory.count(`memory_${store.number}_vectors_1`)).toBe(32);
});

test("a new embedding is built beside the current one, and replaces it at once, also after restarts", async () => {
  await using memory = start();
  const store = await memory.store("p", "old", 8);
  const ids = [await memory.add(store, { file_id: memory.document(400) })];
  await until(() => memory.entry(ids[0]!).status === "ready");
  const old = { model: "old", dimensions: 8, generation: 1 };
  let batches = 0;
  memory.embedAs(async (model) => {
    if (model === "newer") batches++;
    expect(memory.row(store.id)).toMatchObject(old);
    expect(memory.count(`memory_${store.number}_vectors_1`)).toBeGreaterThanOrEqual(400);
    await Bun.sleep(1);
  });
  await memory.change(store, "newer", 16);
  memory.indexer.changed();
  for (let stops = 1; stops <= 3; stops++) {
    await until(() => batches >= stops * 3);
    ids.push(await memory.add(store, { text: `Meanwhile ${stops}` }));
    await memory.restart();
  }
  memory.embedAs(() => {});
  await until(() => memory.row(store.id).model === "newer");
  await until(() => ids.every((id) => memory.entry(id).status === "ready"));
  await memory.indexer.idle();
  expect(memory.row(store.id)).toMatchObject({ dimensions: 16, generation: 2, next_model: null });
  expect(memory.forgotten).toContain(store.number);
  memory.expectWhole(store, 403);
  expect(memory.count(`sqlite_schema WHERE name = 'memory_${store.number}_vectors_1'`)).toBe(0);
});

test("an embedding that replaces a failed one is tried at once, without its backoff", async () => {
  await using memory = start({ pause_ms: 60_000 });
  const store = await memory.store("p", "old", 8);
  await memory.indexer.settled(await memory.add(store, { text: "a" }), patience_ms);
  memory.embedAs((model) => {
    if (model === "bad") throw new EmbeddingError("model_not_available", "There is none.", false);
  });
  await memory.change(store, "bad", 16);
  memory.indexer.changed();
  await until(() => memory.indexer.progressOf(memory.row(store.id))?.error !== null);
  await memory.change(store, "good", 4);
  memory.indexer.changed();
  await until(() => memory.row(store.id).model === "good");
});

test("a new embedding that fails leaves the old one in use, and reports the reason", async () => {
  await using memory = start();
  const store = await memory.store("p", "old", 8);
  const id = await memory.add(store, { text: "a" });
  await memory.indexer.settled(id, patience_ms);
  memory.embedAs((model) => {
    if (model === "bad") throw new EmbeddingError("model_not_available", "There is none.", false);
  });
  await memory.change(store, "bad", 16);
  memory.indexer.changed();
  const error = { code: "model_not_available", message: "There is none." };
  await until(() => memory.indexer.progressOf(memory.row(store.id))?.error !== null);
  expect(memory.indexer.progressOf(memory.row(store.id))).toEqual({ processed: 0, total: 1, error });
  await memory.indexer.settled(await memory.add(store, { text: "b" }), patience_ms);
  memory.expectWhole(store, 2);
  // Another change replaces the failed one.
  await memory.change(store, "good", 4);
  memory.indexer.changed();
  await until(() => memory.row(store.id).model === "good");
  memory.expectWhole(store, 2);
});

test.each([
  ["words", (text: string) => text],
  ["terms", foldedWordText],
])(
  "%s indexed by an earlier version are found meanwhile, and indexed anew, also after restarts",
  async (name, textOf) => {
    await using memory = start();
    const { sqlite, db } = memory;
    const store = await memory.store();
    const add = async (text: string) => {
      await memory.add(store, { text });
      await memory.indexer.idle();
    };
    for (let index = 0; index < 100; index++) await add(`note ${index} of Müller`);
    const former = `memory_${store.number}_${name}`;
    await db.write(() => {
      const later = name === "words" ? ["forms", "spellings"] : ["forms"];
      for (const table of later) sqlite.run(`DROP TABLE memory_${store.number}_${table}`);
      sqlite.run(`CREATE VIRTUAL TABLE ${former} USING fts5(
      text, content = memory_chunks, content_rowid = number, tokenize = 'porter unicode61 remove_diacritics 2')`);
      const chunks = sqlite.query<{ number: number; text: string }, []>("SELECT number, text FROM memory_chunks").all();
      for (const { number, text } of chunks)
        sqlite.run(`INSERT INTO ${former} (rowid, text) VALUES (?, ?)`, [number, textOf(text)]);
    });
    const isUpgraded = () => count() === 0;
    const count = () => memory.count(`sqlite_schema WHERE name GLOB '${former}*'`);
    const found = () => findByAllWords(sqlite, store.number, "müller").scores.size;
    expect(found()).toBe(100);
    const numbers = sqlite.query<{ number: number }, []>("SELECT number FROM memory_chunks LIMIT 3").all();
    for (let restarts = 0; restarts < 3; restarts++) {
      await memory.restart();
      const done = memory.add(store, { text: `more ${restarts} of Müller` });
      for (let write = 0; write < 2; write++) await db.write(() => expect(found()).toBeGreaterThanOrEqual(99));
      await done;
    }
    await db.write(() => {
      removeChunks(sqlite, store, [numbers[0]!.number]);
      sqlite.run("DELETE FROM memory_chunks WHERE number = ?", [numbers[0]!.number]);
    });
    await memory.indexer.idle();
    await until(isUpgraded);
    expect(found()).toBe(102);
    expect(findByAllWords(sqlite, store.number, "mueller").scores.size).toBe(102);
    // A mistyped word is corrected, so each text is counted among the spellings.
    expect(findByAllWords(sqlite, store.number, "mulller").scores.size).toBe(102);
    memory.expectWhole(store, 102);
  },
);
