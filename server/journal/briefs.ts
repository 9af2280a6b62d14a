import { createFold, initialState, isOver, type RunState } from "../core/run-state.ts";
import type { runs } from "../db/schema.ts";
import { type EndedRow, endedState } from "./ended-state.ts";
import type { Journal } from "./journal.ts";

/** How a run stands, without what was said and called in it. */
interface Brief {
  state: RunState;
  /** Fields that are longer than what is here of them. */
  shortened: readonly string[];
}

/** The row of a run, as far as it helps. */
export type BriefRow = EndedRow & Pick<typeof runs.$inferSelect, "status">;

export type Briefs = ReturnType<typeof createBriefs>;

const piece = 100;
const keptMost = 1000;
const nothing: Brief = { state: initialState, shortened: [] };

/**
 * Reads how runs stand, for lists. Of one that is over its first and last entry say it all. One that is not, or came from
 * elsewhere, is folded without its large fields, and what was folded is kept: its next entries are added to that.
 */
export function createBriefs(journal: Pick<Journal, "readBrief" | "startOf" | "has">) {
  const kept = new Map<string, Brief>();

  /** Null for a run that is gone. */
  async function briefOf(row: BriefRow, rest: () => Promise<void>): Promise<Brief | null> {
    if (!isOver(row.status)) return underWay(row.id, rest);
    const brief = ended(row);
    if (brief) kept.delete(row.id);
    return brief ?? underWay(row.id, rest);
  }

  function ended(row: BriefRow): Brief | null {
    const [first] = journal.readBrief(row.id, 0, 1);
    const [last] = journal.readBrief(row.id, row.seq - 1, 1);
    const state = endedState(journal, row, first, last);
    return state && { state, shortened: [...first!.shortened, ...last!.shortened] };
  }

  async function underWay(id: string, rest: () => Promise<void>): Promise<Brief | null> {
    const known = kept.get(id) ?? nothing;
    const folding = createFold(known.state);
    const shortened = [...known.shortened];
    for (let found = piece; found === piece; ) {
      const entries = journal.readBrief(id, folding.state.seq, piece);
      for (const entry of entries) {
        folding.add(entry);
        shortened.push(...entry.shortened);
        await rest();
      }
      found = entries.length;
    }
    const { state } = folding;
    if (!state.run || !journal.has(id, state.seq)) return null; // Deleted, perhaps meanwhile.
    const brief = { state: { ...state, messages: [], calls: [] }, shortened };
    keep(id, brief);
    return brief;
  }

  function keep(id: string, brief: Brief): void {
    kept.delete(id); // The newest last.
    kept.set(id, brief);
    if (kept.size > keptMost) kept.delete(kept.keys().next().value!);
  }

  return briefOf;
}
