import { childEvents } from "../core/child-events.ts";
import { endsRun, type JournalEntry, type RequiredCall, type RunEvent } from "../core/run-event.ts";
import { isOver } from "../core/run-state.ts";
import { unlessDamaged } from "../db/unless-damaged.ts";
import type { Inserted, Journal } from "../journal/journal.ts";
import type { ChildStanding } from "../worker/messages.ts";
import type { ChildStandings } from "./child-standings.ts";
import type { DueWrites } from "./due-writes.ts";
import type { Ends } from "./ends.ts";
import type { Pool } from "./pool.ts";
import type { RunStore } from "./store.ts";
import type { Watches } from "./watch.ts";

/**
 * How runs and those that their calls start are told of one another. Their rows say who belongs to whom; whatever a
 * parent has to know of a child is read from where the child stands now, so that nothing that was missed stays missed.
 */
export function createChildren({
  journal,
  watches,
  pool,
  runs,
  standings,
  ends,
  due,
  now,
}: {
  journal: Journal;
  watches: Watches;
  pool: Pool;
  runs: RunStore;
  standings: Pick<ChildStandings, "of" | "callsOf">;
  ends: Pick<Ends, "orphaned">;
  due: DueWrites;
  now: () => number;
}) {
  /** Loops that wait for a run, by its id. */
  const waiters = new Map<string, Set<(standing: ChildStanding) => void>>();
  const unlisten = watches.listen(heard);

  /** Returns when a child is over or waits for somebody; whoever has stopped waiting in between is told in vain. */
  function standing(runId: string): ChildStanding | Promise<ChildStanding> {
    const standing = standings.of(runId);
    if (standing) return standing;
    const { promise, resolve } = Promise.withResolvers<ChildStanding>();
    waiters.set(runId, (waiters.get(runId) ?? new Set()).add(resolve));
    return promise;
  }

  function heard(runId: string, entries: readonly JournalEntry[]): void {
    const told = entries.findLast(({ event }) => turns(event));
    if (!told) return;
    const { event } = told;
    const head = journal.head(runId);
    tellWaiters(runId);
    if (head?.parent_run_id) settle(head.parent_run_id);
    if (head && isOver(head.status)) endBelow(runId);
    else if (event.type === "run.requires_action" && event.required_action.submit_tool_outputs.tool_calls.some(ofChild))
      settle(runId); // What it was told of its children may be past by now.
  }

  function tellWaiters(runId: string): void {
    const waiting = waiters.get(runId);
    const standing = waiting ? standings.of(runId) : null;
    if (!standing) return;
    waiters.delete(runId);
    for (const resolve of waiting!) resolve(standing);
  }

  /** Has a run that waits go on, or wait for something else, by where its children stand now. */
  function settle(runId: string): void {
    if (journal.head(runId)?.status !== "requires_action") return;
    void due.write(runId, async () => {
      const entries = await journal.commit(runId, () => insertNotes(runId));
      if (entries.length > 0) pool.start(runId);
    });
  }

  /** Ends what works for a run that is over, and for those below it. */
  function endBelow(runId: string): void {
    for (const id of runs.unfinishedBelow(runId))
      void due.write(id, async () => {
        await journal.commit(id, () => ends.orphaned(id));
        pool.abort(id);
      });
  }

  /** Within a write: what a run notes of its children. */
  function insertNotes(runId: string): JournalEntry[] {
    if (journal.head(runId)?.status !== "requires_action") return [];
    return journal.insert(runId, childEvents(journal.state(runId), standings.callsOf, now()));
  }

  return {
    standing,
    /** Within a write: what those above a run note of where it now stands. */
    insertAbove(runId: string): Inserted[] {
      const all: Inserted[] = [];
      for (let id = journal.head(runId)?.parent_run_id; id; id = journal.head(id)?.parent_run_id) {
        const above = id;
        const entries = unlessDamaged(() => insertNotes(above)) ?? [];
        if (entries.length === 0) break; // Nothing changed for those above it either.
        all.push([above, entries]);
      }
      return all;
    },
    /** At boot, before anybody is driven: ends runs whose parent has ended. */
    endOrphans(): void {
      for (const id of runs.withOrphans()) endBelow(id);
    },
    /** At boot: a child may have moved on just before the process ended. */
    settleAll(): void {
      for (const id of runs.waitingParents()) settle(id);
    },
    stop: unlisten,
  };
}

/** After these a run stands elsewhere for whoever waits for it. */
const turns = (event: RunEvent): boolean =>
  event.type === "run.requires_action" || event.type === "run.resumed" || endsRun(event);

const ofChild = ({ run_id }: RequiredCall): boolean => run_id !== undefined;
