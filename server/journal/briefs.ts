import { originOf } from "../core/origin.ts";
import type { RunCreated } from "../core/run-event.ts";
import { apply, initialState, isOver, type RunState } from "../core/run-state.ts";
import { noUsage } from "../core/usage.ts";
import type { runs } from "../db/schema.ts";
import type { Journal } from "./journal.ts";

/** How a run stands, without what was said and called in it. */
interface Brief {
  state: RunState;
  /** Fields that are longer than what is here of them. */
  shortened: readonly string[];
}

/** The row of a run, as far as it helps. */
export type BriefRow = Pick<typeof runs.$inferSelect, "id" | "status" | "seq" | "attempt" | "created_at_ms">;

export type Briefs = ReturnType<typeof createBriefs>;

const piece = 100;
const keptMost = 1000;
const nothing: Brief = { state: initialState, shortened: [] };

/**
 * Reads how runs stand, for lists. Of one that is over its first and last entry say it all. One that is not is folded
 * without its large fields, and what was folded is kept: its next entries are added to that.
 */
export function createBriefs(journal: Pick<Journal, "readBrief" | "startOf">) {
  const kept = new Map<string, Brief>();

  /** Null for a run that is gone. */
  async function briefOf(row: BriefRow, rest: () => Promise<void>): Promise<Brief | null> {
    if (!isOver(row.status)) return underWay(row.id, rest);
    kept.delete(row.id);
    return ended(row) ?? underWay(row.id, rest);
  }

  /** Null for a record from elsewhere too: what it says of itself need not be so. */
  function ended({ id, seq, attempt, created_at_ms }: BriefRow): Brief | null {
    const [first] = journal.readBrief(id, 0, 1);
    const [last] = journal.readBrief(id, seq - 1, 1);
    if (first?.event.type !== "run.created" || first.event.imported || !last || !("usage" in last.event)) return null;
    const { event: run } = first;
    const { recorded_to = 0 } = run;
    const usage = seq > recorded_to ? last.event.usage! : noUsage;
    const begun = { created_at: created_at_ms, started_at: startOf(run, created_at_ms), usage };
    const before = { ...initialState, run, attempt, seq: seq - 1 };
    return { state: { ...apply(before, last), ...begun }, shortened: [...first.shortened, ...last.shortened] };
  }

  function startOf(run: RunCreated, created_at_ms: number): number | null {
    const at = journal.startOf(run.run_id, originOf(run) === "fork" ? (run.recorded_to ?? 0) : 0);
    return at === undefined ? created_at_ms : at;
  }

  async function underWay(id: string, rest: () => Promise<void>): Promise<Brief | null> {
    let { state, shortened } = kept.get(id) ?? nothing;
    for (let found = piece; found === piece; ) {
      const entries = journal.readBrief(id, state.seq, piece);
      for (const entry of entries) {
        state = apply(state, entry);
        shortened = [...shortened, ...entry.shortened];
        await rest();
      }
      found = entries.length;
    }
    if (!state.run) return null;
    const brief = { state: { ...state, messages: [], calls: [] }, shortened };
    keep(id, brief);
    return brief;
  }

  function keep(id: string, brief: Brief): void {
    kept.delete(id); // The newest last.
    if (isOver(brief.state.status)) return;
    kept.set(id, brief);
    if (kept.size > keptMost) kept.delete(kept.keys().next().value!);
  }

  return briefOf;
}
