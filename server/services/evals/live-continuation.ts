import { remainingBudget } from "../../domain/budget.ts";
import type { Budget } from "../../domain/budget-schema.ts";
import { stepPairs } from "../../domain/diff.ts";
import { equalJson } from "../../domain/equal.ts";
import { AppError, type CodedError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Divergence, JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { isOver, type RunState } from "../../domain/run-state.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Log } from "../../lib/log.ts";
import { readTrace } from "../../resources/traces/read-trace.ts";
import type { ForkRun } from "../../runs/fork/fork-schema.ts";
import type { RunService } from "../../runs/service.ts";
import type { Note, RunStore } from "../../runs/store.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { readRecord } from "../../storage/journal/read-record.ts";
import { headOf, type LiveResult } from "./row.ts";
import type { Live } from "./schema.ts";

/** Forks a run; `note` is called inside the write that creates the fork. */
type Fork = (scope: Viewer, runId: string, body: ForkRun, requestId: string, note: Note) => Promise<unknown>;

interface LiveRunsOptions {
  journal: Journal;
  runs: RunStore;
  service: RunService;
  fork: Fork;
  log: Log;
  now: () => number;
}

export type LiveContinuation = ReturnType<typeof createLiveContinuation>;

// The interval at which a wait for a fork is renewed.
const look_ms = 60_000;
const unansweredMessage = "In a suite, calls that need an answer or an approval are not answered.";

/** Continues diverged cases with real models, as forks, and compares the results. */
export function createLiveContinuation({ journal, runs, service, fork, log, now }: LiveRunsOptions) {
  /**
   * Forks a case within the remaining budget; `note` stores the fork. Returns the fork, or the reason why there is
   * none.
   */
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
      if (error instanceof AppError) return skippedResult(error.code, error.message);
      log.error("a case of a suite could not go on live", { run_id: runId, error });
      return notMade;
    }
  }

  /** Waits for a fork to end and compares it with the original run; null if the signal came first. */
  async function finish(scope: Scope, runId: string, forkId: string, signal: AbortSignal): Promise<LiveResult | null> {
    try {
      for (;;) {
        const { status } = runs.standing(scope, forkId);
        if (isOver(status)) return await compared(runId, forkId);
        if (signal.aborted) return null;
        if (status === "requires_action") await service.cancel(scope, forkId, unansweredMessage);
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
    const yieldTurn = createYielder();
    const [a, b] = [
      await readTrace(journal, runId, { rest: yieldTurn }),
      await readTrace(journal, forkId, { rest: yieldTurn }),
    ];
    if (!a || !b) return failed(forkId, { code: "run_deleted", message: "One of the two runs was deleted." });
    const diff = { equal: 0, changed: 0, only_a: 0, only_b: 0 };
    for (const { change } of stepPairs(a.steps, b.steps)) {
      diff[change]++;
      await yieldTurn();
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
    /** Cancels a fork that is no longer needed. */
    async cancel(scope: Scope, forkId: string): Promise<void> {
      await service.cancel(scope, forkId, "The suite run was cancelled.").catch((error) => {
        if (!(error instanceof AppError)) throw error; // The fork is over or deleted.
      });
    },
  };
}

/** Returns the budget left for the next fork, or null if none is left. If an earlier cost is unknown, none is left. */
export function budgetLeft({ max_runs: _, ...all }: Live, before: readonly LiveResult[]): Budget | null {
  const after = (remaining: Budget, { cost_usd, total_tokens }: LiveResult): Budget =>
    remainingBudget(remaining, { usage: { cost_usd, total_tokens, tool_calls: 0 }, wall_ms: 0 });
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

/** Result of a case that does not continue live. */
export function skippedResult(code: string, message: string): LiveResult {
  return { ...nothing, run_id: null, status: "skipped", error: { code, message } };
}

/** Result of a fork that could not be compared. */
const failed = (run_id: string, error: CodedError): LiveResult => ({ ...nothing, run_id, status: "failed", error });

const notMade = skippedResult("internal_error", "The fork could not be created.");
const internalError = { code: "internal_error", message: "The fork could not be compared." };

/**
 * Step index at which live execution takes over from the recording; -1: from the start. A changed model call is
 * repeated after the recorded steps before it; a changed tool call is repeated after its recorded model call.
 */
function forkStep(entries: readonly JournalEntry[], { step_index, kind }: Divergence): number {
  if (kind === "tool_call") return lastStep(entries, (event) => hasEnded(event, ["model_call"], step_index + 1));
  const modelStepIndex = lastStep(
    entries,
    (event) => event.type === "step.started" && event.step_type === "model_call" && event.step_index <= step_index,
  );
  return lastStep(entries, (event) => hasEnded(event, ["model_call", "tool_call", "subagent"], modelStepIndex));
}

/** Index of the last matching step, or -1. */
function lastStep(entries: readonly JournalEntry[], fits: (event: RunEvent) => boolean): number {
  const event = entries.findLast((entry) => fits(entry.event))?.event;
  return event && "step_index" in event ? (event.step_index ?? -1) : -1;
}

/**
 * True for a step to continue after. A failed model call is none; a failed tool call is, because the model saw its
 * error.
 */
const hasEnded = (event: RunEvent, types: readonly string[], before: number): boolean =>
  event.type === "step.completed" &&
  types.includes(event.step_type) &&
  (event.step_type !== "model_call" || event.status === "completed") &&
  event.step_index < before;
