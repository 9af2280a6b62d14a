import { cancelledEvents, failedEvents, withChildUsages } from "../core/conclude.ts";
import { AppError } from "../core/errors.ts";
import type { JournalEntry, RunError, RunEvent } from "../core/run-event.ts";
import { fold, isOver, type RunState } from "../core/run-state.ts";
import { unlessDamaged } from "../db/unless-damaged.ts";
import type { Inserted, Journal } from "../journal/journal.ts";
import type { ChildStandings } from "./child-standings.ts";
import type { LostRuns } from "./lost-runs.ts";
import { partialOf } from "./partial.ts";
import { recoveredEvent } from "./recovery.ts";
import type { RunRow } from "./run-row.ts";
import type { RunStore } from "./store.ts";
import type { Watches } from "./watch.ts";

export type Ends = ReturnType<typeof createEnds>;

/** Within writes: how runs end, and before them all that works for them. */
export function createEnds({
  journal,
  watches,
  runs,
  children,
  lost,
  now,
}: {
  journal: Journal;
  watches: Pick<Watches, "live">;
  runs: Pick<RunStore, "below" | "unfinishedBelow">;
  children: Pick<ChildStandings, "usagesOf">;
  lost: Pick<LostRuns, "mayHave">;
  now: () => number;
}) {
  const saidSoFar = (state: RunState) => partialOf(watches.live(state.run!.run_id), state, journal);

  const cancelled = (reason: string | null) => (last: RunState) =>
    cancelledEvents(last, reason, now(), saidSoFar(last), children.usagesOf(last));

  /** The end of a run, and before it of all that works for it. */
  const end = (id: string, state: RunState, eventsOf: (state: RunState) => RunEvent[]): Inserted[] => [
    ...endBelow(id),
    [id, endOne(id, state, eventsOf)],
  ];

  /** One whose record is damaged may not keep its parent from ending: it is given up after that. */
  const endBelow = (id: string): Inserted[] =>
    runs.unfinishedBelow(id).flatMap((orphan): Inserted[] => {
      const entries = unlessDamaged(() => orphaned(orphan));
      return entries ? [[orphan, entries]] : [];
    });

  /** The end of a run whose parent is over. */
  function orphaned(id: string): JournalEntry[] {
    const head = journal.head(id);
    if (!head || isOver(head.status)) return [];
    return endOne(id, journal.state(id), cancelled("The run that started it has ended."));
  }

  /** The end of a run, and before it the recovery that it is still owed: its readers learn what is void. */
  function endOne(id: string, state: RunState, eventsOf: (state: RunState) => RunEvent[]): JournalEntry[] {
    const isLost = state.status === "in_progress" && !watches.live(id) && lost.mayHave(id);
    const owed = isLost ? journal.insert(id, [recoveredEvent(state)]) : [];
    return [...owed, ...journal.insert(id, eventsOf(fold(owed, state)))];
  }

  return {
    orphaned,
    /** Throws for a run that is over. */
    cancelled({ id, status }: Pick<RunRow, "id" | "status">, reason: string | null): Inserted[] {
      if (isOver(status)) throw new AppError("run_already_terminal", `The run is ${status} already.`);
      return end(id, journal.state(id), cancelled(reason));
    },
    /** Fails it, with what it said so far. */
    failed: (state: RunState, error: RunError): Inserted[] =>
      end(state.run!.run_id, state, (last) =>
        failedEvents(last, error, now(), saidSoFar(last), children.usagesOf(last)),
      ),
    /** Fails a run that a guardrail stops before it goes on: it has said nothing since. */
    blocked: (state: RunState): Inserted[] =>
      end(state.run!.run_id, state, (last) => failedEvents(last, last.blocked!, now(), null, children.usagesOf(last))),
    /** What is recorded of a run that is driven. Where it fails, all that works for it ends before. */
    driven(id: string, events: readonly RunEvent[], attempt?: number): Inserted[] {
      if (events.at(-1)?.type !== "run.failed" || runs.below(id).length === 0)
        return [[id, journal.insert(id, events, attempt)]];
      const below = endBelow(id);
      const state = journal.state(id);
      const counted = withChildUsages(state, events, now(), children.usagesOf(state));
      return [...below, [id, journal.insert(id, counted, attempt)]];
    },
  };
}
