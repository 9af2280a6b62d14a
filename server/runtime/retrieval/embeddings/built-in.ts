import { embeddingEntry } from "../../../lib/assets.ts";
import type { Log } from "../../../lib/log.ts";
import { type StartThread, startThread, type Thread } from "../../../lib/start-thread.ts";
import { addScaled, unitVector } from "../../../lib/unit-vector.ts";
import { EmbeddingError } from "../../models/embedding-error.ts";
import type { Answer, Order } from "./messages.ts";
import { type BuiltInModel, builtInModels } from "./models.ts";
import type { OwnModel } from "./own-models.ts";
import { piecesOf } from "./pieces.ts";
import { createQueue } from "./queue.ts";

/** An embedding request and its progress. */
interface Job {
  model: BuiltInModel | OwnModel;
  /** Tenant that is scheduled fairly against others. */
  owner: string;
  /** In the order of their texts. */
  pieces: { text: number; piece: string }[];
  done: number;
  sums: Float32Array[];
  /** Text put before each piece. */
  prefix: string;
  settle(outcome: Float32Array[] | Error): void;
}

/** Pieces of one job that the thread is working on. */
interface Slice {
  id: number;
  job: Job;
  to: number;
  tries: number;
  timer: Timer;
}

interface BuiltInOptions {
  log: Log;
  /** Milliseconds until an idle thread is stopped. */
  idle_ms?: number;
  /** Milliseconds until a thread without an answer is replaced; a slice normally takes a fraction of a second. */
  patience_ms?: number;
  /** Maximum pause of an owner between two slices, in milliseconds. */
  rest_ms?: number;
  start?: StartThread<Order, Answer>;
}

// A query that arrives meanwhile waits for one slice: about a tenth of a second.
const slice_chars = 1000;
// Factor of an owner's pause to the time that the thread waited for a core, if another owner asked recently. On few
// cores a batch then does not keep the thread busy, and another owner's query finds it free.
const restFactor = 2;
const recent_ms = 10_000;
// A thread that dies twice over the same slice would die again.
const triesMax = 2;

/**
 * Runs the built-in models in one thread, which is started on demand and stopped when idle. One slice at a time is sent
 * to it, so that only this slice's job is affected if the thread dies.
 */
export class EmbeddingThread {
  readonly #options: Required<BuiltInOptions>;
  readonly #queue = createQueue<Job>();
  readonly #resting = new Map<string, Timer>();
  /** Time of each owner's last request. */
  readonly #lastRequests = new Map<string, number>();
  #thread: Thread<Order> | null = null;
  #slice: Slice | null = null;
  #idle: Timer | undefined;
  #count = 0;
  #isStopped = false;

  constructor({
    log,
    idle_ms = 60_000,
    patience_ms = 60_000,
    rest_ms = 2000,
    start = startThread(embeddingEntry),
  }: BuiltInOptions) {
    this.#options = { log, idle_ms, patience_ms, rest_ms, start };
  }

  embed(
    model: BuiltInModel | OwnModel,
    texts: readonly string[],
    signal?: AbortSignal,
    { owner = "", prefix = "" }: { owner?: string; prefix?: string } = {},
  ): Promise<Float32Array[]> {
    if (texts.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#isStopped) throw failed("The server stops.", true);
      const piece_chars = piecesOfModel(model);
      const job: Job = {
        model,
        owner,
        pieces: texts.flatMap((text, index) => piecesOf(text, piece_chars).map((piece) => ({ text: index, piece }))),
        done: 0,
        sums: [],
        prefix,
        settle(outcome) {
          signal?.removeEventListener("abort", abort);
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        },
      };
      // The thread finishes its slice, but the answer is ignored.
      const abort = () => {
        this.#queue.remove(owner, job);
        job.done = job.pieces.length;
        job.settle(signal?.reason instanceof Error ? signal.reason : new DOMException("Aborted.", "AbortError"));
      };
      signal?.addEventListener("abort", abort);
      this.#lastRequests.set(owner, performance.now());
      this.#queue.arrive(owner, job);
      this.#advance();
    });
  }

  /** True if a model is in memory. */
  isLoaded(): boolean {
    return this.#thread !== null;
  }

  /** Stops the thread and rejects pending requests. */
  stop(): void {
    this.#isStopped = true;
    const waiting = this.#slice ? [this.#finish(this.#slice).job] : [];
    for (let job = this.#queue.next(); job; job = this.#queue.next()) waiting.push(job);
    for (const job of waiting) settleFailed(job, "The server stops.", true);
    for (const timer of this.#resting.values()) clearTimeout(timer);
    clearTimeout(this.#idle);
    this.#end();
  }

  #advance(): void {
    clearTimeout(this.#idle);
    if (this.#slice) return;
    const job = this.#queue.next((owner) => !this.#resting.has(owner));
    if (job) this.#begin(job, 1);
    else if (this.#thread) this.#idle = setTimeout(() => this.#end(), this.#options.idle_ms);
  }

  #begin(job: Job, tries: number): void {
    this.#thread ??= this.#options.start(
      (answer) => this.#hear(answer),
      (reason) => this.#lose(reason),
    );
    const to = endOfSlice(job);
    const id = ++this.#count;
    const timer = setTimeout(() => this.#giveUp(), this.#options.patience_ms);
    this.#slice = { id, job, to, tries, timer };
    const texts = job.pieces.slice(job.done, to).map(({ piece }) => job.prefix + piece);
    this.#thread.send({ id, model: job.model, texts });
  }

  #hear(answer: Answer): void {
    if (this.#slice?.id !== answer.id) return;
    const { job, to } = this.#finish(this.#slice);
    this.#rest(job.owner, Math.min(this.#options.rest_ms, answer.waited_ms * restFactor));
    if ("fault" in answer) settleFailed(job, `The embedding model failed: ${answer.fault}`, false);
    else if (!isOver(job)) {
      addVectors(job, answer.vectors);
      job.done = to;
      if (isOver(job)) job.settle(meansOf(job));
      else this.#queue.requeue(job.owner, job);
    }
    this.#advance();
  }

  #rest(owner: string, ms: number): void {
    const requests = this.#lastRequests;
    for (const [each, at] of requests) if (performance.now() - at > recent_ms) requests.delete(each);
    const isAlone = requests.size === (requests.has(owner) ? 1 : 0);
    if (ms < 1 || isAlone) return;
    const over = () => {
      this.#resting.delete(owner);
      this.#advance();
    };
    clearTimeout(this.#resting.get(owner));
    this.#resting.set(owner, setTimeout(over, ms));
  }

  /** Handles the thread's death: its slice is retried once. */
  #lose(reason: string): void {
    this.#options.log.warn("the embedding thread ended", { reason });
    this.#thread = null;
    if (!this.#slice) return;
    const { job, tries } = this.#finish(this.#slice);
    if (tries < triesMax && !isOver(job)) this.#begin(job, tries + 1);
    else settleFailed(job, "The built-in embedding model ended while it worked on this text.", true);
    this.#advance();
  }

  #giveUp(): void {
    this.#end();
    this.#lose("it did not answer");
  }

  #finish(done: Slice): Slice {
    clearTimeout(done.timer);
    this.#slice = null;
    return done;
  }

  #end(): void {
    this.#thread?.end();
    this.#thread = null;
  }
}

/** Returns the characters per model call: about as many as the model reads. */
const piecesOfModel = (model: BuiltInModel | OwnModel): number =>
  typeof model === "string" ? builtInModels[model].piece_chars : 4 * model.window_tokens;

const isOver = (job: Job): boolean => job.done >= job.pieces.length;

/** Returns the end of the next slice, which has at least one piece. */
function endOfSlice({ pieces, done }: Job): number {
  const charsAt = (at: number) => pieces[at]?.piece.length ?? Number.POSITIVE_INFINITY;
  let to = done + 1;
  for (let chars = charsAt(done) + charsAt(to); chars <= slice_chars; chars += charsAt(to)) to++;
  return to;
}

/** Adds the vectors of pieces to their texts, weighted by length. */
function addVectors(job: Job, vectors: readonly Float32Array[]): void {
  for (const [index, vector] of vectors.entries()) {
    const place = job.pieces[job.done + index];
    if (!place) break;
    const weight = place.piece.length || 1;
    const sum = job.sums[place.text];
    if (sum) addScaled(sum, vector, weight);
    else job.sums[place.text] = vector.map((value) => value * weight);
  }
}

function meansOf({ sums }: Job): Float32Array[] | Error {
  const means = sums.map(unitVector);
  return means.every((mean) => mean !== null) ? means : failed("The built-in embedding model gave no vector.");
}

/** Rejects a job, unless it was aborted before. */
function settleFailed(job: Job, message: string, retryable: boolean): void {
  if (!isOver(job)) job.settle(failed(message, retryable));
}

const failed = (message: string, retryable = false) => new EmbeddingError("embedding_failed", message, retryable);
