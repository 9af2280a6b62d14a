import type { CodedError } from "../../domain/errors.ts";
import { nameOf, type Scope, type ScopeColumns } from "../../domain/scope.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Log } from "../../lib/log.ts";
import type { SpendGuard } from "../../runtime/models/spend-guard.ts";
import { type Embedder, EmbeddingError } from "../../runtime/retrieval/embeddings/embedder.ts";
import { addVectors, addWords } from "../../runtime/retrieval/vector-search/tables.ts";
import type { Db } from "../../storage/db/open.ts";
import { createEntryWork, type EntryWork, type PendingChunk } from "./entry-work.ts";
import type { createIndexerBackoff } from "./indexer-backoff.ts";
import { createChunkMaker, type Documents, type Write } from "./indexer-chunks.ts";
import type { createIndexerQueue } from "./indexer-queue.ts";
import type { EntryRow, VectorStoreRow } from "./row.ts";

/** Chunks of one entry. */
interface Part {
  one: EntryWork;
  chunks: PendingChunk[];
}

const entriesPerTurn = 16;
const chunksPerTurn = 32;
// An entry fails after this time and this number of failures of its model.
const patience_ms = 24 * 3_600_000;
const manyFailures = 10;
// After this number of failures with others, a text is tried alone.
const suspectFrom = 3;

/** Indexes a store's entries in batches: chunks, vectors and words. */
export function createBatches({
  db,
  embedders,
  documents,
  queue,
  rests,
  write,
  signal,
  over,
  demanded,
  log,
  now,
  pause_ms,
}: {
  db: Db;
  embedders: { of(model: string, dimensions: number, payer?: SpendGuard): Embedder };
  documents: Documents;
  queue: ReturnType<typeof createIndexerQueue>;
  rests: ReturnType<typeof createIndexerBackoff>;
  write: Write;
  signal: AbortSignal;
  /** Called after a write in which these entries ended. */
  over(entries: readonly EntryRow[]): void;
  /** Called after a write that requests the processing of files. */
  demanded(): void;
  log: Log;
  now(): number;
  pause_ms: number;
}) {
  const { sqlite } = db;
  const work = createEntryWork({ db, now });
  const selectCount = sqlite.query<{ n: number }, ScopeColumns & { id: string }>(
    `SELECT coalesce(max(chunk_index) + 1, 0) AS n FROM memory_chunks
     WHERE project_id = $project_id AND environment = $environment AND entry_id = $id`,
  );
  const count = ({ project_id, environment, id }: EntryRow) => selectCount.get({ project_id, environment, id })?.n ?? 0;
  const maker = createChunkMaker({ work, count, documents });

  /** Indexes one batch of a store; false if nothing can be done now. */
  async function workOn(store: VectorStoreRow): Promise<boolean> {
    const entries = queue.entries(store, rests.names(), entriesPerTurn);
    if (entries.length === 0) return false;
    await makeChunks(entries.filter(({ total }) => total === null).map((entry) => ({ entry, store })));
    const parts = collect(store, entries);
    if (parts.length > 0) await index(store, parts);
    return true;
  }

  /** Chunks all short texts or one long one, so that short ones do not wait for a book. */
  async function makeChunks(fresh: readonly EntryWork[]): Promise<void> {
    if (fresh.length === 0) return;
    const chunkedEntries = await write(() => fresh.filter((one) => maker.makeShort(one)));
    const long = fresh.find((one) => !chunkedEntries.includes(one));
    if (!long) return;
    const fault = await maker.makeLong(long, write);
    if (fault === "later") {
      demanded();
      rests.until(long.entry.id, now() + pause_ms);
    } else if (fault) await fail(long, fault);
  }

  /** Collects chunks without a vector, from as many entries as fit into one batch. */
  function collect(store: VectorStoreRow, entries: readonly EntryRow[]): Part[] {
    const parts: Part[] = [];
    let remaining = chunksPerTurn;
    for (const entry of entries) {
      const one = remaining > 0 ? work.find(entry) : null;
      if (!one || one.entry.total === null) continue;
      const chunks = work.pendingChunks(entry, store.generation, remaining);
      remaining -= chunks.length;
      parts.push({ one, chunks });
    }
    return parts;
  }

  async function index(store: VectorStoreRow, parts: readonly Part[]): Promise<void> {
    const { model, dimensions } = store;
    try {
      const texts = parts.flatMap(({ chunks }) => chunks.map(({ text }) => text));
      const vectors = texts.length > 0 ? await embedders.of(model, dimensions, store).embed(texts, signal) : [];
      await record(store, parts, vectors);
      for (const { one } of parts) rests.clear(one.entry.id);
      for (const name of backoffNamesOf(store)) rests.clear(name);
    } catch (error) {
      signal.throwIfAborted();
      const fault = faultOf(error);
      if (!fault) throw error;
      const isSuspect = !fault.retryable || parts.some(({ one }) => rests.failures(one.entry.id) >= suspectFrom);
      if (parts.length > 1 && isSuspect) for (const part of parts) await index(store, [part]);
      else await handleRefusal(store, parts, fault);
    }
  }

  async function handleRefusal(store: VectorStoreRow, parts: readonly Part[], fault: EmbeddingError): Promise<void> {
    const { code, message } = fault;
    if (fault.retryable) {
      rests.fail(backoffNameOf(store, fault));
      await write(() => {
        for (const { one } of parts) work.noteFault(one.entry, { code, message });
      });
      log.warn("an embedding model could not be asked", { model: store.model, error_code: code });
    }
    if (code === "budget_exceeded") return; // Never fails the entries, because the texts are not at fault.

    for (const { one } of parts) {
      const failures = rests.fail(one.entry.id);
      const isHopeless = failures >= manyFailures && now() - one.entry.updated_at_ms > patience_ms;
      if (!fault.retryable || isHopeless) await fail(one, { code, message });
    }
  }

  /** Stores vectors, words and progress in one write. */
  async function record(store: VectorStoreRow, parts: readonly Part[], vectors: readonly Float32Array[]) {
    const finishedEntries = await write(() => {
      // The embedding was changed meanwhile, so these vectors are outdated.
      if (queue.store(store)?.generation !== store.generation) return [];
      let at = 0;
      return parts.flatMap(({ one, chunks }) => {
        const own = vectors.slice(at, at + chunks.length);
        at += chunks.length;
        return recordPart(one, chunks, own) ? [one.entry] : [];
      });
    });
    failpoint?.("mid_indexing");
    over(finishedEntries);
  }

  /** Stores an entry's vectors; true if the entry is done. Call inside a write. */
  function recordPart(
    { entry }: EntryWork,
    chunks: readonly PendingChunk[],
    vectors: readonly Float32Array[],
  ): boolean {
    const found = work.find(entry);
    if (!found || found.entry.total === null) return false; // Changed meanwhile: these chunks are outdated.
    const { number, generation, dimensions } = found.store;
    const rows = chunks.map((chunk, index) => ({ number: chunk.number, vector: vectors[index] ?? new Float32Array() }));
    addVectors(sqlite, { number, generation, dimensions }, rows);
    addWords(sqlite, number, chunks);
    const numbers = rows.map((row) => row.number);
    work.noteVectors(numbers, generation);
    work.noteProgress(entry, numbers.length);
    if (work.pendingChunks(entry, generation, 1).length > 0) return false;
    work.markReady(entry);
    settleFile(entry);
    return true;
  }

  async function fail({ entry }: EntryWork, error: CodedError): Promise<void> {
    await write(() => {
      if (work.find(entry) && work.markFailed(entry, error)) settleFile(entry);
    });
    rests.clear(entry.id);
    log.warn("a memory entry failed", { memory_entry_id: entry.id, error_code: error.code });
    over([entry]);
  }

  function settleFile(entry: EntryRow): void {
    if (entry.file_id !== null) documents.settle(entry, entry.file_id);
  }

  return { workOn };
}

/** Backoff after a failure: the project's budget, or the model. */
const backoffNameOf = (store: VectorStoreRow, { code }: EmbeddingError): string =>
  code === "budget_exceeded" ? budgetName(store) : modelName(store);

const budgetName = (store: Scope): string => `budget:${nameOf(store)}`;
const modelName = ({ model }: Pick<VectorStoreRow, "model">): string => `model:${model}`;

/** Backoffs that stall all entries of a store. */
export const backoffNamesOf = (store: VectorStoreRow): string[] => [modelName(store), budgetName(store)];

/** Null for a bug of ours. A vector that cannot be stored is the model's fault. */
function faultOf(error: unknown): EmbeddingError | null {
  if (error instanceof EmbeddingError) return error;
  return error instanceof RangeError ? new EmbeddingError("embedding_failed", error.message) : null;
}
