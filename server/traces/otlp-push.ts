import { happening } from "../core/origin.ts";
import { endsRun, type JournalEntry } from "../core/run-event.ts";
import { nameOf } from "../core/scope.ts";
import type { Journal } from "../journal/journal.ts";
import { createFairLines } from "../lib/fair/lines.ts";
import { createFairPlaces } from "../lib/fair/places.ts";
import type { Log } from "../lib/log.ts";
import { backoff, sleep } from "../lib/retry.ts";
import { inSlices } from "../lib/slices.ts";
import { encodingFor } from "./otlp-encoding.ts";
import { type OtlpTarget, postSpans } from "./otlp-post.ts";
import { type OtlpSource, writtenSpans } from "./otlp-source.ts";
import { readTrace } from "./read-trace.ts";

export interface PushOptions {
  target: OtlpTarget;
  journal: Pick<Journal, "head" | "readSome">;
  otlp: Pick<OtlpSource, "own">;
  log: Log;
  /** How often a request is made, with longer and longer pauses between, before its runs are given up. */
  attempts?: number;
  attempt_ms?: number;
  /** How long the end of the server waits for what is still to be sent. */
  flush_ms?: number;
  /** Runs that may wait to be sent. */
  queueMax?: number;
  /** Length of the spans of one request; collectors refuse what is longer than some megabytes. */
  requestMax?: number;
}

type Written = string | Uint8Array<ArrayBuffer>;

/** The spans of some runs, as the bodies of requests. */
interface Batch {
  bodies: Written[];
  runs: number;
}

interface Waiting {
  runId: string;
  giveBack(): void;
}

const runsPerBatch = 100;
const stopped = "The server stopped.";

/**
 * Sends the traces of ended runs to a collector, some at a time. It only ever reads: a collector that is slow, dead or
 * wrong costs traces there, which are counted, and no run anything. What waits is lost when the process dies; the
 * traces themselves stay in the journal.
 */
export function createOtlpPush({
  target,
  journal,
  otlp,
  log,
  attempts = 6,
  attempt_ms = 10_000,
  flush_ms = 5_000,
  queueMax = 10_000,
  requestMax = 4_000_000,
}: PushOptions) {
  const encoding = encodingFor(target.protocol ?? "http/protobuf");
  const lines = createFairLines<Waiting>();
  // A quarter is kept for the runs of others: one project's flood drops its own.
  const places = createFairPlaces({ count: queueMax, reserve: Math.floor(queueMax / 4) });
  let waiting = 0;
  const closing = new AbortController();
  const cutting = new AbortController();
  const slice = inSlices();
  let working: Promise<void> | null = null;
  let dropped = 0;

  /** To be called after a commit. */
  function committed(runId: string, entries: readonly JournalEntry[]): void {
    const last = happening(entries).at(-1)?.event;
    if (!last || !endsRun(last)) return;
    const head = closing.signal.aborted ? null : journal.head(runId);
    const owner = head && nameOf(head);
    if (owner === null || !places.mayTake(owner)) {
      if (dropped++ === 0) log.warn("more runs end than the collector takes: their traces are not sent to it");
      return;
    }
    lines.add(owner, { runId, giveBack: places.take(owner) });
    waiting++;
    working ??= work();
  }

  async function work(): Promise<void> {
    try {
      // Not within the commit that woke us: others are told of it first.
      await new Promise((resolve) => setImmediate(resolve));
      while (waiting > 0 && !cutting.signal.aborted) await send(await nextBatch());
    } finally {
      working = null; // Or no run that ends later would ever be sent.
    }
  }

  async function nextBatch(): Promise<Batch> {
    const bodies: Written[] = [];
    let [spans, length]: [Written[], number] = [[], 0];
    const close = () => {
      if (length > 0) bodies.push(encoding.request(spans, target.resource));
      [spans, length] = [[], 0];
    };
    let runs = 0;
    for (; waiting > 0 && runs < runsPerBatch && bodies.length === 0 && !cutting.signal.aborted; runs++)
      for (const span of await spansOf(nextRun())) {
        if (length + span.length > requestMax) close();
        spans.push(span);
        length += span.length;
      }
    close();
    return { bodies, runs };
  }

  /** Projects and environments take turns. */
  function nextRun(): string {
    const { runId, giveBack } = lines.next()!;
    giveBack();
    waiting--;
    return runId;
  }

  /** None for a run that was deleted, or whose record cannot be read. */
  async function spansOf(runId: string): Promise<Written[]> {
    try {
      const trace = await readTrace(journal, runId, { rest });
      return trace
        ? await writtenSpans((options) => otlp.own(trace, options, rest), encoding.span, target.content, rest)
        : [];
    } catch (error) {
      if (!cutting.signal.aborted) log.error("a trace could not be made into spans", { run_id: runId, error });
      return [];
    }
  }

  /** A long trace does not hold up the end of the server. */
  async function rest(): Promise<void> {
    await slice();
    cutting.signal.throwIfAborted();
  }

  async function send({ bodies, runs }: Batch): Promise<void> {
    let reason = cutting.signal.aborted ? stopped : null;
    for (const body of bodies) reason ??= await sendOne(body);
    if (reason !== null) giveUp(runs, reason);
  }

  /** Null once the collector has it, or why it has not. */
  async function sendOne(body: Written): Promise<string | null> {
    for (let attempt = 1; ; attempt++) {
      const { failure, rejected } = await postSpans(target, encoding, body, cutting.signal, attempt_ms);
      if (rejected > 0) log.warn("the collector refused some spans", { spans: rejected });
      if (!failure) return null;
      const isLast = attempt >= attempts || closing.signal.aborted;
      if (isLast || !failure.again) return cutting.signal.aborted ? stopped : failure.reason;
      await sleep(backoff(attempt, failure.asked_ms), closing.signal);
    }
  }

  function giveUp(runs: number, reason: string): void {
    log.warn("traces could not be sent to the collector", { traces: runs + dropped, reason });
    dropped = 0;
  }

  return {
    committed,
    /** Sends what waits, for a few seconds, and gives up the rest. */
    async stop(): Promise<void> {
      closing.abort();
      const timer = setTimeout(() => cutting.abort(), flush_ms);
      await working;
      clearTimeout(timer);
      if (waiting + dropped > 0) giveUp(waiting, stopped);
    },
  };
}
