import type { JournalEntry } from "../../domain/run-event.ts";
import { createFold, type Fold, fold, type RunState } from "../../domain/run-state.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";

/** Number of entries from which a run is folded in slices; a shorter one only if it is large. */
export const longRunThreshold = 500;
// Shorter runs are not cached: folding them again is as fast as copying.
const keptFrom = 100;
const piece = 100;
const keep_ms = 5_000;
const keptMost = 4;
// Limits of cached states and of states held for writes. A single state may have tens of megabytes.
const kept_bytes = 16 * 1024 * 1024;
const held_bytes = 64 * 1024 * 1024;

interface Folded {
  folding: Fold;
  /** Bytes of its entries as JSON. */
  bytes: number;
}

interface CachedState extends Folded {
  timer: ReturnType<typeof setTimeout>;
}

interface HeldState extends Folded {
  /** Number of writes that still need it. */
  holders: number;
}

interface Source {
  read(runId: string, after: number, limit?: number): JournalEntry[];
  /** Returns up to `limit` entries or about a megabyte, and their bytes as JSON; no entries at the end. */
  readSome(runId: string, after: number, limit: number): { entries: JournalEntry[]; bytes: number };
  has(runId: string, seq: number): boolean;
  head(runId: string): { seq: number } | null;
  /** True if the run's entries are in memory; only short runs are. */
  isAtHand(runId: string): boolean;
  /** True if the run's entries exceed a megabyte as JSON. */
  isLarge(runId: string): boolean;
}

/**
 * Computes the states of runs. Folds in slices and caches all but short runs for some seconds, so that the next read or
 * write folds only newer entries. Caches only committed entries, up to a limit.
 */
export function createStateCache({ read, readSome, has, head, isAtHand, isLarge }: Source) {
  const kept = new Map<string, CachedState>();
  const held = new Map<string, HeldState>();

  const known = (runId: string): Folded | undefined => kept.get(runId) ?? held.get(runId);

  /** Returns the state synchronously; inside a write it includes the inserted entries. Throws for a corrupt record. */
  function state(runId: string): RunState {
    const before = known(runId)?.folding.state;
    return fold(read(runId, before?.seq ?? 0), before);
  }

  /** Returns the committed state, folded in slices; null if there is no record. */
  async function stateInSlices(runId: string): Promise<RunState | null> {
    const folded = await foldedInSlices(runId);
    if (!folded) return null;
    keep(runId, folded);
    return fold([], folded.folding.state); // A copy: others may fold more entries into the cached one.
  }

  async function foldedInSlices(runId: string): Promise<Folded | null> {
    const folded = known(runId) ?? { folding: createFold(), bytes: 0 };
    try {
      await addInSlices(folded, runId);
    } catch (error) {
      forget(runId);
      throw error;
    }
    const { seq, run } = folded.folding.state;
    // The run does not exist, or it or its record was deleted meanwhile.
    return !run || !has(runId, seq) ? null : folded;
  }

  /** Returns the state of a run after an entry, folded in slices; null if that entry is gone. */
  async function stateAt(runId: string, seq: number): Promise<RunState | null> {
    if (head(runId)?.seq === seq) return stateInSlices(runId);
    const folded = { folding: createFold(), bytes: 0 };
    await addInSlices(folded, runId, seq);
    const { state } = folded.folding;
    return state.run && state.seq === seq ? state : null;
  }

  async function addInSlices(folded: Folded, runId: string, end = Number.POSITIVE_INFINITY): Promise<void> {
    const rest = createYielder();
    const { folding } = folded; // Other callers may add to it while this one rests.
    while (folding.state.seq < end) {
      const { entries, bytes } = readSome(runId, folding.state.seq, Math.min(piece, end - folding.state.seq));
      if (entries.length === 0) return;
      for (const entry of entries) folding.add(entry);
      folded.bytes += bytes;
      await rest();
    }
  }

  /**
   * Performs a write that needs the states of these runs. Long runs are folded before in slices and held until it ends,
   * so that it is short. A corrupt record fails in the write.
   */
  function prepared<T>(runIds: readonly string[], write: () => Promise<T>): Promise<T> {
    const far = runIds.filter((id) => !isAtHand(id));
    const entries = far.reduce((sum, id) => sum + (head(id)?.seq ?? 0), 0);
    return entries < longRunThreshold && !far.some(isLarge) ? write() : afterFolds(far, write);
  }

  async function afterFolds<T>(runIds: readonly string[], write: () => Promise<T>): Promise<T> {
    const holds: string[] = [];
    try {
      // The first run is used most, so it becomes the newest in the cache.
      for (const id of runIds.toReversed()) if (await hold(id)) holds.push(id);
      return await write();
    } finally {
      holds.forEach(release);
    }
  }

  /** Returns false if there is no room to hold the run. */
  async function hold(runId: string): Promise<boolean> {
    const before = held.get(runId);
    if (before) {
      before.holders++;
      return true;
    }
    const folded = await foldedInSlices(runId).catch(() => null);
    if (!folded) return false;
    keep(runId, folded);
    const same = held.get(runId);
    if (same) same.holders++;
    else if (bytesOf(held) + folded.bytes > held_bytes) return false;
    else held.set(runId, { ...folded, holders: 1 });
    return true;
  }

  function release(runId: string): void {
    const one = held.get(runId);
    if (one && --one.holders === 0) held.delete(runId);
  }

  function keep(runId: string, { folding, bytes }: Folded): void {
    drop(runId); // Re-inserted as the newest.
    if (folding.state.seq < keptFrom || bytes > kept_bytes) return;
    kept.set(runId, { folding, bytes, timer: setTimeout(() => kept.delete(runId), keep_ms).unref() });
    while (kept.size > keptMost || bytesOf(kept) > kept_bytes) drop(kept.keys().next().value!);
  }

  function drop(runId: string): void {
    clearTimeout(kept.get(runId)?.timer);
    kept.delete(runId);
  }

  /** Removes the cached state of a deleted run. */
  function forget(runId: string): void {
    drop(runId);
    held.delete(runId);
  }

  return {
    /** True if the run is folded in slices: it has many entries, or large ones. */
    isLong: (runId: string, seq: number): boolean => seq >= longRunThreshold || isLarge(runId),
    state,
    stateInSlices,
    stateAt,
    prepared,
    forget,
    /** For tests: bytes of entries in memory, as JSON. */
    bytes: () => ({ kept: bytesOf(kept), held: bytesOf(held) }),
  };
}

const bytesOf = (all: Map<string, Folded>): number => [...all.values()].reduce((sum, { bytes }) => sum + bytes, 0);
