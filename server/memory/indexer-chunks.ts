import type { CodedError } from "../core/errors.ts";
import type { Scope } from "../core/scope.ts";
import { chunkText } from "../documents/chunk-text.ts";
import type { Chunking, DocumentChunk } from "../documents/chunking.ts";
import { failpoint } from "../lib/failpoint.ts";
import type { EntryWork, EntryWorkStore } from "./entry-work.ts";

/** What is known of the text of files. */
export interface Documents {
  /** Null for a file that is gone. `isWanted`: somebody reads it, or will. */
  reading(scope: Scope, fileId: string): { chunks: number; failed: CodedError | null; isWanted: boolean } | null;
  chunks(scope: Scope, fileId: string, from: number, limit: number): DocumentChunk[];
  /** Within a write: the file is to be read. */
  demand(scope: Scope, fileId: string, chunking: Chunking): void;
  /** Within a write: an entry of the file is ready, or failed. */
  settle(scope: Scope, fileId: string): void;
}

export type Write = <T>(job: () => T) => Promise<T>;

// What one write inserts at most, so that those who wait for the next one wait for milliseconds.
const chunksPerWrite = 200;

// What takes a millisecond to cut.
const shortText_chars = 4096;

/**
 * Gives entries their chunks: in slices, of which the last one says how many there are. Cut off in the middle, it goes on
 * behind those that are there, since the same text gives the same chunks.
 */
export function createChunkMaker(options: {
  work: EntryWorkStore;
  count: (entry: EntryWork["entry"]) => number;
  documents: Documents;
}) {
  const { work, count, documents } = options;

  /** Within a write: chunks of a short text; false for everything else. */
  function makeShort(one: EntryWork): boolean {
    const { text } = one.entry;
    if (text === null || text.length > shortText_chars) return false;
    const chunks = [...chunkText(text, chunkingOf(one))].flat();
    if (chunks.length === 0) return false;
    if (!work.find(one.entry)) return true;
    if (count(one.entry) === 0) work.insertChunks(one, chunks);
    work.setTotal(one.entry, chunks.length);
    return true;
  }

  /** What went wrong, or null; "later" when the file has yet to be read. */
  async function makeLong(one: EntryWork, write: Write): Promise<CodedError | "later" | null> {
    const { file_id, text } = one.entry;
    if (file_id !== null) return await copy(one, file_id, write);
    const chunks = await cut(text!, chunkingOf(one));
    if (chunks.length === 0) return { code: "document_empty", message: "The text has no characters to be shown." };
    await insert(one, chunks.length, (from, limit) => chunks.slice(from, from + limit), write);
    return null;
  }

  async function copy(one: EntryWork, fileId: string, write: Write): Promise<CodedError | "later" | null> {
    const { entry } = one;
    const reading = documents.reading(entry, fileId);
    if (!reading) return { code: "resource_not_found", message: "The file was deleted." };
    if (reading.failed) return reading.failed;
    if (reading.chunks === 0) {
      if (!reading.isWanted) await write(() => documents.demand(entry, fileId, JSON.parse(entry.chunking)));
      return "later";
    }
    await insert(one, reading.chunks, (from, limit) => documents.chunks(entry, fileId, from, limit), write);
    return null;
  }

  async function insert(
    one: EntryWork,
    total: number,
    read: (from: number, limit: number) => readonly DocumentChunk[],
    write: Write,
  ): Promise<void> {
    for (let from = count(one.entry), isDone = false; !isDone; from += chunksPerWrite) {
      isDone = from + chunksPerWrite >= total;
      await write(() => {
        // Others than before: it was changed meanwhile, and begins anew.
        if (!work.find(one.entry) || count(one.entry) !== from) return;
        work.insertChunks(one, read(from, chunksPerWrite), from);
        if (isDone) work.setTotal(one.entry, total);
      });
      failpoint?.("mid_chunks");
    }
  }

  return { makeShort, makeLong };
}

/** With a breath between the parts, for all others who wait for this thread. */
async function cut(text: string, chunking: Chunking): Promise<DocumentChunk[]> {
  const chunks: DocumentChunk[] = [];
  for (const some of chunkText(text, chunking)) {
    chunks.push(...some);
    await Bun.sleep(0);
  }
  return chunks;
}

const chunkingOf = ({ entry }: EntryWork): Chunking => JSON.parse(entry.chunking) as Chunking;
