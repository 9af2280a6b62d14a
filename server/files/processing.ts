import type { CodedError } from "../core/errors.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import type { FileBlobs } from "../db/file-blobs.ts";
import type { Db } from "../db/open.ts";
import { persist } from "../db/persist.ts";
import { type Chunking, type DocumentChunk, defaultChunking } from "../documents/chunking.ts";
import { failpoint } from "../lib/failpoint.ts";
import { createFairPlaces, type FairOptions } from "../lib/fair/places.ts";
import type { Log } from "../lib/log.ts";
import { sleep } from "../lib/retry.ts";
import type { DocumentChunks } from "./document-chunks.ts";
import type { DocumentWork, FileRef } from "./document-work.ts";
import { type FileRow, type Indexed, shownFile } from "./row.ts";

/** What cuts a document into pieces, where nothing that it does can hurt. */
export interface Reader {
  read(
    order: { mime_type: string; bytes: number; content: Iterable<Uint8Array>; chunking: Chunking },
    signal: AbortSignal,
  ): Promise<{ chunks: DocumentChunk[]; pages: number | null } | { error: CodedError }>;
}

export interface ProcessingOptions {
  db: Db;
  blobs: Pick<FileBlobs, "open">;
  work: DocumentWork;
  chunks: DocumentChunks;
  reader: Reader;
  /** How far memory stores are with a file. */
  indexedOf: (scope: Scope, id: string) => Indexed;
  /** Within the write that makes a file ready or failed. */
  announce: (scope: Scope, type: "file.ready" | "file.failed", file: Record<string, unknown>) => void;
  /** After a write that may have announced something. */
  announced: () => void;
  /** A document was read, or could not be: memory stores that wait for it go on. */
  onRead: () => void;
  log: Log;
  /** Documents at a time. */
  places?: FairOptions;
  /** Before what failed is tried again. */
  pause_ms?: number;
}

// What one write inserts or deletes at most, so that those who wait for the next one wait for milliseconds.
const chunksPerWrite = 200;
// A child that died of something else than its document does better with the next try; one that dies always, never.
const triesOfChild = 3;
// Starts that found a file half read. More than that, and it is what brings the server down.
const mostAttempts = 5;
// Somebody may have deleted what a file waits for.
const look_ms = 15_000;

/**
 * Reads documents, a few at a time and from each project and environment in turn. It knows nothing that does not stand in the database:
 * what was begun and did not end begins again with the next start.
 */
export function createProcessing(options: ProcessingOptions) {
  const { db, blobs, work, chunks, reader, indexedOf, announce, announced, onRead, log } = options;
  // As many as there are cores of one owner, and one of another.
  const places = createFairPlaces(options.places ?? { count: navigator.hardwareConcurrency + 1, reserve: 1 });
  const { pause_ms = 1000 } = options;
  const closing = new AbortController();
  const underWay = new Map<string, { stop: AbortController; done: Promise<void> }>();
  /** When the senders of a project were served last, of those who still wait. */
  const served = new Map<string, Map<string, number>>();
  let turns = 0;
  let isRunning = true;
  let timer: Timer | undefined;

  /** To be called when there is a file to read. */
  function wake(): void {
    if (!isRunning) return;
    const waiting = new Map(work.owners().map((scope) => [nameOf(scope), scope]));
    for (let owner = places.next(waiting.keys()); owner !== null; owner = places.next(waiting.keys())) {
      const file = nextOf(waiting.get(owner)!);
      if (file) take(file, places.take(owner));
      else waiting.delete(owner);
    }
  }

  /** The next of a project's files: from each sender in turn, so that one visitor's many do not hold up another's one. */
  function nextOf(scope: Scope): FileRow | null {
    const name = nameOf(scope);
    const before = served.get(name) ?? new Map<string, number>();
    const senders = work.senders(scope);
    const turnOf = (sender: string): number => before.get(sender) ?? 0;
    for (const sender of senders.toSorted((a, b) => turnOf(a) - turnOf(b))) {
      const file = work.first(scope, sender, [...underWay.keys()]);
      if (!file) continue;
      const still = senders.flatMap((one) => (before.has(one) ? [[one, turnOf(one)] as const] : []));
      served.set(name, new Map([...still, [sender, ++turns]]));
      return file;
    }
    served.delete(name);
    return null;
  }

  function take(file: FileRow, giveBack: () => void): void {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, closing.signal]);
    const done = readFile(file, signal)
      .catch(async (error) => {
        // A stop is no fault of the document.
        if (closing.signal.aborted) await db.write(() => work.giveBack(file));
        if (signal.aborted) return;
        log.error("a document could not be processed", { file_id: file.id, error });
        await sleep(pause_ms, signal);
      })
      .catch(() => {})
      .finally(() => {
        underWay.delete(file.id);
        giveBack();
        if (isRunning) onRead();
        wake();
      });
    underWay.set(file.id, { stop, done });
  }

  async function readFile(file: FileRow, signal: AbortSignal): Promise<void> {
    const write = <T>(job: () => T): Promise<T> => persist(db.write, job, signal, pause_ms);
    if (!(await write(() => work.begin(file)))) return;
    const begun = performance.now();
    // Left by a start that did not come to the end.
    while ((await write(() => chunks.clear(file, file.id, chunksPerWrite))) > 0);
    const outcome = file.attempts < mostAttempts ? await readContent(file, signal) : { error: givenUp };
    signal.throwIfAborted();
    if ("error" in outcome) await write(() => fail(file, outcome.error));
    else await keep(file, outcome, write);
    announced();
    log.info("a document was processed", {
      file_id: file.id,
      mime_type: file.mime_type,
      bytes: file.bytes,
      ms: Math.round(performance.now() - begun),
      ...("error" in outcome ? { error_code: outcome.error.code } : { chunks: outcome.chunks.length }),
    });
  }

  async function readContent(file: FileRow, signal: AbortSignal) {
    const chunking = file.chunking ?? defaultChunking;
    for (let tries = 1; ; tries++) {
      const content = blobs.open(file, file.sha256);
      if (!content) throw new Error("The content of a file is gone.");
      const { mime_type, bytes } = file;
      const outcome = await reader.read(
        { mime_type, bytes, content: { [Symbol.iterator]: () => content.read() }, chunking },
        signal,
      );
      const died = "error" in outcome && outcome.error.code === "sandbox_failed";
      if (!died || tries === triesOfChild) return outcome;
      await sleep(pause_ms, signal);
    }
  }

  type Write = <T>(job: () => T) => Promise<T>;

  /** Some chunks a write; the last one also says that these are all. */
  async function keep(file: FileRow, document: { chunks: DocumentChunk[]; pages: number | null }, write: Write) {
    for (let from = 0; from < document.chunks.length; from += chunksPerWrite) {
      const some = document.chunks.slice(from, from + chunksPerWrite);
      const isLast = from + chunksPerWrite >= document.chunks.length;
      await write(() => {
        if (!work.find(file)) return; // Deleted meanwhile.
        chunks.insert(file, file.id, some, from);
        if (!isLast) return;
        work.count(file, document.chunks.length, document.pages);
        settle(file, file.id);
      });
      failpoint?.("mid_document");
    }
  }

  /** Within a write: a document that is read is ready once all stores that it was to go into have it. */
  function settle(scope: Scope, id: string): void {
    const file = work.find({ ...scope, id });
    if (file?.status !== "processing" || file.chunks === 0) return;
    const { processing, error } = indexedOf(scope, id);
    if (processing === 0) end(file, error);
  }

  function fail(file: FileRow, error: CodedError): void {
    if (work.find(file)) end(file, error);
  }

  function end(ref: FileRef, error: CodedError | null): void {
    work.end(ref, error);
    const file = work.find(ref)!;
    announce(file, error ? "file.failed" : "file.ready", shownFile(file, indexedOf(file, file.id)));
  }

  /** What a file waited for may have been deleted: then nobody else says that it is ready. */
  async function look(): Promise<void> {
    const waiting = work.read();
    for (let from = 0; from < waiting.length; from += chunksPerWrite)
      await db.write(() => {
        for (const file of waiting.slice(from, from + chunksPerWrite)) settle(file, file.id);
      });
    if (waiting.length > 0) announced();
  }

  function arm(): void {
    timer = setTimeout(async () => {
      await look().catch((error) => log.error("files that wait for memory stores were not looked at", { error }));
      wake();
      if (isRunning) arm();
    }, look_ms).unref();
  }

  return {
    wake,
    look,
    settle,
    /** Takes up what an earlier process left. */
    start(): void {
      wake();
      arm();
    },
    /** A file was deleted: nobody reads it any more. */
    forget: (id: string): void => underWay.get(id)?.stop.abort(),
    /** For tests: answers when nothing is being read. */
    async idle(): Promise<void> {
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ done }) => done));
    },
    /** Gives up what is under way: the next start begins it again. */
    async stop(): Promise<void> {
      isRunning = false;
      clearTimeout(timer);
      closing.abort();
      await Promise.all([...underWay.values()].map(({ done }) => done));
    },
  };
}

const givenUp: CodedError = {
  code: "sandbox_failed",
  message: `The document was begun ${mostAttempts} times and never read to its end. The server's log may say why.`,
};
