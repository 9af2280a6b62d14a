import type { JournalEntry } from "../core/run-event.ts";
import { createFold, type Fold, fold, type RunState } from "../core/run-state.ts";
import { inSlices } from "../lib/slices.ts";

/** Entries. A shorter run is folded within a slice. */
export const longFrom = 500;
// What has fewer is folded anew as fast as it is copied.
const keptFrom = 100;
const piece = 100;
const keep_ms = 5_000;
/** Each may be tens of megabytes. */
const keptMost = 4;

interface Kept {
  folding: Fold;
  timer: ReturnType<typeof setTimeout>;
}

interface Source {
  read(runId: string, after: number, limit?: number): JournalEntry[];
  head(runId: string): { seq: number } | null;
}

/**
 * How runs stand. They are folded in slices, and all but short ones are kept for some seconds: whoever asks again, or
 * writes next, folds only what came since. Only what is committed is kept.
 */
export function createFolds({ read, head }: Source) {
  const kept = new Map<string, Kept>();

  /** How the run stands, at once; within a write, with what it has inserted. Throws for a damaged record. */
  function state(runId: string): RunState {
    const known = kept.get(runId)?.folding.state;
    return fold(read(runId, known?.seq ?? 0), known);
  }

  /** The same between writes, in slices; null where there is no record. */
  async function stateInSlices(runId: string): Promise<RunState | null> {
    const folding = kept.get(runId)?.folding ?? createFold();
    try {
      await addInSlices(folding, runId);
    } catch (error) {
      forget(runId);
      throw error;
    }
    const { seq, run } = folding.state;
    // There is none, or it was deleted meanwhile: the run, or its record alone.
    if (!run || read(runId, seq - 1, 1).length === 0) return null;
    if (seq >= keptFrom) keep(runId, folding);
    return fold([], folding.state); // Others may add to that one.
  }

  /** How a run stood after an entry, in slices; null where that is gone. */
  async function stateAt(runId: string, seq: number): Promise<RunState | null> {
    if (head(runId)?.seq === seq) return stateInSlices(runId);
    const folding = createFold();
    await addInSlices(folding, runId, seq);
    return folding.state.seq === seq ? folding.state : null;
  }

  async function addInSlices(folding: Fold, runId: string, end = Number.POSITIVE_INFINITY): Promise<void> {
    const rest = inSlices();
    for (let found = piece; found === piece && folding.state.seq < end; ) {
      const entries = read(runId, folding.state.seq, Math.min(piece, end - folding.state.seq));
      for (const entry of entries) {
        if (entry.seq > folding.state.seq) folding.add(entry); // Somebody else may fold the same run meanwhile.
        await rest();
      }
      found = entries.length;
    }
  }

  /**
   * Before a write that asks for `state`: so that it is short. Undefined where that is so already. What is damaged is met
   * in the write.
   */
  function prepare(...runIds: readonly string[]): Promise<unknown> | undefined {
    const long = runIds.filter((id) => (head(id)?.seq ?? 0) >= longFrom);
    return long.length === 0 ? undefined : Promise.allSettled(long.map(stateInSlices));
  }

  function keep(runId: string, folding: Fold): void {
    forget(runId); // The newest last.
    const timer = setTimeout(() => kept.delete(runId), keep_ms).unref();
    kept.set(runId, { folding, timer });
    if (kept.size > keptMost) forget(kept.keys().next().value!);
  }

  /** What was deleted is not kept either. */
  function forget(runId: string): void {
    clearTimeout(kept.get(runId)?.timer);
    kept.delete(runId);
  }

  return { state, stateInSlices, stateAt, prepare, forget };
}
