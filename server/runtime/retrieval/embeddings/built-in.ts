import { embeddingEntry } from "../../../lib/assets.ts";
import type { Log } from "../../../lib/log.ts";
import { type StartThread, startThread, type Thread } from "../../../lib/start-thread.ts";
import { unitVector } from "../../../lib/unit-vector.ts";
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
  timer: ReturnType<typeof setTimeout>;
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
export function createBuiltIn({
  log,
  idle_ms = 60_000,
  patience_ms = 60_000,
  rest_ms = 2000,
  start = startThread(embeddingEntry),
}: BuiltInOptions) {
  const queue = createQueue<Job>();
  let thread: Thread<Order> | null = null;
  let slice: Slice | null = null;
  let idle: ReturnType<typeof setTimeout> | undefined;
  const resting = new Map<string, ReturnType<typeof setTimeout>>();
  // Time of each owner's last request.
  const lastRequests = new Map<string, number>();
  let count = 0;
  let stopped = false;

  function embed(
    model: BuiltInModel | OwnModel,
    texts: readonly string[],
    signal?: AbortSignal,
    { owner = "", prefix = "" }: { owner?: string; prefix?: string } = {},
  ): Promise<Float32Array[]> {
    if (texts.length === 0) return Promise.resolve([]);
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (stopped) throw failed("The server stops.", true);
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
        queue.remove(owner, job);
        job.done = job.pieces.length;
        job.settle(signal?.reason instanceof Error ? signal.reason : new DOMException("Aborted.", "AbortError"));
      };
      signal?.addEventListener("abort", abort);
      lastRequests.set(owner, performance.now());
      queue.arrive(owner, job);
      advance();
    });
  }

  function advance(): void {
    clearTimeout(idle);
    if (slice) return;
    const job = queue.next((owner) => !resting.has(owner));
    if (job) begin(job, 1);
    else if (thread) idle = setTimeout(end, idle_ms);
  }

  function begin(job: Job, tries: number): void {
    thread ??= start(hear, lose);
    const to = endOfSlice(job);
    const id = ++count;
    slice = { id, job, to, tries, timer: setTimeout(giveUp, patience_ms) };
    thread.send({ id, model: job.model, texts: job.pieces.slice(job.done, to).map(({ piece }) => job.prefix + piece) });
  }

  function hear(answer: Answer): void {
    if (slice?.id !== answer.id) return;
    const { job, to } = finish(slice);
    rest(job.owner, Math.min(rest_ms, answer.waited_ms * restFactor));
    if ("fault" in answer) settleFailed(job, `The embedding model failed: ${answer.fault}`, false);
    else if (!isOver(job)) {
      addVectors(job, answer.vectors);
      job.done = to;
      if (isOver(job)) job.settle(meansOf(job));
      else queue.requeue(job.owner, job);
    }
    advance();
  }

  function rest(owner: string, ms: number): void {
    for (const [each, at] of lastRequests) if (performance.now() - at > recent_ms) lastRequests.delete(each);
    const isAlone = lastRequests.size === (lastRequests.has(owner) ? 1 : 0);
    if (ms < 1 || isAlone) return;
    const over = () => {
      resting.delete(owner);
      advance();
    };
    clearTimeout(resting.get(owner));
    resting.set(owner, setTimeout(over, ms));
  }

  /** Handles the thread's death: its slice is retried once. */
  function lose(reason: string): void {
    log.warn("the embedding thread ended", { reason });
    thread = null;
    if (!slice) return;
    const { job, tries } = finish(slice);
    if (tries < triesMax && !isOver(job)) begin(job, tries + 1);
    else settleFailed(job, "The built-in embedding model ended while it worked on this text.", true);
    advance();
  }

  function giveUp(): void {
    end();
    lose("it did not answer");
  }

  function finish(done: Slice): Slice {
    clearTimeout(done.timer);
    slice = null;
    return done;
  }

  function end(): void {
    thread?.end();
    thread = null;
  }

  return {
    embed,
    /** True if a model is in memory. */
    isLoaded: (): boolean => thread !== null,
    /** Stops the thread and rejects pending requests. */
    stop(): void {
      stopped = true;
      const waiting = slice ? [finish(slice).job] : [];
      for (let job = queue.next(); job; job = queue.next()) waiting.push(job);
      for (const job of waiting) settleFailed(job, "The server stops.", true);
      for (const timer of resting.values()) clearTimeout(timer);
      clearTimeout(idle);
      end();
    },
  };
}

/** Returns the characters per model call: about as many as the model reads. */
const piecesOfModel = (model: BuiltInModel | OwnModel): number =>
  typeof model === "string" ? builtInModels[model].piece_chars : 4 * model.window_tokens;

const isOver = (job: Job): boolean => job.done >= job.pieces.length;

/** Returns the end of the next slice, which has at least one piece. */
function endOfSlice({ pieces, done }: Job): number {
  let [to, chars] = [done, 0];
  do chars += pieces[to++]!.piece.length;
  while (to < pieces.length && chars + pieces[to]!.piece.length <= slice_chars);
  return to;
}

/** Adds the vectors of pieces to their texts, weighted by length. */
function addVectors(job: Job, vectors: readonly Float32Array[]): void {
  vectors.forEach((vector, index) => {
    const { text, piece } = job.pieces[job.done + index]!;
    const weight = piece.length || 1;
    const sum = job.sums[text];
    if (sum) for (let at = 0; at < sum.length; at++) sum[at]! += vector[at]! * weight;
    else job.sums[text] = vector.map((value) => value * weight);
  });
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
