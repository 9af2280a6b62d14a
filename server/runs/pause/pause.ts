import { AppError } from "../../domain/errors.ts";
import { isOver } from "../../domain/run-state.ts";
import type { Viewer } from "../../http/auth.ts";
import type { Inserted, Journal } from "../../storage/journal/journal.ts";
import type { Pool } from "../dispatch/pool.ts";
import type { Note, RunStore } from "../store.ts";
import type { PauseEvents } from "./pause-events.ts";

/** Pauses runs before their next step, and lets them go on. Both may be repeated. */
export function createPauses({
  journal,
  runs,
  pool,
  pauseEvents,
  start,
}: {
  journal: Journal;
  runs: RunStore;
  pool: Pick<Pool, "abort">;
  pauseEvents: PauseEvents;
  /** Drives a run, whose model call may be recorded already. */
  start(runId: string): void;
}) {
  async function change(
    scope: Viewer,
    runId: string,
    insert: () => Inserted[],
    note: Note | undefined,
  ): Promise<Inserted[]> {
    const write = () => {
      const { status, seq } = runs.standing(scope, runId);
      if (isOver(status)) throw new AppError("run_already_terminal", `The run is ${status} already.`);
      const inserted = insert();
      note?.(runs.standing(scope, runId), seq);
      return inserted;
    };
    // The row decides: a run whose trace was deleted has no journal to fold.
    const folded = isOver(runs.standing(scope, runId).status) ? [] : [runId, ...runs.unfinishedBelow(runId)];
    return journal.prepared(folded, () => journal.commitAll(write, scope));
  }

  return {
    async pause(scope: Viewer, runId: string, reason: string | null, note?: Note): Promise<void> {
      const changes = await change(scope, runId, () => pauseEvents.pause(runId, reason), note);
      for (const [id] of changes) if (journal.head(id)?.status === "paused") pool.abort(id);
    },
    async resume(scope: Viewer, runId: string, note?: Note): Promise<void> {
      const changes = await change(scope, runId, () => pauseEvents.resume(runId), note);
      for (const [id] of changes) start(id);
    },
  };
}
