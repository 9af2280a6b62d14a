import { childEvents } from "../../domain/child-events.ts";
import { endsRun, type JournalEntry, type RequiredCall, type RunEvent } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import type { ChildStanding } from "../../runtime/agent-loop/messages.ts";
import { nullIfUnreadable } from "../../storage/db/null-if-unreadable.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import type { RunTerminator } from "../end/terminate-run.ts";
import type { PendingWrites } from "../recovery/pending-writes.ts";
import type { RunStore } from "../store.ts";
import type { RunSubscriptions } from "../stream/run-subscriptions.ts";
import type { ChildStatuses } from "./child-status.ts";
import type { Pool } from "./pool.ts";

/**
 * Coordinates parent and child runs. Rows hold the relation; a parent always reads its child's current status, so that
 * a missed notification does no lasting harm.
 */
export function createChildren({
  journal,
  watches,
  pool,
  runs,
  standings: childStatuses,
  ends,
  due: pendingWrites,
  now,
}: {
  journal: Journal;
  watches: RunSubscriptions;
  pool: Pool;
  runs: RunStore;
  standings: ChildStatuses;
  ends: RunTerminator;
  due: PendingWrites;
  now: () => number;
}) {
  /** Loops waiting for a run, by run id. */
  const waiters = new Map<string, Set<(standing: ChildStanding) => void>>();
  const unlisten = watches.listen(onCommit);

  /** Resolves when the child run ends or requires action. Resolving a caller that has given up is harmless. */
  function standing(runId: string): ChildStanding | Promise<ChildStanding> {
    const standing = childStatuses.of(runId);
    if (standing) return standing;
    const { promise, resolve } = Promise.withResolvers<ChildStanding>();
    waiters.set(runId, (waiters.get(runId) ?? new Set()).add(resolve));
    return promise;
  }

  function onCommit(runId: string, entries: readonly JournalEntry[]): void {
    const change = entries.findLast(({ event }) => changesChildStatus(event));
    if (!change) return;
    const { event } = change;
    const head = journal.head(runId);
    notifyWaiters(runId);
    if (head?.parent_run_id) settle(head.parent_run_id);
    if (head && isOver(head.status)) endBelow(runId);
    else if (
      event.type === "run.requires_action" &&
      event.required_action.submit_tool_outputs.tool_calls.some(isChildCall)
    )
      settle(runId); // The statuses recorded for its children may be out of date.
  }

  function notifyWaiters(runId: string): void {
    const waiting = waiters.get(runId);
    const status = waiting && childStatuses.of(runId);
    if (!status) return;
    waiters.delete(runId);
    for (const resolve of waiting) resolve(status);
  }

  /** Resumes a waiting run, or updates what it waits for, by its children's current statuses. */
  function settle(runId: string): void {
    if (journal.head(runId)?.status !== "requires_action") return;
    void pendingWrites.write(runId, async () => {
      const entries = await journal.commit(runId, () => insertNotes(runId));
      if (entries.length > 0) pool.start(runId);
    });
  }

  /** Ends the unfinished descendants of a run that is over. */
  function endBelow(runId: string): void {
    for (const id of runs.unfinishedBelow(runId))
      void pendingWrites.write(id, async () => {
        await journal.commit(id, () => ends.orphaned(id));
        pool.abort(id);
      });
  }

  /** Call inside a write. Records changes of children's statuses in a run. */
  function insertNotes(runId: string): JournalEntry[] {
    if (journal.head(runId)?.status !== "requires_action") return [];
    return journal.insert(runId, childEvents(journal.state(runId), childStatuses.callsOf, now()));
  }

  return {
    standing,
    /** Call inside a write. Records in a run's ancestors that its status has changed. */
    insertAbove(runId: string): Inserted[] {
      const all: Inserted[] = [];
      for (let id = journal.head(runId)?.parent_run_id; id; id = journal.head(id)?.parent_run_id) {
        const above = id;
        const entries = nullIfUnreadable(() => insertNotes(above)) ?? [];
        if (entries.length === 0) break; // Nothing changed for higher ancestors either.
        all.push([above, entries]);
      }
      return all;
    },
    /** At boot, before any run is driven: ends runs whose parent has ended. */
    endOrphans(): void {
      for (const id of runs.withOrphans()) endBelow(id);
    },
    /** At boot: updates waiting parents, whose children may have moved on just before the process ended. */
    settleAll(): void {
      for (const id of runs.waitingParents()) settle(id);
    },
    stop: unlisten,
  };
}

/** True if the event changes the status that a parent waits for. */
const changesChildStatus = (event: RunEvent): boolean =>
  event.type === "run.requires_action" || event.type === "run.resumed" || event.type === "run.paused" || endsRun(event);

const isChildCall = ({ run_id }: RequiredCall): boolean => run_id !== undefined;
