import { notFound } from "../core/not-found.ts";
import { nameOf } from "../core/scope.ts";
import { isStorageRefusal } from "../db/damage.ts";
import type { Db } from "../db/open.ts";
import { failpoint } from "../lib/failpoint.ts";
import { createFairQueue } from "../lib/fair/queue.ts";
import type { Log } from "../lib/log.ts";
import { sleep } from "../lib/retry.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import type { CaseStatus } from "../wire/names.ts";
import type { Compare } from "./compare.ts";
import { budgetLeft, type LiveRuns, skipped } from "./live.ts";
import { type CaseResult, type CaseRow, type Comparison, type LiveResult, resultOf, type SuiteRunRow } from "./row.ts";
import type { Live } from "./schema.ts";
import type { SuiteRuns } from "./suite-runs.ts";

interface PerformerOptions {
  db: Db;
  suiteRuns: SuiteRuns;
  compare: Compare;
  live: LiveRuns;
  /** Whether a project is in use: nothing of an archived one goes on. */
  isOpen: (projectId: string) => boolean;
  log: Log;
}

interface Performance {
  done: Promise<void>;
  abort: AbortController;
}

export type Performer = ReturnType<typeof createPerformer>;

const liveRunsDefault = 20;
const again_ms = 1000;

/**
 * Works through suite runs, a case at a time. What a case came to is written down before the next one begins, so that a
 * server that stops, in order or not, goes on where it was.
 */
export function createPerformer({ db, suiteRuns, compare, live, isOpen, log }: PerformerOptions) {
  const underWay = new Map<string, Performance>();
  const stopping = new AbortController();
  // Replays of all suites take turns, one of an owner at a time: they are never more than a part of what the server does.
  const queue = createFairQueue({ count: 2, reserve: 1 });

  function begin(row: SuiteRunRow): void {
    if (stopping.signal.aborted || underWay.has(row.id)) return;
    const abort = new AbortController();
    const done = perform(row, abort.signal).then(() => void underWay.delete(row.id));
    underWay.set(row.id, { done, abort });
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
        if (signal.aborted) return; // It waited for its turn, or nobody waits for it any more.
        // A disk that is full may have room again; what cannot even be ended is not tried without a pause.
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
    const known = resultOf(next);
    // What was begun before a crash is waited for, and not begun again.
    const comparison = known ?? (await queue.run(nameOf(row), signal, () => comparisonOf(row, next)));
    if (signal.aborted) return;
    const forked = known?.live ?? (await goOn(row, next, comparison, signal));
    const ended =
      forked?.run_id && forked.status === "in_progress"
        ? await live.finish(row, next.run_id, forked.run_id, signal)
        : forked;
    if (signal.aborted) return;
    failpoint?.("before_suite.case");
    await put(row, next, statusOf(comparison), { ...comparison, live: ended });
    failpoint?.("after_suite.case");
  }

  async function comparisonOf(row: SuiteRunRow, { run_id, agent_id }: CaseRow): Promise<Comparison> {
    // Short ones would follow each other without a break, and nobody else be heard.
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

  /** The fork of a case that diverged, where the suite run has something left for it; null where nothing goes on live. */
  async function goOn(
    row: SuiteRunRow,
    next: CaseRow,
    comparison: Comparison,
    signal: AbortSignal,
  ): Promise<LiveResult | null> {
    const [first] = comparison.divergences;
    if (row.live === null || !first || comparison.error) return null;
    const asked = row.live as Live;
    const before = suiteRuns.forks(row);
    if (before.length >= (asked.max_runs ?? liveRunsDefault))
      return skipped("max_runs_reached", "The limit of live cases (max_runs) is reached.");
    const left = budgetLeft(asked, before);
    if (!left) return skipped("budget_exceeded", "The budget is used up.");
    if (signal.aborted) return null;
    return live.start(row, next.run_id, first, left, (started) => {
      // The suite was deleted meanwhile: nobody would wait for the fork.
      if (!suiteRuns.putCase(row, next, "pending", { ...comparison, live: started })) throw notFound();
    });
  }

  const put = (row: SuiteRunRow, next: CaseRow, status: CaseStatus, result: CaseResult): Promise<boolean> =>
    db.write(() => suiteRuns.putCase(row, next, status, result));

  /** Ends the work on a suite run; returns when nothing of it goes on here. */
  async function leave(id: string): Promise<void> {
    const performance = underWay.get(id);
    performance?.abort.abort();
    await performance?.done;
  }

  /** Ends the work on a suite run and the fork that it waits for, which is over then with what it has cost. */
  async function abandon(row: SuiteRunRow): Promise<void> {
    await leave(row.id);
    const next = suiteRuns.nextCase(row);
    const known = next && resultOf(next);
    if (!known?.live?.run_id || known.live.status !== "in_progress") return;
    await live.cancel(row, known.live.run_id);
    const ended = await live.finish(row, next!.run_id, known.live.run_id, AbortSignal.abort());
    if (ended) await put(row, next!, "pending", { ...known, live: ended });
  }

  return {
    begin,
    abandon,
    /** Returns when a suite run is over, after `ms`, or when one of the signals is aborted. */
    async settled(id: string, ms: number, signals: readonly AbortSignal[]): Promise<void> {
      const enough = new AbortController();
      const forget = untilAborted(signals, () => enough.abort());
      await Promise.race([underWay.get(id)?.done, sleep(ms, enough.signal)]);
      forget();
      enough.abort();
    },
    /** At boot: goes on with what an earlier process left. */
    recover(): void {
      for (const row of suiteRuns.unfinished()) begin(row);
    },
    /** For tests: answers when no suite run is under way. */
    async idle(): Promise<void> {
      await Promise.all([...underWay.values()].map(({ done }) => done));
    },
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([...underWay.keys()].map(leave));
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
