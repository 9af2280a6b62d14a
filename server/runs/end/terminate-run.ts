import { AppError } from "../../domain/errors.ts";
import type { JournalEntry, RunError, RunEvent } from "../../domain/run-event.ts";
import { fold, isOver, type RunState } from "../../domain/run-state.ts";
import { cancelledEvents, failedEvents, withChildUsages } from "../../domain/terminal-events.ts";
import { requireValue } from "../../lib/require-value.ts";
import { nullIfUnreadable } from "../../storage/db/null-if-unreadable.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import type { ChildStatuses } from "../dispatch/child-status.ts";
import type { OrphanedRuns } from "../recovery/orphaned-runs.ts";
import { recoveredEvent } from "../recovery/recovery.ts";
import type { RunRow } from "../run-row.ts";
import type { RunStore } from "../store.ts";
import { partialOf } from "../stream/partial.ts";
import type { RunSubscriptions } from "../stream/run-subscriptions.ts";

export type RunTerminator = ReturnType<typeof createRunTerminator>;

/** Ends a run and, before it, its descendants. Call inside a write. */
export function createRunTerminator({
  journal,
  watches,
  runs,
  children,
  lost,
  now,
}: {
  journal: Journal;
  watches: RunSubscriptions;
  runs: RunStore;
  children: ChildStatuses;
  lost: OrphanedRuns;
  now: () => number;
}) {
  const saidSoFar = (state: RunState) => partialOf(watches.live(state.run.run_id), state, journal);

  const cancelled = (reason: string | null) => (last: RunState) =>
    cancelledEvents(last, reason, now(), saidSoFar(last), children.usagesOf(last));

  /** Returns the end entries of a run, after those of its descendants. */
  const end = (id: string, state: RunState, eventsOf: (state: RunState) => RunEvent[]): Inserted[] => [
    ...endBelow(id),
    [id, endOne(id, state, eventsOf)],
  ];

  /** Skips descendants with damaged records, so that they do not keep the run from ending; they are given up later. */
  const endBelow = (id: string): Inserted[] =>
    runs.unfinishedBelow(id).flatMap((orphan): Inserted[] => {
      const entries = nullIfUnreadable(() => orphaned(orphan));
      return entries ? [[orphan, entries]] : [];
    });

  /** Ends a run whose parent is over. */
  function orphaned(id: string): JournalEntry[] {
    const head = journal.head(id);
    if (!head || isOver(head.status)) return [];
    return endOne(id, journal.state(id), cancelled("The run that started it has ended."));
  }

  /** Ends a run; if its recovery is outstanding, records that first, so that readers learn which deltas are void. */
  function endOne(id: string, state: RunState, eventsOf: (state: RunState) => RunEvent[]): JournalEntry[] {
    const isLost = state.status === "in_progress" && !watches.live(id) && lost.mayHave(id);
    const recoveryEntries = isLost ? journal.insert(id, [recoveredEvent(state)]) : [];
    return [...recoveryEntries, ...journal.insert(id, eventsOf(fold(recoveryEntries, state)))];
  }

  return {
    orphaned,
    /** Throws if the run is over. */
    cancelled({ id, status }: Pick<RunRow, "id" | "status">, reason: string | null): Inserted[] {
      if (isOver(status)) throw new AppError("run_already_terminal", `The run is ${status} already.`);
      return end(id, journal.state(id), cancelled(reason));
    },
    /** Fails a run, with its partial output. */
    failed: (state: RunState, error: RunError): Inserted[] =>
      end(state.run.run_id, state, (last) =>
        failedEvents(last, error, now(), saidSoFar(last), children.usagesOf(last)),
      ),
    /** Fails a run that a guardrail blocks before its next step, so it has no partial output. */
    blocked: (state: RunState): Inserted[] =>
      end(state.run.run_id, state, (last) =>
        failedEvents(last, requireValue(last.blocked, "The verdict"), now(), null, children.usagesOf(last)),
      ),
    /** Inserts events of a driven run; if they fail it, ends its descendants first. */
    driven(id: string, events: readonly RunEvent[], attempt?: number): Inserted[] {
      if (events.at(-1)?.type !== "run.failed" || runs.below(id).length === 0)
        return [[id, journal.insert(id, events, attempt)]];
      const descendantEntries = endBelow(id);
      const state = journal.state(id);
      const eventsWithUsages = withChildUsages(state, events, now(), children.usagesOf(state));
      return [...descendantEntries, [id, journal.insert(id, eventsWithUsages, attempt)]];
    },
  };
}
