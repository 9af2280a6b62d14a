import type { JournalEntry, RunCreated } from "../../domain/run-event.ts";
import { apply, initialState, type RunState } from "../../domain/run-state.ts";
import { triggerOf } from "../../domain/run-trigger.ts";
import { noUsage } from "../../domain/usage.ts";
import type { runs } from "../db/schema.ts";
import type { Journal } from "./journal.ts";

/** Columns of a run's row that are needed here. */
export type EndedRow = Pick<typeof runs.$inferSelect, "id" | "seq" | "attempt" | "created_at_ms" | "worked_ms">;

/**
 * Returns the state of an ended run without its messages and calls, from its first and last entry and its handoffs: as
 * fast for 20,000 entries as for five. Returns null for an imported record, whose claims may be wrong.
 */
export function endedState(
  journal: Journal,
  { id, seq, attempt, created_at_ms, worked_ms }: EndedRow,
  entryAt: (seq: number) => JournalEntry | undefined,
): RunState | null {
  const [first, last] = [entryAt(1), entryAt(seq)];
  if (first?.event.type !== "run.created" || first.event.imported || !last || !("usage" in last.event)) return null;
  const { event: run } = first;
  const { recorded_to = 0 } = run;
  const usage = (seq > recorded_to ? last.event.usage : null) ?? noUsage;
  const base = { created_at: created_at_ms, started_at: startOf(journal, run, created_at_ms), usage, worked_ms };
  // Only a run with a team can have handoffs, which change its agent, its limits and its input.
  const handoffs = (run.team ? journal.handoffs(id) : []).flatMap((at) => entryAt(at) ?? []);
  let state: RunState = { ...initialState, run, attempt };
  for (const entry of [...handoffs, last]) state = apply({ ...state, seq: entry.seq - 1 }, entry);
  return { ...state, ...base };
}

function startOf(journal: Journal, run: RunCreated, created_at_ms: number): number | null {
  const at = journal.startOf(run.run_id, triggerOf(run) === "fork" ? (run.recorded_to ?? 0) : 0);
  return at === undefined ? created_at_ms : at;
}
