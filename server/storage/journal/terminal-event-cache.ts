import { createFold, type InitialState, initialState, isOver, type RunState } from "../../domain/run-state.ts";
import type { runs } from "../db/schema.ts";
import { type EndedRow, endedState } from "./ended-state.ts";
import type { Journal } from "./journal.ts";

/** State of a run without its messages and calls. */
interface Brief<State = RunState> {
  state: State;
  /** Names of fields that were shortened. */
  shortened: readonly string[];
}

/** Columns of a run's row that are needed here. */
export type TerminalEventRow = EndedRow & Pick<typeof runs.$inferSelect, "status">;

export type TerminalEventCache = ReturnType<typeof createTerminalEventCache>;

const batchSize = 100;
const maxCached = 1000;
const emptyBrief: Brief<InitialState> = { state: initialState, shortened: [] };

/**
 * Reads the states of runs for lists. For an ended run the first and the last entry and its handoffs suffice. An active or imported one
 * is folded without its large fields and cached: later reads add only its new entries.
 */
export function createTerminalEventCache(journal: Journal) {
  const cache = new Map<string, Brief>();

  /** Returns null if the run is gone. */
  async function briefOf(row: TerminalEventRow, yieldTurn: () => Promise<void>): Promise<Brief | null> {
    if (!isOver(row.status)) return foldActive(row.id, yieldTurn);
    const brief = endedBrief(row);
    if (brief) cache.delete(row.id);
    return brief ?? foldActive(row.id, yieldTurn);
  }

  function endedBrief(row: TerminalEventRow): Brief | null {
    const shortened: string[] = [];
    const state = endedState(journal, row, (seq) => {
      const [entry] = journal.readBrief(row.id, seq - 1, 1);
      shortened.push(...(entry?.shortened ?? []));
      return entry;
    });
    return state && { state, shortened };
  }

  async function foldActive(id: string, rest: () => Promise<void>): Promise<Brief | null> {
    const cached = cache.get(id) ?? emptyBrief;
    const folding = createFold(cached.state);
    const shortened = [...cached.shortened];
    for (let count = batchSize; count === batchSize; ) {
      const entries = journal.readBrief(id, folding.state.seq, batchSize);
      for (const entry of entries) {
        folding.add(entry);
        shortened.push(...entry.shortened);
        await rest();
      }
      count = entries.length;
    }
    const { state } = folding;
    if (!state.run || !journal.has(id, state.seq)) return null; // Deleted, perhaps meanwhile.
    const brief = { state: { ...state, messages: [], calls: [] }, shortened };
    keep(id, brief);
    return brief;
  }

  function keep(id: string, brief: Brief): void {
    cache.delete(id); // Re-inserted as the newest.
    cache.set(id, brief);
    const [oldest = id] = cache.keys();
    if (cache.size > maxCached) cache.delete(oldest);
  }

  return briefOf;
}
