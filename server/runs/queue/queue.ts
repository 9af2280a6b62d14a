import { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { nameOf, type Scope } from "../../domain/scope.ts";
import { createPoll } from "../../lib/poll.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import type { Pool } from "../dispatch/pool.ts";
import type { CreateRun } from "../schema.ts";
import type { RunStore } from "../store.ts";
import type { RunSubscriptions } from "../stream/run-subscriptions.ts";
import { estimateQueueWait } from "./queue-wait-estimate.ts";

// Pause before a write that storage refused (full disk) is retried.
const again_ms = 1000;
// Maximum number of runs begun in one write: a raised limit may release a whole queue.
const atOnce = 50;

export type RunQueue = ReturnType<typeof createRunQueue>;

/**
 * Run queue: runs begin in the order of creation, as soon as the limit allows. The queue itself is the rows with status
 * `queued`; only the waiting scopes are kept in memory.
 */
export function createRunQueue({
  journal,
  watches,
  runs,
  pool,
  slots,
  look_ms = 250,
  now,
}: {
  journal: Journal;
  watches: RunSubscriptions;
  runs: RunStore;
  pool: Pool;
  /** Maximum number of runs of a scope in progress. */
  slots(scope: Scope): number;
  /** Milliseconds between polls: another process may have raised the limit. */
  look_ms?: number;
  now: () => number;
}) {
  const waiting = new Map<string, Scope>();
  const advancing = new Set<string>();
  let stopped = false;
  const poll = createPoll({ every_ms: look_ms, look });
  const unlisten = watches.listen(onCommit);

  /**
   * Call inside a write. Returns null if the run may begin now, else its queue position. Throws if the scope or its
   * queue is full. `line` is its position in its thread; such a run needs no slot yet.
   */
  function place(
    scope: Scope,
    limitPolicy: CreateRun["on_concurrency_limit"] = "reject",
    line: number | null = null,
  ): number | null {
    const limit = slots(scope);
    if (line !== null) {
      const queued = runs.queued(scope);
      if (queued < limits.queued_runs) return line;
      throw limitError(scope, limit, queued);
    }
    if (limit === Number.POSITIVE_INFINITY) return null;
    const waiting = runs.waitForSlot(scope);
    const ahead = limitPolicy === "queue" && waiting > 0; // A run that may queue lets earlier ones begin first.
    // Free slots belong to waiting runs.
    if (!ahead && runs.inProgress(scope) + waiting < limit) return null;
    const queued = runs.queued(scope);
    if (limitPolicy === "queue" && queued < limits.queued_runs) return waiting + 1;
    throw limitError(scope, limit, queued, limitPolicy === "queue" ? 0 : waiting);
  }

  /**
   * `ahead` is the number of runs that wait for a slot before it; if the queue itself is full, the next start makes
   * room.
   */
  function limitError(scope: Scope, limit: number, queued: number, ahead = 0): AppError {
    const message =
      queued < limits.queued_runs
        ? `${limit} runs are in progress or wait to be, which is the limit. Try again when one has ended.`
        : `${queued} runs are queued, which is the limit. Try again when one has begun.`;
    const retryAfter = estimateQueueWait(runs.pace(scope, now()), ahead) / 1000;
    return new AppError("concurrency_limit_exceeded", message, { retryAfter, details: { limit, queued } });
  }

  /** Call after a run of this scope became `queued`. */
  function wait(scope: Scope): void {
    waiting.set(nameOf(scope), scope);
    poll.wake();
    advance(scope);
  }

  function look(): boolean {
    for (const scope of waiting.values()) advance(scope);
    return waiting.size > 0;
  }

  function onCommit(runId: string): void {
    if (waiting.size === 0) return;
    const head = journal.head(runId);
    const scope = head && head.status !== "in_progress" && waiting.get(nameOf(head));
    if (scope) advance(scope);
  }

  async function beginQueued(scope: Scope): Promise<void> {
    const key = nameOf(scope);
    if (stopped || advancing.has(key)) return; // The active loop re-checks before it ends.
    advancing.add(key);
    try {
      for (let next = nextToBegin(scope); next.length > 0; next = nextToBegin(scope)) {
        const results = await Promise.all(next.map((id) => pool.begin(id, () => mayBegin(scope, id))));
        if (stopped) return;
        // Storage refused, or a run resumed from requires_action has taken the slot.
        if (!results.every(Boolean) || runs.firstQueued(scope, 1)[0] === next[0]) return later(scope);
      }
      if (runs.queued(scope) === 0) waiting.delete(key);
    } finally {
      advancing.delete(key);
    }
  }

  const advance = (scope: Scope): void => void beginQueued(scope).catch(() => later(scope));
  const later = (scope: Scope): void => void setTimeout(() => advance(scope), again_ms);

  /** Returns the runs that may begin now, oldest first. */
  function nextToBegin(scope: Scope): string[] {
    if (runs.queued(scope) === 0) return []; // Its project may be deleted, and its limit with it.
    return runs.firstQueued(scope, Math.max(0, Math.min(slots(scope) - runs.inProgress(scope), atOnce)));
  }

  // Checked inside the write: the previous run may not have begun, and others may have resumed from requires_action.
  const mayBegin = (scope: Scope, id: string): boolean =>
    runs.firstQueued(scope, 1)[0] === id && runs.inProgress(scope) < slots(scope);

  return {
    place,
    wait,
    /** At boot: resumes the queues of an earlier process. */
    load: (): void => runs.queues().forEach(wait),
    stop(): void {
      stopped = true;
      unlisten();
      poll.stop();
    },
  };
}
