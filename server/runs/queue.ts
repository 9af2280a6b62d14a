import { AppError } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import { nameOf, type Scope } from "../core/scope.ts";
import type { Journal } from "../journal/journal.ts";
import type { Pool } from "./pool.ts";
import type { CreateRun } from "./schema.ts";
import { slotWait } from "./slot-wait.ts";
import type { RunStore } from "./store.ts";
import type { Watches } from "./watch.ts";

// Storage that refused a write (a full disk) is asked again at this pace.
const again_ms = 1000;
// Where a limit is lifted a whole queue may begin: in writes that nobody has to wait for.
const atOnce = 50;

export type RunQueue = ReturnType<typeof createRunQueue>;

/**
 * Who may begin, and who waits for it: runs begin in the order in which they were created, as soon as fewer are in
 * progress than may be. The queue itself is the rows of runs that are `queued`; only whose they are is remembered here.
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
  watches: Watches;
  runs: RunStore;
  pool: Pool;
  /** How many runs of a scope may be in progress at once. */
  slots(scope: Scope): number;
  /** How often a queue is looked at when nothing happens: another process may have raised the limit. */
  look_ms?: number;
  now: () => number;
}) {
  const waiting = new Map<string, Scope>();
  const advancing = new Set<string>();
  let looks: Timer | null = null;
  let stopped = false;
  const unlisten = watches.listen(changed);

  /**
   * Within a write: null for a run that may begin now, else its place in the queue. Throws when there is neither. `line` is
   * its place behind others of its thread: then a slot is no matter yet.
   */
  function place(
    scope: Scope,
    wish: CreateRun["on_concurrency_limit"] = "reject",
    line: number | null = null,
  ): number | null {
    const limit = slots(scope);
    if (line !== null) {
      const queued = runs.queued(scope);
      if (queued < limits.queued_runs) return line;
      throw full(scope, limit, queued);
    }
    if (limit === Number.POSITIVE_INFINITY) return null;
    const waiting = runs.waitForSlot(scope);
    const ahead = wish === "queue" && waiting > 0; // Whoever queues lets those before it begin first.
    // Free slots belong to the runs that wait for them.
    if (!ahead && runs.inProgress(scope) + waiting < limit) return null;
    const queued = runs.queued(scope);
    if (wish === "queue" && queued < limits.queued_runs) return waiting + 1;
    throw full(scope, limit, queued, wish === "queue" ? 0 : waiting);
  }

  /** `ahead` is who waits for a slot before it; where the queue itself is full, the next that begins makes room. */
  function full(scope: Scope, limit: number, queued: number, ahead = 0): AppError {
    const message =
      queued < limits.queued_runs
        ? `${limit} runs are in progress or wait to be, which is the limit. Try again when one has ended.`
        : `${queued} runs are queued, which is the limit. Try again when one has begun.`;
    const retryAfter = slotWait(runs.pace(scope, now()), ahead) / 1000;
    return new AppError("concurrency_limit_exceeded", message, { retryAfter, details: { limit, queued } });
  }

  /** A run of this scope has become `queued`. */
  function wait(scope: Scope): void {
    waiting.set(nameOf(scope), scope);
    looks ??= setInterval(look, look_ms).unref();
    advance(scope);
  }

  function look(): void {
    for (const scope of waiting.values()) advance(scope);
  }

  function changed(runId: string): void {
    if (waiting.size === 0) return;
    const head = journal.head(runId);
    const scope = head && head.status !== "in_progress" && waiting.get(nameOf(head));
    if (scope) advance(scope);
  }

  async function move(scope: Scope): Promise<void> {
    const key = nameOf(scope);
    if (stopped || advancing.has(key)) return; // Whoever moves it looks again before it ends.
    advancing.add(key);
    try {
      for (let next = free(scope); next.length > 0; next = free(scope)) {
        const done = await Promise.all(next.map((id) => pool.begin(id, () => mayBegin(scope, id))));
        if (stopped) return;
        // Storage refused, or its slot was taken by a run that came back from waiting for an answer.
        if (!done.every(Boolean) || runs.firstQueued(scope, 1)[0] === next[0]) return later(scope);
      }
      if (runs.queued(scope) === 0) forget(key);
    } finally {
      advancing.delete(key);
    }
  }

  const advance = (scope: Scope): void => void move(scope).catch(() => later(scope));
  const later = (scope: Scope): void => void setTimeout(() => advance(scope), again_ms);

  /** The runs that may begin now, oldest first. */
  function free(scope: Scope): string[] {
    if (runs.queued(scope) === 0) return []; // Its project may be gone, and with it the limit.
    return runs.firstQueued(scope, Math.max(0, Math.min(slots(scope) - runs.inProgress(scope), atOnce)));
  }

  // Asked within the write: the one before may not have begun, and others may have come back from waiting for an answer.
  const mayBegin = (scope: Scope, id: string): boolean =>
    runs.firstQueued(scope, 1)[0] === id && runs.inProgress(scope) < slots(scope);

  function forget(key: string): void {
    waiting.delete(key);
    if (waiting.size > 0 || !looks) return;
    clearInterval(looks);
    looks = null;
  }

  return {
    place,
    wait,
    /** At boot: takes up the queues that an earlier process left. */
    load: (): void => runs.queues().forEach(wait),
    stop(): void {
      stopped = true;
      unlisten();
      if (looks) clearInterval(looks);
    },
  };
}
