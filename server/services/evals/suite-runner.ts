import type { CaseStatus } from "../../domain/api-types/enums.ts";
import { notFound } from "../../domain/not-found.ts";
import { nameOf } from "../../domain/scope.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";
import type { Log } from "../../lib/log.ts";
import { onAbort } from "../../lib/on-abort.ts";
import { sleep } from "../../lib/retry.ts";
import { isStorageRefusal } from "../../storage/db/corruption.ts";
import type { Db } from "../../storage/db/open.ts";
import type { Compare } from "./compare.ts";
import { budgetLeft, type LiveContinuation, skippedResult } from "./live-continuation.ts";
import { type CaseResult, type CaseRow, type Comparison, type LiveResult, resultOf, type SuiteRunRow } from "./row.ts";
import type { Live } from "./schema.ts";
import type { SuiteRuns } from "./suite-runs.ts";

interface RunnerOptions {
  db: Db;
  suiteRuns: SuiteRuns;
  compare: Compare;
  live: LiveContinuation;
  /** False for an archived or deleted project, whose suite runs stop. */
  isOpen: (projectId: string) => boolean;
  log: Log;
}

interface ActiveSuiteRun {
  done: Promise<void>;
  abort: AbortController;
}

export type SuiteRunner = ReturnType<typeof createSuiteRunner>;

const liveRunsDefault = 20;
const again_ms = 1000;

/**
 * Executes suite runs one case at a time. Each result is stored before the next case, so that a restarted server
 * continues there.
 */
export function createSuiteRunner({ db, suiteRuns, compare, live, isOpen, log }: RunnerOptions) {
  const active = new Map<string, ActiveSuiteRun>();
  const stopping = new AbortController();
  // Replays of all suites take turns, one per owner, so that they use only a part of the server.
  const queue = createFairQueue({ count: 2, reserve: 1 });

  function begin(row: SuiteRunRow): void {
    if (stopping.signal.aborted || active.has(row.id)) return;
    const abort = new AbortController();
    const done = perform(row, abort.signal).then(() => void active.delete(row.id));
    active.set(row.id, { done, abort });
  }

  async function perform(row: SuiteRunRow, signal: AbortSignal): Promise<void> {
    let isBroken = false;
    while (!signal.aborted)
      try {
        if (!isOpen(row.project_id)) return await end(row, true);
        const next = suiteRuns.nextCase(row);
        if (!next || isBroken) return await end(row, false);
        await performCase(row, next, signal);
      } catch (error) {
        if (signal.aborted) return; // The wait for its turn was aborted, or the suite run was abandoned.
        // Pause: a full disk may get room again, and a suite run that cannot even be ended must not loop.
        if (isBroken || isStorageRefusal(error)) await sleep(again_ms, signal);
        if (!isStorageRefusal(error)) isBroken = logged(error, row);
      }
  }

  const end = (row: SuiteRunRow, cancelled: boolean): Promise<void> => db.write(() => suiteRuns.end(row, cancelled));

  function logged(error: unknown, { id }: SuiteRunRow, run_id?: string): true {
    log.error("a suite run met a bug", { suite_run_id: id, run_id, error });
    return true;
  }

  async function performCase(row: SuiteRunRow, next: CaseRow, signal: AbortSignal): Promise<void> {
    const storedResult = resultOf(next);
    // A fork started before a crash is waited for instead of started again.
    const comparison = storedResult ?? (await queue.run(nameOf(row), signal, () => comparisonOf(row, next)));
    if (signal.aborted) return;
    const fork = storedResult?.live ?? (await goOn(row, next, comparison, signal));
    const liveResult =
      fork?.run_id && fork.status === "in_progress" ? await live.finish(row, next.run_id, fork.run_id, signal) : fork;
    if (signal.aborted) return;
    failpoint?.("before_suite.case");
    await saveResult(row, next, statusOf(comparison), { ...comparison, live: liveResult });
    failpoint?.("after_suite.case");
  }

  async function comparisonOf(row: SuiteRunRow, { run_id, agent_id }: CaseRow): Promise<Comparison> {
    // Yield, because a series of short replays would block other requests.
    await new Promise((resolve) => setImmediate(resolve));
    try {
      return await compare(row, run_id, agent_id);
    } catch (error) {
      if (isStorageRefusal(error)) throw error;
      logged(error, row, run_id);
      return {
        ...noComparison,
        error: { code: "internal_error", message: "An internal error occurred. The server's log has the cause." },
      };
    }
  }

  /** Forks a diverged case if the suite run has budget left; null if nothing continues live. */
  async function goOn(
    row: SuiteRunRow,
    next: CaseRow,
    comparison: Comparison,
    signal: AbortSignal,
  ): Promise<LiveResult | null> {
    const [first] = comparison.divergences;
    if (row.live === null || !first || comparison.error) return null;
    const liveSettings = row.live as Live;
    const before = suiteRuns.forks(row);
    if (before.length >= (liveSettings.max_runs ?? liveRunsDefault))
      return skippedResult("max_runs_reached", "The limit of live cases (max_runs) is reached.");
    const remaining = budgetLeft(liveSettings, before);
    if (!remaining) return skippedResult("budget_exceeded", "The budget is used up.");
    if (signal.aborted) return null;
    return live.start(row, next.run_id, first, remaining, (started) => {
      // The suite was deleted meanwhile, so do not start the fork.
      if (!suiteRuns.putCase(row, next, "pending", { ...comparison, live: started })) throw notFound();
    });
  }

  const saveResult = (row: SuiteRunRow, next: CaseRow, status: CaseStatus, result: CaseResult): Promise<boolean> =>
    db.write(() => suiteRuns.putCase(row, next, status, result));

  /** Stops work on a suite run; resolves when it has stopped here. */
  async function leave(id: string): Promise<void> {
    const performance = active.get(id);
    performance?.abort.abort();
    await performance?.done;
  }

  /** Stops work on a suite run and cancels its current fork, whose cost is still recorded. */
  async function abandon(row: SuiteRunRow): Promise<void> {
    await leave(row.id);
    const next = suiteRuns.nextCase(row);
    const known = next && resultOf(next);
    if (!next || !known?.live?.run_id || known.live.status !== "in_progress") return;
    await live.cancel(row, known.live.run_id);
    const ended = await live.finish(row, next.run_id, known.live.run_id, AbortSignal.abort());
    if (ended) await saveResult(row, next, "pending", { ...known, live: ended });
  }

  return {
    begin,
    abandon,
    /** Resolves when the suite run is over, after `ms`, or when a signal is aborted. */
    async settled(id: string, ms: number, signals: readonly AbortSignal[]): Promise<void> {
      const enough = new AbortController();
      const forget = onAbort(signals, () => enough.abort());
      await Promise.race([active.get(id)?.done, sleep(ms, enough.signal)]);
      forget();
      enough.abort();
    },
    /** Called at start: continues the suite runs of an earlier process. */
    recover(): void {
      for (const row of suiteRuns.unfinished()) begin(row);
    },
    /** For tests: resolves when no suite run is in progress. */
    async idle(): Promise<void> {
      await Promise.all([...active.values()].map(({ done }) => done));
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([...active.keys()].map(leave));
    },
  };
}

const noComparison: Comparison = {
  error: null,
  agent_version: null,
  divergences_count: 0,
  divergences: [],
  matched_steps: 0,
};

const statusOf = ({ error, divergences_count }: Comparison): CaseStatus => {
  if (error) return "failed";
  return divergences_count > 0 ? "diverged" : "equal";
};
