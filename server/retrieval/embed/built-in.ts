import { embeddingEntry } from "../../lib/assets.ts";
import type { Log } from "../../lib/log.ts";
import { type StartThread, startThread, type Thread } from "../../lib/start-thread.ts";
import { unitVector } from "../../lib/unit-vector.ts";
import { EmbeddingError } from "../../models/embedding-error.ts";
import type { Answer, Order } from "./messages.ts";
import { type BuiltInModel, builtInModels } from "./models.ts";
import type { OwnModel } from "./own-models.ts";
import { piecesOf } from "./pieces.ts";
import { createQueue } from "./queue.ts";

/** What is asked for, and how far it is. */
interface Job {
  model: BuiltInModel | OwnModel;
  /** Whose work it is. */
  owner: string;
  /** In the order of their texts. */
  pieces: { text: number; piece: string }[];
  done: number;
  sums: Float32Array[];
  /** What stands before each piece. */
  prefix: string;
  settle(outcome: Float32Array[] | Error): void;
}

/** What the thread works on: some pieces of one job. */
interface Slice {
  id: number;
  job: Job;
  to: number;
  tries: number;
  timer: ReturnType<typeof setTimeout>;
}

interface BuiltInOptions {
  log: Log;
  /** How long the thread stays when there is nothing to do. */
  idle_ms?: number;
  /** How long it may work on one slice, which takes a fraction of a second. */
  patience_ms?: number;
  /** How long anybody rests at most between two slices. */
  rest_ms?: number;
  start?: StartThread<Order, Answer>;
}

// A query that comes meanwhile waits for a slice: about a tenth of a second.
const slice_chars = 1000;
// Whoever was served rests so many times as long as the thread waited for a core meanwhile, if somebody else has asked not
// long ago: where cores are few a batch does not keep it at work all the time, and a query of another finds it free.
const restShare = 2;
const notLong_ms = 10_000;
// A thread that dies twice over the same slice would die again.
const triesMax = 2;

/**
 * The models in a thread of their own, which is started when it is needed and ended when it is idle. One slice is at the
 * thread at a time, so that only its job is in doubt when the thread dies.
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
  // When each asked last.
  const asked = new Map<string, number>();
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
      // What the thread works on comes to its end, and nobody reads it.
      const abort = () => {
        queue.remove(owner, job);
        job.done = job.pieces.length;
        job.settle(signal?.reason instanceof Error ? signal.reason : new DOMException("Aborted.", "AbortError"));
      };
      signal?.addEventListener("abort", abort);
      asked.set(owner, performance.now());
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
    rest(job.owner, Math.min(rest_ms, answer.waited_ms * restShare));
    if ("fault" in answer) settleFailed(job, `The embedding model failed: ${answer.fault}`, false);
    else if (!isOver(job)) {
      take(job, answer.vectors);
      job.done = to;
      if (isOver(job)) job.settle(meansOf(job));
      else queue.goOn(job.owner, job);
    }
    advance();
  }

  function rest(owner: string, ms: number): void {
    for (const [each, at] of asked) if (performance.now() - at > notLong_ms) asked.delete(each);
    const isAlone = asked.size === (asked.has(owner) ? 1 : 0);
    if (ms < 1 || isAlone) return;
    const over = () => {
      resting.delete(owner);
      advance();
    };
    clearTimeout(resting.get(owner));
    resting.set(owner, setTimeout(over, ms));
  }

  /** The thread is gone. Its slice gets one more. */
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
    /** Whether a model is in memory. */
    isLoaded: (): boolean => thread !== null,
    /** Ends the thread; what is asked for fails. */
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

/** How many characters a model is given at once: about as many as it reads. */
const piecesOfModel = (model: BuiltInModel | OwnModel): number =>
  typeof model === "string" ? builtInModels[model].piece_chars : 4 * model.window_tokens;

const isOver = (job: Job): boolean => job.done >= job.pieces.length;

/** As many pieces as make a slice, and at least one. */
function endOfSlice({ pieces, done }: Job): number {
  let [to, chars] = [done, 0];
  do chars += pieces[to++]!.piece.length;
  while (to < pieces.length && chars + pieces[to]!.piece.length <= slice_chars);
  return to;
}

/** A text's vector is the mean of its pieces', each by its length. */
function take(job: Job, vectors: readonly Float32Array[]): void {
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

/** Who was aborted was told already. */
function settleFailed(job: Job, message: string, retryable: boolean): void {
  if (!isOver(job)) job.settle(failed(message, retryable));
}

const failed = (message: string, retryable = false) => new EmbeddingError("embedding_failed", message, retryable);
