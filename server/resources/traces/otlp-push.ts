import { endsRun, type JournalEntry } from "../../domain/run-event.ts";
import { newEntries } from "../../domain/run-trigger.ts";
import { nameOf } from "../../domain/scope.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { createFairSemaphore } from "../../lib/fair-queue/fair-semaphore.ts";
import { createRoundRobin } from "../../lib/fair-queue/round-robin.ts";
import type { Log } from "../../lib/log.ts";
import { requireValue } from "../../lib/require-value.ts";
import { backoff, sleep } from "../../lib/retry.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { encodingFor } from "./otlp-encoding.ts";
import { type OtlpTarget, postSpans } from "./otlp-post.ts";
import { type OtlpSource, writtenSpans } from "./otlp-source.ts";
import { readTrace } from "./read-trace.ts";

export interface PushOptions {
  target: OtlpTarget;
  journal: Pick<Journal, "head" | "readSome">;
  otlp: Pick<OtlpSource, "own">;
  log: Log;
  /** Attempts per request, with growing pauses, before its runs are dropped. */
  attempts?: number;
  attempt_ms?: number;
  /** Milliseconds that shutdown waits for queued traces. */
  flush_ms?: number;
  /** Most runs in the queue. */
  queueMax?: number;
  /** Most bytes of spans per request; collectors refuse requests of more than a few megabytes. */
  requestMax?: number;
}

type Written = string | Uint8Array<ArrayBuffer>;

/** Spans of some runs, as request bodies. */
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
 * Sends traces of ended runs to a collector, in batches. Read-only: a slow, dead or faulty collector loses traces,
 * which are counted, but never affects runs. Queued traces are lost when the process dies; the journal still has them.
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
  const lines = createRoundRobin<Waiting>();
  // A quarter is reserved for other owners, so that one project's flood drops only its own traces.
  const places = createFairSemaphore({ count: queueMax, reserve: Math.floor(queueMax / 4) });
  let queuedRuns = 0;
  const closing = new AbortController();
  const cutting = new AbortController();
  const maybeYield = createYielder();
  let working: Promise<void> | null = null;
  let dropped = 0;

  /** Call after a commit. */
  function committed(runId: string, entries: readonly JournalEntry[]): void {
    const last = newEntries(entries).at(-1)?.event;
    if (!last || !endsRun(last)) return;
    const head = closing.signal.aborted ? null : journal.head(runId);
    const owner = head && nameOf(head);
    if (owner === null || !places.mayTake(owner)) {
      if (dropped++ === 0) log.warn("more runs end than the collector takes: their traces are not sent to it");
      return;
    }
    lines.add(owner, { runId, giveBack: places.take(owner) });
    queuedRuns++;
    working ??= work();
  }

  async function work(): Promise<void> {
    try {
      // Deferred, so that other listeners of the commit go first.
      await new Promise((resolve) => setImmediate(resolve));
      while (queuedRuns > 0 && !cutting.signal.aborted) await send(await nextBatch());
    } finally {
      working = null; // Otherwise runs that end later would never be sent.
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
    for (; queuedRuns > 0 && runs < runsPerBatch && bodies.length === 0 && !cutting.signal.aborted; runs++)
      for (const span of await spansOf(nextRun())) {
        if (length + span.length > requestMax) close();
        spans.push(span);
        length += span.length;
      }
    close();
    return { bodies, runs };
  }

  /** Next run, round-robin over projects and environments. */
  function nextRun(): string {
    const { runId, giveBack } = requireValue(lines.next(), "A waiting run");
    giveBack();
    queuedRuns--;
    return runId;
  }

  /** Empty if the run was deleted or its record cannot be read. */
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

  /** Yields. Throws when shutdown has waited long enough, so that a long trace does not delay it further. */
  async function rest(): Promise<void> {
    await maybeYield();
    cutting.signal.throwIfAborted();
  }

  async function send({ bodies, runs }: Batch): Promise<void> {
    let reason = cutting.signal.aborted ? stopped : null;
    for (const body of bodies) reason ??= await sendOne(body);
    if (reason !== null) giveUp(runs, reason);
  }

  /** Returns null once the collector has accepted it, or the reason why not. */
  async function sendOne(body: Written): Promise<string | null> {
    for (let attempt = 1; ; attempt++) {
      const { failure, rejected } = await postSpans(target, encoding, body, cutting.signal, attempt_ms);
      if (rejected > 0) log.warn("the collector refused some spans", { spans: rejected });
      if (!failure) return null;
      const isLast = attempt >= attempts || closing.signal.aborted;
      if (isLast || !failure.isRetryable) return cutting.signal.aborted ? stopped : failure.reason;
      await sleep(backoff(attempt, failure.retryAfter_ms), closing.signal);
    }
  }

  function giveUp(runs: number, reason: string): void {
    log.warn("traces could not be sent to the collector", { traces: runs + dropped, reason });
    dropped = 0;
  }

  return {
    committed,
    /** Sends queued traces for a few seconds and drops the rest. */
    async stop(): Promise<void> {
      closing.abort();
      const timer = setTimeout(() => cutting.abort(), flush_ms);
      await working;
      clearTimeout(timer);
      if (queuedRuns + dropped > 0) giveUp(queuedRuns, stopped);
    },
  };
}
