import { onlyWaitsForChildren } from "../../domain/pause.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import { isOver, type RunState } from "../../domain/run-state.ts";
import { nullIfUnreadable } from "../../storage/db/null-if-unreadable.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import type { OrphanedRuns } from "../recovery/orphaned-runs.ts";
import type { InsertEvents } from "../recovery/recovery.ts";
import type { RunStore } from "../store.ts";

export type PauseEvents = ReturnType<typeof createPauseEvents>;

/** Events by which runs pause and go on, with those of the runs below them. Call inside a write. */
export function createPauseEvents({
  journal,
  runs,
  lost,
  drives,
}: {
  journal: Journal;
  runs: Pick<RunStore, "unfinishedBelow">;
  lost: Pick<OrphanedRuns, "mayHave">;
  /** True if a loop works on the run. */
  drives(runId: string): boolean;
}) {
  /** Requests the pause of a run, which begins at once if no loop works on the run. */
  function pauseOne(state: RunState, reason: string | null): RunEvent[] {
    if (isOver(state.status) || state.pause) return [];
    const requested: RunEvent = { type: "run.pause_requested", reason };
    return mayPauseNow(state) ? [requested, { type: "run.paused" }] : [requested];
  }

  /** A run whose recovery is not recorded yet pauses with it, because the steps that it lost must be known as lost. */
  function mayPauseNow(state: RunState): boolean {
    const { run_id } = state.run;
    if (state.status !== "in_progress") return false;
    return drives(run_id) ? onlyWaitsForChildren(state) : !lost.mayHave(run_id);
  }

  const insert = (id: string, eventsOf: (state: RunState) => RunEvent[]): Inserted[] => {
    const entries = journal.insert(id, eventsOf(journal.state(id)));
    return entries.length > 0 ? [[id, entries]] : [];
  };

  /** Skips runs with damaged records: they are given up later. */
  const insertBelow = (id: string, eventsOf: (state: RunState) => RunEvent[]): Inserted[] =>
    runs.unfinishedBelow(id).flatMap((below) => nullIfUnreadable(() => insert(below, eventsOf)) ?? []);

  const pauseBelow = (id: string, reason: string | null): Inserted[] =>
    insertBelow(id, (state) => pauseOne(state, reason));

  return {
    pause: (id: string, reason: string | null): Inserted[] => [
      ...pauseBelow(id, reason),
      ...insert(id, (state) => pauseOne(state, reason)),
    ],
    resume: (id: string): Inserted[] => [...insert(id, goOn), ...insertBelow(id, goOn)],
    /** Pauses the runs below a run that pauses: its newest child may have begun after the request. */
    withChildren:
      (insertEvents: InsertEvents): InsertEvents =>
      (id, events, attempt) => {
        const inserted = insertEvents(id, events, attempt);
        if (events.at(-1)?.type !== "run.paused") return inserted;
        return [...pauseBelow(id, journal.state(id).pause?.reason ?? null), ...inserted];
      },
  };
}

function goOn({ status, pause }: RunState): RunEvent[] {
  if (!pause) return [];
  return [{ type: status === "paused" ? "run.resumed" : "run.pause_cancelled" }];
}
