import { noSuch, recordUnreadable } from "../../domain/error-messages.ts";
import { AppError, type Fault } from "../../domain/errors.ts";
import { endsRun, type RunEvent } from "../../domain/run-event.ts";
import { isOver } from "../../domain/run-state.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { RunRow } from "../../runs/run-row.ts";
import type { RunStore } from "../../runs/store.ts";
import { nullIfUnreadable } from "../../storage/db/null-if-unreadable.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { headOf, type PinnedRow } from "./row.ts";

/**
 * Returns the rows that pin these runs. Throws all faults at once: a run that is not over, or whose trace was deleted,
 * cannot be replayed.
 */
export function createPin({ runs, journal }: { runs: RunStore; journal: Journal }) {
  return async function pin(viewer: Viewer, runIds: readonly string[], param = "run_ids"): Promise<PinnedRow[]> {
    const found: PinnedRow[] = [];
    const faults: Fault[] = [];
    const yieldTurn = createYielder();
    for (const [index, id] of runIds.entries()) {
      const pinned = pinOne(viewer, id);
      if (typeof pinned === "string") faults.push(fault(`${param}[${index}]`, pinned));
      else found.push({ ...pinned, position: index + 1 });
      await yieldTurn();
    }
    throwIfInvalid(faults.slice(0, 100));
    return found;
  };

  /** Returns the run, or the reason why it cannot be pinned. */
  function pinOne(viewer: Viewer, id: string): Omit<PinnedRow, "position"> | string {
    const row = rowOf(viewer, id);
    if (!row) return noSuch("run");
    const { agent_id, status, summary, seq } = row;
    if (!isOver(status)) return "The run has not ended.";
    if (summary !== null) return "The trace of the run was deleted.";
    const [last] = nullIfUnreadable(() => journal.read(id, seq - 1, 1)) ?? [];
    if (!last) return recordUnreadable;
    return { run_id: id, agent_id, status, output: headOf(outputOf(last.event)) };
  }

  function rowOf(viewer: Viewer, id: string): RunRow | null {
    try {
      return runs.standing(viewer, id);
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }
}

/** Returns the beginning of a run's input, as a label; null if its record cannot be read. */
export const createInputOf = (journal: Journal) => (runId: string) => {
  const [first] = nullIfUnreadable(() => journal.readBrief(runId, 0, 1)) ?? [];
  return first?.event.type === "run.created" ? headOf(first.event.input) : null;
};

const outputOf = (event: RunEvent): string | null => (endsRun(event) ? event.output : null);
