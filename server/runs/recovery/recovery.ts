import { withFollowUp } from "../../domain/decide.ts";
import { damagedRecord } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { runError } from "../../domain/run-error.ts";
import { endsRun, type JournalEntry, type RunEvent } from "../../domain/run-event.ts";
import { isOver, type RunState } from "../../domain/run-state.ts";
import { failedEvents } from "../../domain/terminal-events.ts";
import { unknownRunUsage } from "../../domain/usage.ts";
import type { Log } from "../../lib/log.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import type { Leave } from "../../storage/db/writer.ts";
import { AppendRefused, type Inserted, type Journal } from "../../storage/journal/journal.ts";
import { partialOf } from "../stream/partial.ts";
import type { RunSubscriptions } from "../stream/run-subscriptions.ts";
import type { OrphanedRuns } from "./orphaned-runs.ts";

/** Call inside a write. Inserts events of a run; if they end it, ends its descendants first. */
export type InsertEvents = (runId: string, events: readonly RunEvent[], attempt?: number) => Inserted[];

// Pause before a write that storage refused (full disk) is retried.
const storageRetry_ms = 1000;

interface RecoveryOptions {
  journal: Journal;
  watches: RunSubscriptions;
  insert: InsertEvents;
  lost: OrphanedRuns;
  log: Log;
  now: () => number;
  /** Drives the run. */
  start(runId: string): void;
  /** Aborts the loop of a run; the journal already has the reason. */
  abort(runId: string): void;
  /** Called when a run that could not be driven has ended. */
  ended(runId: string): void;
}

export type Recovery = ReturnType<typeof createRecovery>;

/** Records starts, recoveries and failures of runs, and retries until storage accepts them. */
export function createRecovery({ journal, watches, insert, lost, log, now, start, abort, ended }: RecoveryOptions) {
  // Runs whose failure is not stored yet.
  const ending = new Set<string>();
  let stopped = false;

  /** Commits the inserted events, and aborts the loops of runs that failed, paused or ended with another one. */
  async function write(runId: string, produce: () => Inserted[], leave?: Leave<Inserted[]>): Promise<JournalEntry[]> {
    const inserted = await journal.commitAll(produce, journal.head(runId) ?? undefined, leave);
    for (const [id, entries] of inserted) if (stopsLoop(entries, id === runId)) abort(id);
    return inserted.find(([id]) => id === runId)?.[1] ?? [];
  }

  function retryLater(retry: () => Promise<void>): void {
    setTimeout(() => {
      if (!stopped) void retry();
    }, storageRetry_ms);
  }

  /** Recovers a run without a loop: starts a new attempt from its last completed step. */
  async function recover(runId: string, clean = false): Promise<void> {
    if (stopped) return;
    lost.add(runId);
    const isStored = await change(runId, undefined, (state) =>
      state.status === "in_progress" ? recoveredEvents(state, clean) : [],
    );
    if (!isStored) return retryLater(() => recover(runId, clean));
    lost.recovered(runId);
    start(runId);
  }

  /** Fails a run that cannot be driven: its model is gone, or a bug stopped its loop. */
  async function end(runId: string, attempt: number, cause: unknown): Promise<void> {
    if (stopped) return; // An interruption by shutdown is not the run's fault: the next process continues it.
    const isModelMissing = cause instanceof AppError && cause.code === "model_not_available";
    const message = isModelMissing ? cause.message : "runnel met an internal error while it worked on this run.";
    if (!isModelMissing) log.error("a run met a bug", { run_id: runId, error: cause });
    ending.add(runId);
    const done = await change(runId, attempt, (state) => {
      const error = runError(isModelMissing ? "model_not_available" : "internal_error", message, state);
      return failedEvents(state, error, now(), partialOf(watches.live(runId), state, journal));
    });
    if (!done) return retryLater(() => end(runId, attempt, cause));
    ending.delete(runId);
    ended(runId);
  }

  /** Begins a queued run if `mayBegin` is true inside the write. Returns false if storage refused: retry. */
  async function begin(runId: string, mayBegin: () => boolean): Promise<boolean> {
    const done = await change(runId, undefined, (state) => {
      if (state.status !== "queued" || !mayBegin()) return [];
      const agent = journal.snapshot(state.run, state.run.agent_hash);
      return withFollowUp(state, [{ type: "run.started" }], agent, now());
    });
    if (done) start(runId);
    return done;
  }

  /** Returns false if storage refused: retry. Fails a run that cannot be read. */
  async function change(
    runId: string,
    attempt: number | undefined,
    produce: (state: RunState) => RunEvent[],
  ): Promise<boolean> {
    try {
      const inserted = () => {
        const head = journal.head(runId);
        if (!head || isOver(head.status)) return [];
        return insert(runId, produce(journal.state(runId)), attempt);
      };
      await journal.prepared([runId], () => write(runId, inserted));
      return true;
    } catch (error) {
      if (await giveUp(runId, error)) return true;
      log.error("the journal could not be written", { run_id: runId, error });
      return false;
    }
  }

  /** Ends a run whose journal cannot be read, without reading it again. Returns false if only storage refused. */
  async function giveUp(runId: string, cause: unknown): Promise<boolean> {
    if (cause instanceof AppendRefused) return true;
    if (isStorageRefusal(cause)) return false;
    const message = damagedRecord;
    const error = { type: "run_error", code: "internal_error", message, step_index: null, retryable: false } as const;
    const failed: RunEvent = { type: "run.failed", error, output: null, usage: unknownRunUsage };
    try {
      await journal.append(runId, [failed]);
    } catch (refusal) {
      if (isStorageRefusal(refusal)) return false;
    }
    log.error("the journal cannot be read: its run is given up", { run_id: runId, error: cause });
    return true;
  }

  return {
    /** Records events of a loop under its attempt; `events` is called inside the write. */
    record: (
      runId: string,
      events: () => readonly RunEvent[],
      attempt: number,
      leave?: Leave<Inserted[]>,
    ): Promise<JournalEntry[]> => write(runId, () => insert(runId, events(), attempt), leave),
    recover,
    end,
    begin,
    giveUp,
    /** Aborts the loop and recovers the run later. The same attempt would repeat unrecorded work. */
    unwritten(runId: string, error: unknown): void {
      log.error("the journal could not be written", { run_id: runId, error });
      lost.add(runId);
      abort(runId);
      retryLater(() => recover(runId));
    },
    /** True if the run's failure is not stored yet. */
    ends: (runId: string): boolean => ending.has(runId),
    stop(): void {
      stopped = true;
    },
  };
}

/** True if the newest entry of a run leaves its loop nothing to do. A loop leaves by itself when its run completes. */
function stopsLoop(entries: readonly JournalEntry[], isOwn: boolean): boolean {
  const event = entries.at(-1)?.event;
  if (!event) return false;
  return event.type === "run.paused" || event.type === "run.failed" || (!isOwn && endsRun(event));
}

/** Starts a new attempt. A run whose pause is requested pauses with it, because no step is in progress. */
function recoveredEvents(state: RunState, clean: boolean): RunEvent[] {
  const recovered = recoveredEvent(state, clean);
  return state.pause ? [recovered, { type: "run.paused" }] : [recovered];
}

/** Starts a new attempt; `clean` if the run did not cause the end of the previous one. */
export const recoveredEvent = ({ attempt, open }: RunState, clean = false): RunEvent => ({
  type: "run.recovered",
  attempt: attempt + 1,
  step_index: open[0]?.step_index ?? null,
  ...(clean && { clean }),
});
