import { defaultChunking } from "../../domain/chunking.ts";
import type { DocumentReport } from "../../domain/document-report.ts";
import type { CodedError } from "../../domain/errors.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { createFairSemaphore, type FairOptions } from "../../lib/fair-queue/fair-semaphore.ts";
import type { Log } from "../../lib/log.ts";
import { sleep } from "../../lib/retry.ts";
import type { DocumentChunk } from "../../runtime/documents/chunking.ts";
import type { PagesDone } from "../../runtime/documents/pages-done.ts";
import type { DocumentHead } from "../../runtime/sandbox/document-task.ts";
import type { FileBlobs } from "../../storage/db/file-blobs.ts";
import type { Db } from "../../storage/db/open.ts";
import { retryWrite } from "../../storage/db/retry-write.ts";
import type { DocumentChunks } from "./document-chunks.ts";
import type { DocumentWork, FileRef } from "./document-work.ts";
import { createPageProgress } from "./page-progress.ts";
import { withTypeMismatch } from "./promised-type.ts";
import { type FileRow, type IndexingProgress, serializeFile } from "./row.ts";

/** The text of a document. */
interface ReadDocument {
  chunks: DocumentChunk[];
  pages: number | null;
  report: DocumentReport;
}

/** Splits documents into chunks, in a sandbox. */
export interface Reader {
  read(
    order: DocumentHead & { content: Iterable<Uint8Array> },
    signal: AbortSignal,
    help: { onPages: PagesDone; takeRoom: () => (() => void) | null },
  ): Promise<ReadDocument | { error: CodedError }>;
}

interface ProcessingOptions {
  db: Db;
  blobs: FileBlobs;
  work: DocumentWork;
  chunks: DocumentChunks;
  reader: Reader;
  /** Indexing progress of a file in memory stores. */
  indexedOf: (scope: Scope, id: string) => IndexingProgress;
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

type Write = <T>(job: () => T) => Promise<T>;

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
export class Processing {
  readonly #options: ProcessingOptions;
  readonly #pause_ms: number;
  readonly #places;
  readonly #closing = new AbortController();
  readonly #underWay = new Map<string, { stop: AbortController; done: Promise<void> }>();
  /** Last turn of each waiting sender, by project. */
  readonly #served = new Map<string, Map<string, number>>();
  #turns = 0;
  #isRunning = true;
  #timer: Timer | undefined;

  constructor(options: ProcessingOptions) {
    this.#options = options;
    this.#pause_ms = options.pause_ms ?? 1000;
    // One owner may use all cores; one more place is reserved for another owner.
    this.#places = createFairSemaphore(options.places ?? { count: navigator.hardwareConcurrency + 1, reserve: 1 });
  }

  /** Resumes files that an earlier process left. */
  start(): void {
    this.wake();
    this.#arm();
  }

  /** Starts waiting files. Call when a file is to be processed. */
  readonly wake = (): void => {
    if (!this.#isRunning) return;
    const places = this.#places;
    const scopesByOwner = new Map(this.#options.work.owners().map((scope) => [nameOf(scope), scope]));
    for (let owner = places.next(scopesByOwner.keys()); owner !== null; owner = places.next(scopesByOwner.keys())) {
      const scope = scopesByOwner.get(owner);
      const file = scope && this.#nextOf(scope);
      if (file) this.#take(file, places.take(owner));
      else scopesByOwner.delete(owner);
    }
  };

  /** Settles files whose memory store was deleted, because no other event does. */
  async look(): Promise<void> {
    const { db, work, announced } = this.#options;
    const readFiles = work.read();
    for (let from = 0; from < readFiles.length; from += chunksPerWrite)
      await db.write(() => {
        for (const file of readFiles.slice(from, from + chunksPerWrite)) this.settle(file, file.id);
      });
    if (readFiles.length > 0) announced();
  }

  /** Marks a processed document as ready once all its memory stores have indexed it. Call inside a write. */
  settle(scope: Scope, id: string): void {
    const { work, indexedOf } = this.#options;
    const file = work.find({ ...scope, id });
    if (file?.status !== "processing" || file.chunks === 0) return;
    const { processing, error } = indexedOf(scope, id);
    if (processing === 0) this.#end(file, error);
  }

  /** Aborts the processing of a deleted file. */
  forget(id: string): void {
    this.#underWay.get(id)?.stop.abort();
  }

  /** For tests: resolves when no file is being processed. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await this.#allDone();
  }

  /** Aborts all processing; the next start repeats it. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    clearTimeout(this.#timer);
    this.#closing.abort();
    await this.#allDone();
  }

  #allDone(): Promise<unknown> {
    return Promise.all([...this.#underWay.values()].map(({ done }) => done));
  }

  /** Next file of a project, round-robin over senders, so that one visitor's many files do not delay another's. */
  #nextOf(scope: Scope): FileRow | null {
    const { work } = this.#options;
    const name = nameOf(scope);
    const before = this.#served.get(name) ?? new Map<string, number>();
    const senders = work.senders(scope);
    const turnOf = (sender: string): number => before.get(sender) ?? 0;
    for (const sender of senders.toSorted((a, b) => turnOf(a) - turnOf(b))) {
      const file = work.first(scope, sender, [...this.#underWay.keys()]);
      if (!file) continue;
      const recentSenders = senders.flatMap((one) => (before.has(one) ? [[one, turnOf(one)] as const] : []));
      this.#served.set(name, new Map([...recentSenders, [sender, ++this.#turns]]));
      return file;
    }
    this.#served.delete(name);
    return null;
  }

  #take(file: FileRow, giveBack: () => void): void {
    const { db, work, log, onRead } = this.#options;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#closing.signal]);
    const done = this.#readFile(file, signal)
      .catch(async (error) => {
        // The server's stop is no fault of the document.
        if (this.#closing.signal.aborted) await db.write(() => work.giveBack(file));
        if (signal.aborted) return;
        log.error("a document could not be processed", { file_id: file.id, error });
        await sleep(this.#pause_ms, signal);
      })
      .catch(() => {})
      .finally(() => {
        this.#underWay.delete(file.id);
        giveBack();
        if (this.#isRunning) onRead();
        this.wake();
      });
    this.#underWay.set(file.id, { stop, done });
  }

  async #readFile(file: FileRow, signal: AbortSignal): Promise<void> {
    const { db, work, chunks, announced, log } = this.#options;
    const write = <T>(job: () => T): Promise<T> => retryWrite(db.write, job, signal, this.#pause_ms);
    if (!(await write(() => work.begin(file)))) return;
    const startTime = performance.now();
    // Delete chunks of an earlier attempt that did not finish.
    while ((await write(() => chunks.clear(file, file.id, chunksPerWrite))) > 0);
    const outcome = file.attempts < mostAttempts ? await this.#readContent(file, signal) : { error: givenUp };
    signal.throwIfAborted();
    if ("error" in outcome) await write(() => this.#fail(file, outcome.error));
    else await this.#keep(file, outcome, write);
    announced();
    log.info("a document was processed", {
      file_id: file.id,
      mime_type: file.mime_type,
      bytes: file.bytes,
      ms: Math.round(performance.now() - startTime),
      ...("error" in outcome ? { error_code: outcome.error.code } : { chunks: outcome.chunks.length }),
    });
  }

  async #readContent(file: FileRow, signal: AbortSignal) {
    const { db, work } = this.#options;
    // The next write has it if one fails.
    const write = (...pages: Parameters<PagesDone>) =>
      void db.write(() => work.progress(file, ...pages)).catch(() => {});
    const progress = createPageProgress(write);
    try {
      return await this.#readInTries(file, signal, progress.tell);
    } finally {
      progress.stop();
    }
  }

  async #readInTries(file: FileRow, signal: AbortSignal, onPages: PagesDone) {
    const { blobs, reader } = this.#options;
    const chunking = file.chunking ?? defaultChunking;
    for (let tries = 1; ; tries++) {
      const content = blobs.open(file, file.sha256);
      if (!content) throw new Error("The content of a file is gone.");
      const { mime_type, bytes, encoding, include_hidden } = file;
      const outcome = await reader.read(
        { mime_type, bytes, encoding, include_hidden, content: { [Symbol.iterator]: () => content.read() }, chunking },
        signal,
        { onPages, takeRoom: () => this.#takeRoom(file) },
      );
      const died = "error" in outcome && outcome.error.code === "sandbox_failed";
      if (!died || tries === triesOfChild) return outcome;
      await sleep(this.#pause_ms, signal);
    }
  }

  /** Takes one more place for a document of this project, unless that would be more than its share. */
  #takeRoom(scope: Scope): (() => void) | null {
    const owner = nameOf(scope);
    if (!this.#isRunning || !this.#places.mayTake(owner)) return null;
    const giveBack = this.#places.take(owner);
    return () => {
      giveBack();
      this.wake();
    };
  }

  /** Stores chunks in several writes. The last write also sets their number. */
  async #keep(file: FileRow, document: ReadDocument, write: Write) {
    const { work, chunks } = this.#options;
    for (let from = 0; from < document.chunks.length; from += chunksPerWrite) {
      const some = document.chunks.slice(from, from + chunksPerWrite);
      const isLast = from + chunksPerWrite >= document.chunks.length;
      await write(() => {
        if (!work.find(file)) return; // Deleted meanwhile.
        chunks.insert(file, file.id, some, from);
        if (!isLast) return;
        const report = withTypeMismatch(document.report, file.filename, file.mime_type);
        work.count(file, document.chunks.length, document.pages, report);
        this.settle(file, file.id);
      });
      failpoint?.("mid_document");
    }
  }

  #fail(file: FileRow, error: CodedError): void {
    if (this.#options.work.find(file)) this.#end(file, error);
  }

  #end(ref: FileRef, error: CodedError | null): void {
    const { work, announce, indexedOf } = this.#options;
    work.end(ref, error);
    const file = work.find(ref);
    if (file) announce(file, error ? "file.failed" : "file.ready", serializeFile(file, indexedOf(file, file.id)));
  }

  #arm(): void {
    const { log } = this.#options;
    this.#timer = setTimeout(async () => {
      await this.look().catch((error) => log.error("files that wait for memory stores were not looked at", { error }));
      this.wake();
      if (this.#isRunning) this.#arm();
    }, look_ms).unref();
  }
}

const givenUp: CodedError = {
  code: "sandbox_failed",
  message: `The document was begun ${mostAttempts} times and never read to its end. The server's log may say why.`,
};
