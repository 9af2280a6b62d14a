import { type Chunking, defaultChunking } from "../../domain/chunking.ts";
import type { CodedError } from "../../domain/errors.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { createFairSemaphore, type FairOptions } from "../../lib/fair-queue/fair-semaphore.ts";
import type { Log } from "../../lib/log.ts";
import { sleep } from "../../lib/retry.ts";
import type { DocumentChunk } from "../../runtime/documents/chunking.ts";
import type { FileBlobs } from "../../storage/db/file-blobs.ts";
import type { Db } from "../../storage/db/open.ts";
import { retryWrite } from "../../storage/db/retry-write.ts";
import type { DocumentChunks } from "./document-chunks.ts";
import type { DocumentWork, FileRef } from "./document-work.ts";
import { type FileRow, type Indexed, serializeFile } from "./row.ts";

/** Splits documents into chunks, in a sandbox. */
export interface Reader {
  read(
    order: { mime_type: string; bytes: number; content: Iterable<Uint8Array>; chunking: Chunking },
    signal: AbortSignal,
  ): Promise<{ chunks: DocumentChunk[]; pages: number | null } | { error: CodedError }>;
}

interface ProcessingOptions {
  db: Db;
  blobs: FileBlobs;
  work: DocumentWork;
  chunks: DocumentChunks;
  reader: Reader;
  /** Indexing progress of a file in memory stores. */
  indexedOf: (scope: Scope, id: string) => Indexed;
  /** Records the event inside the write that makes a file ready or failed. */
  announce: (scope: Scope, type: "file.ready" | "file.failed", file: Record<string, unknown>) => void;
  /** Called after a write that may have recorded an event. */
  announced: () => void;
  /** Called when a document was processed or failed, so that memory stores continue. */
  onRead: () => void;
  log: Log;
  /** Limits of concurrent documents. */
  places?: FairOptions;
  /** Milliseconds before a failed attempt is retried. */
  pause_ms?: number;
}

// Most chunks that one write inserts or deletes, so that the next write waits only milliseconds.
const chunksPerWrite = 200;
// Attempts per document. A child process that died of something else succeeds on a retry.
const triesOfChild = 3;
// Starts that may find a file half processed. Beyond that, the file itself probably crashes the server.
const mostAttempts = 5;
// Interval for noticing that the store that a file waits for was deleted.
const look_ms = 15_000;

/**
 * Processes documents, a few at a time, round-robin over projects and environments. All state is in the database, so
 * work that did not finish is repeated after a restart.
 */
export function createProcessing(options: ProcessingOptions) {
  const { db, blobs, work, chunks, reader, indexedOf, announce, announced, onRead, log } = options;
  // One owner may use all cores; one more place is reserved for another owner.
  const places = createFairSemaphore(options.places ?? { count: navigator.hardwareConcurrency + 1, reserve: 1 });
  const { pause_ms = 1000 } = options;
  const closing = new AbortController();
  const underWay = new Map<string, { stop: AbortController; done: Promise<void> }>();
  /** Last turn of each waiting sender, by project. */
  const served = new Map<string, Map<string, number>>();
  let turns = 0;
  let isRunning = true;
  let timer: Timer | undefined;

  /** Starts waiting files. Call when a file is to be processed. */
  function wake(): void {
    if (!isRunning) return;
    const waiting = new Map(work.owners().map((scope) => [nameOf(scope), scope]));
    for (let owner = places.next(waiting.keys()); owner !== null; owner = places.next(waiting.keys())) {
      const file = nextOf(waiting.get(owner)!);
      if (file) take(file, places.take(owner));
      else waiting.delete(owner);
    }
  }

  /** Next file of a project, round-robin over senders, so that one visitor's many files do not delay another's. */
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
        // The server's stop is no fault of the document.
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
    const write = <T>(job: () => T): Promise<T> => retryWrite(db.write, job, signal, pause_ms);
    if (!(await write(() => work.begin(file)))) return;
    const begun = performance.now();
    // Delete chunks of an earlier attempt that did not finish.
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

  /** Stores chunks in several writes. The last write also sets their number. */
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

  /** Marks a processed document as ready once all its memory stores have indexed it. Call inside a write. */
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
    announce(file, error ? "file.failed" : "file.ready", serializeFile(file, indexedOf(file, file.id)));
  }

  /** Settles files whose memory store was deleted, because no other event does. */
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
    /** Resumes files that an earlier process left. */
    start(): void {
      wake();
      arm();
    },
    /** Aborts the processing of a deleted file. */
    forget: (id: string): void => underWay.get(id)?.stop.abort(),
    /** For tests: resolves when no file is being processed. */
    async idle(): Promise<void> {
      while (underWay.size > 0) await Promise.all([...underWay.values()].map(({ done }) => done));
    },
    /** Aborts all processing; the next start repeats it. */
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
