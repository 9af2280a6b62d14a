import { failedEvents } from "../core/conclude.ts";
import { withFollowUp } from "../core/decide.ts";
import { AppError } from "../core/errors.ts";
import { runError } from "../core/run-error.ts";
import type { JournalEntry, RunEvent } from "../core/run-event.ts";
import { isOver, type RunState } from "../core/run-state.ts";
import { unknownRunUsage } from "../core/usage.ts";
import { isStorageRefusal } from "../db/damage.ts";
import type { Leave } from "../db/writer.ts";
import { AppendRefused, type Inserted, type Journal } from "../journal/journal.ts";
import type { Log } from "../lib/log.ts";
import type { LostRuns } from "./lost-runs.ts";
import { partialOf } from "./partial.ts";
import type { Watches } from "./watch.ts";

/** Within a write: inserts what is recorded of a run, and where that ends it, the end of all that works for it before. */
export type InsertDriven = (runId: string, events: readonly RunEvent[], attempt?: number) => Inserted[];

// Storage that refused a write (a full disk) is asked again at this pace, until it takes it.
const storageRetry_ms = 1000;

interface RecoveryOptions {
  journal: Journal;
  watches: Watches;
  insert: InsertDriven;
  lost: LostRuns;
  log: Log;
  now: () => number;
  /** The run may be driven now. */
  start(runId: string): void;
  /** The loop of a run stops; the journal has already said why. */
  abort(runId: string): void;
  /** A run that could not be driven is over. */
  ended(runId: string): void;
}

export type Recovery = ReturnType<typeof createRecovery>;

/** What has to be recorded of runs for them to go on, or to end: storage that refuses it is asked until it takes it. */
export function createRecovery({ journal, watches, insert, lost, log, now, start, abort, ended }: RecoveryOptions) {
  // Runs that failed, as soon as the storage takes it.
  const ending = new Set<string>();
  let stopped = false;

  /** Makes durable what is inserted, and stops what still works for a run that has failed by it, or on its other calls. */
  async function write(runId: string, produce: () => Inserted[], leave?: Leave<Inserted[]>): Promise<JournalEntry[]> {
    const inserted = await journal.commitAll(produce, journal.head(runId) ?? undefined, leave);
    for (const [id, entries] of inserted) if (id !== runId || entries.at(-1)?.event.type === "run.failed") abort(id);
    return inserted.find(([id]) => id === runId)?.[1] ?? [];
  }

  function later(again: () => Promise<void>): void {
    setTimeout(() => {
      if (!stopped) void again();
    }, storageRetry_ms);
  }

  /** Takes up a run whose loop is gone, under a new attempt, from its last completed step. */
  async function recover(runId: string, clean = false): Promise<void> {
    if (stopped) return;
    lost.add(runId);
    const done = await change(runId, undefined, (state) =>
      state.status === "in_progress" ? [recoveredEvent(state, clean)] : [],
    );
    if (!done) return later(() => recover(runId, clean));
    lost.recovered(runId);
    start(runId);
  }

  /** Fails a run that cannot be driven: its model is gone, or a bug stopped its loop. */
  async function end(runId: string, attempt: number, cause: unknown): Promise<void> {
    if (stopped) return; // What breaks off as the process ends is no fault of the run: the next process goes on with it.
    const known = cause instanceof AppError && cause.code === "model_not_available";
    const message = known ? cause.message : "runnel met an internal error while it worked on this run.";
    if (!known) log.error("a run met a bug", { run_id: runId, error: cause });
    ending.add(runId);
    const done = await change(runId, attempt, (state) => {
      const error = runError(known ? "model_not_available" : "internal_error", message, state);
      return failedEvents(state, error, now(), partialOf(watches.live(runId), state, journal));
    });
    if (!done) return later(() => end(runId, attempt, cause));
    ending.delete(runId);
    ended(runId);
  }

  /** Begins a queued run if `mayBegin` says so within the write. False when the storage refused, to be asked again. */
  async function begin(runId: string, mayBegin: () => boolean): Promise<boolean> {
    const done = await change(runId, undefined, (state) => {
      if (state.status !== "queued" || !mayBegin()) return [];
      const agent = journal.snapshot(state.run!, state.run!.agent_hash);
      return withFollowUp(state, [{ type: "run.started" }], agent, now());
    });
    if (done) start(runId);
    return done;
  }

  /** False when the storage refused, to be asked again; a run that is past reading is failed as it is. */
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

  /**
   * Ends a run whose journal cannot be read, and reads nothing of it: read again, it would be as damaged. False when it
   * was but the storage that refused.
   */
  async function giveUp(runId: string, cause: unknown): Promise<boolean> {
    if (cause instanceof AppendRefused) return true;
    if (isStorageRefusal(cause)) return false;
    const message = "The record of this run is damaged and cannot be read.";
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
    /** Records what a loop says of its run, under the attempt that it has. */
    record: (
      runId: string,
      events: readonly RunEvent[],
      attempt: number,
      leave?: Leave<Inserted[]>,
    ): Promise<JournalEntry[]> => write(runId, () => insert(runId, events, attempt), leave),
    recover,
    end,
    begin,
    giveUp,
    /** The loop leaves now. Started again under the same attempt, it would repeat what it has done without a record. */
    unwritten(runId: string, error: unknown): void {
      log.error("the journal could not be written", { run_id: runId, error });
      lost.add(runId);
      abort(runId);
      later(() => recover(runId));
    },
    /** Whether the storage has not taken yet that the run failed. */
    ends: (runId: string): boolean => ending.has(runId),
    stop(): void {
      stopped = true;
    },
  };
}

/** That a run goes on under a new attempt; `clean` if nothing that it did ended the one before. */
export const recoveredEvent = ({ attempt, open }: RunState, clean = false): RunEvent => ({
  type: "run.recovered",
  attempt: attempt + 1,
  step_index: open[0]?.step_index ?? null,
  ...(clean && { clean }),
});
