import type { Chunking } from "../../domain/chunking.ts";
import type { CodedError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { chunkText } from "../../runtime/documents/chunk-text.ts";
import type { DocumentChunk } from "../../runtime/documents/chunking.ts";
import type { EntryWork, EntryWorkStore } from "./entry-work.ts";

/** Access to the text of files. */
export interface Documents {
  /** Null if the file is gone. `isWanted`: it is being processed, or will be. */
  reading(scope: Scope, fileId: string): { chunks: number; failed: CodedError | null; isWanted: boolean } | null;
  chunks(scope: Scope, fileId: string, from: number, limit: number): DocumentChunk[];
  /** Requests the processing of a file. Call inside a write. */
  demand(scope: Scope, fileId: string, chunking: Chunking): void;
  /** Called inside a write when an entry of the file is ready or failed. */
  settle(scope: Scope, fileId: string): void;
}

export type Write = <T>(job: () => T) => Promise<T>;

// Most chunks that one write inserts, so that the next write waits only milliseconds.
const chunksPerWrite = 200;

// Length of a text that takes about a millisecond to chunk.
const shortText_chars = 4096;

/**
 * Creates entries' chunks, in slices; the last one sets their number. After an interruption it continues after the
 * existing chunks, because the same text gives the same chunks.
 */
export function createChunkMaker(options: {
  work: EntryWorkStore;
  count: (entry: EntryWork["entry"]) => number;
  documents: Documents;
}) {
  const { work, count, documents } = options;

  /** Chunks a short text; false for everything else. Call inside a write. */
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

  /** Returns the error, or null; "later" if the file is not processed yet. */
  async function makeLong(one: EntryWork, write: Write): Promise<CodedError | "later" | null> {
    const { file_id, text } = one.entry;
    if (file_id !== null) return await copy(one, file_id, write);
    const chunks = await cut(text ?? "", chunkingOf(one));
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
        // The entry was changed meanwhile and starts over.
        if (!work.find(one.entry) || count(one.entry) !== from) return;
        work.insertChunks(one, read(from, chunksPerWrite), from);
        if (isDone) work.setTotal(one.entry, total);
      });
      failpoint?.("mid_chunks");
    }
  }

  return { makeShort, makeLong };
}

/** Yields between the slices, so that other work on this thread continues. */
async function cut(text: string, chunking: Chunking): Promise<DocumentChunk[]> {
  const chunks: DocumentChunk[] = [];
  for (const some of chunkText(text, chunking)) {
    chunks.push(...some);
    await Bun.sleep(0);
  }
  return chunks;
}

const chunkingOf = ({ entry }: EntryWork): Chunking => JSON.parse(entry.chunking) as Chunking;
