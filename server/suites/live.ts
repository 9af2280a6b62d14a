import { remaining } from "../core/budget.ts";
import type { Budget } from "../core/budget-schema.ts";
import { stepPairs } from "../core/diff.ts";
import { equalJson } from "../core/equal.ts";
import { AppError, type CodedError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Divergence, JournalEntry, RunEvent } from "../core/run-event.ts";
import { isOver, type RunState } from "../core/run-state.ts";
import type { Scope } from "../core/scope.ts";
import { isStorageRefusal } from "../db/damage.ts";
import type { Viewer } from "../http/auth.ts";
import type { Journal } from "../journal/journal.ts";
import { readRecord } from "../journal/read-record.ts";
import type { Log } from "../lib/log.ts";
import { inSlices } from "../lib/slices.ts";
import type { ForkRun } from "../runs/fork-schema.ts";
import type { RunService } from "../runs/service.ts";
import type { Note, RunStore } from "../runs/store.ts";
import { readTrace } from "../traces/read-trace.ts";
import { headOf, type LiveResult } from "./row.ts";
import type { Live } from "./schema.ts";

/** Forks a run; `note` is told of the fork within the write that makes it. */
type Fork = (scope: Viewer, runId: string, body: ForkRun, requestId: string, note: Note) => Promise<unknown>;

interface LiveRunsOptions {
  journal: Journal;
  runs: Pick<RunStore, "standing">;
  service: Pick<RunService, "settled" | "cancel">;
  fork: Fork;
  log: Log;
  now: () => number;
}

export type LiveRuns = ReturnType<typeof createLiveRuns>;

// A server that has too much to do, or as many runs in progress as may be, is asked again.
const look_ms = 60_000;
const nobody = "In a suite, calls that need an answer or an approval are not answered.";

/** Lets cases that diverged go on with real models, as forks, and compares what comes of them. */
export function createLiveRuns({ journal, runs, service, fork, log, now }: LiveRunsOptions) {
  /** Starts the fork of a case within what is left; `note` writes it down. Returns it, or why there is none. */
  async function start(
    scope: Scope,
    runId: string,
    found: Divergence,
    budget: Budget,
    note: (started: LiveResult) => void,
  ): Promise<LiveResult> {
    let started: LiveResult | null = null;
    try {
      const step_index = forkStep(await readRecord(journal, runId), found);
      const body: ForkRun = {
        step_index,
        tools: "recorded_then_live",
        agent: "current",
        on_concurrency_limit: "queue",
        ...(Object.keys(budget).length > 0 && { budget }),
      };
      await fork(scope, runId, body, newId("request", now()), ({ id }) => {
        started = { ...nothing, run_id: id, status: "in_progress" };
        note(started);
      });
      return started ?? notMade;
    } catch (error) {
      if (isStorageRefusal(error)) throw error;
      if (error instanceof AppError) return skipped(error.code, error.message);
      log.error("a case of a suite could not go on live", { run_id: runId, error });
      return notMade;
    }
  }

  /** Waits for the end of a fork, and compares it with the run that it was made of; null when the signal was sooner. */
  async function finish(scope: Scope, runId: string, forkId: string, signal: AbortSignal): Promise<LiveResult | null> {
    try {
      for (;;) {
        const { status } = runs.standing(scope, forkId);
        if (isOver(status)) return await compared(runId, forkId);
        if (signal.aborted) return null;
        if (status === "requires_action") await service.cancel(scope, forkId, nobody);
        else await service.settled(forkId, look_ms, [signal]);
      }
    } catch (error) {
      if (isStorageRefusal(error)) throw error;
      const { code, message } = error instanceof AppError ? error : internalError;
      if (!(error instanceof AppError)) log.error("a fork could not be compared", { run_id: forkId, error });
      return failed(forkId, { code, message });
    }
  }

  async function compared(runId: string, forkId: string): Promise<LiveResult> {
    const rest = inSlices();
    const [a, b] = [await readTrace(journal, runId, { rest }), await readTrace(journal, forkId, { rest })];
    if (!a || !b) return failed(forkId, { code: "run_deleted", message: "One of the two runs was deleted." });
    const diff = { equal: 0, changed: 0, only_a: 0, only_b: 0 };
    for (const { change } of stepPairs(a.steps, b.steps)) {
      diff[change]++;
      await rest();
    }
    const { status, usage, output, error } = b.state;
    return {
      run_id: forkId,
      status,
      output_equal: isEqual(a.state, b.state),
      output: headOf(output),
      diff,
      cost_usd: usage.cost_usd,
      total_tokens: usage.total_tokens,
      error: error && { code: error.code, message: error.message },
    };
  }

  return {
    start,
    finish,
    /** Ends a fork that nobody waits for any more. */
    async cancel(scope: Scope, forkId: string): Promise<void> {
      await service.cancel(scope, forkId, "The suite run was cancelled.").catch((error) => {
        if (!(error instanceof AppError)) throw error; // It is over, or gone.
      });
    },
  };
}

/** What is left for the next fork of what all of them may spend; null where nothing is. Of what is unknown nothing is. */
export function budgetLeft({ max_runs: _, ...all }: Live, before: readonly LiveResult[]): Budget | null {
  const after = (left: Budget, { cost_usd, total_tokens }: LiveResult): Budget =>
    remaining(left, { usage: { cost_usd, total_tokens, tool_calls: 0 }, wall_ms: 0 })!;
  const left = before.reduce<Budget>(after, all);
  return Object.values(left).every((amount) => amount > 0) ? left : null;
}

const isEqual = (a: RunState, b: RunState): boolean =>
  a.status === b.status && a.output === b.output && equalJson(a.output_json ?? null, b.output_json ?? null);

const nothing: Omit<LiveResult, "run_id" | "status"> = {
  output_equal: null,
  output: null,
  diff: null,
  cost_usd: null,
  total_tokens: null,
  error: null,
};

/** Of a case that does not go on live. */
export function skipped(code: string, message: string): LiveResult {
  return { ...nothing, run_id: null, status: "skipped", error: { code, message } };
}

/** Of a fork that nothing is known of. */
const failed = (run_id: string, error: CodedError): LiveResult => ({ ...nothing, run_id, status: "failed", error });

const notMade = skipped("internal_error", "The fork could not be created.");
const internalError = { code: "internal_error", message: "The fork could not be compared." };

/**
 * The step after which a run goes on live where its replay diverged: the model is asked anew, with what the record has of
 * everything before; where a call comes out otherwise, its answer stands and the call is made anew. -1 is the start.
 */
function forkStep(entries: readonly JournalEntry[], { step_index, kind }: Divergence): number {
  if (kind === "tool_call") return lastStep(entries, (event) => hasEnded(event, ["model_call"], step_index + 1));
  const asked = lastStep(
    entries,
    (event) => event.type === "step.started" && event.step_type === "model_call" && event.step_index <= step_index,
  );
  return lastStep(entries, (event) => hasEnded(event, ["model_call", "tool_call", "subagent"], asked));
}

/** The step of the last such entry, or -1. */
function lastStep(entries: readonly JournalEntry[], fits: (event: RunEvent) => boolean): number {
  const event = entries.findLast((entry) => fits(entry.event))?.event;
  return event && "step_index" in event ? (event.step_index ?? -1) : -1;
}

/** A model call that failed is nothing to go on after; a tool that did is what the model was told. */
const hasEnded = (event: RunEvent, types: readonly string[], before: number): boolean =>
  event.type === "step.completed" &&
  types.includes(event.step_type) &&
  (event.step_type !== "model_call" || event.status === "completed") &&
  event.step_index < before;
