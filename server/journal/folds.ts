import type { JournalEntry } from "../core/run-event.ts";
import { createFold, type Fold, fold, type RunState } from "../core/run-state.ts";
import { inSlices } from "../lib/slices.ts";

/** Entries. A shorter run is folded within a slice, unless it is large. */
export const longFrom = 500;
// What has fewer is folded anew as fast as it is copied.
const keptFrom = 100;
const piece = 100;
const keep_ms = 5_000;
const keptMost = 4;
// Each may be tens of megabytes: what is kept for somebody who may ask again, and what is held for writes.
const kept_bytes = 16 * 1024 * 1024;
const held_bytes = 64 * 1024 * 1024;

interface Folded {
  folding: Fold;
  /** Of the entries in it, as JSON. */
  bytes: number;
}

interface Kept extends Folded {
  timer: ReturnType<typeof setTimeout>;
}

interface Held extends Folded {
  /** Writes that are still to be done. */
  holders: number;
}

interface Source {
  read(runId: string, after: number, limit?: number): JournalEntry[];
  /** About a megabyte of entries, or so many, and how many bytes they are as JSON; none at the end. */
  readSome(runId: string, after: number, limit: number): { entries: JournalEntry[]; bytes: number };
  has(runId: string, seq: number): boolean;
  head(runId: string): { seq: number } | null;
  /** Whether its entries are in memory and few: to fold them takes no time. */
  isAtHand(runId: string): boolean;
  /** Whether its entries are more than a megabyte, as JSON. */
  isLarge(runId: string): boolean;
}

/**
 * How runs stand. They are folded in slices, and all but short ones are kept for some seconds: whoever asks again, or
 * writes next, folds only what came since. Only what is committed is kept, and only so much of it.
 */
export function createFolds({ read, readSome, has, head, isAtHand, isLarge }: Source) {
  const kept = new Map<string, Kept>();
  const held = new Map<string, Held>();

  const known = (runId: string): Folded | undefined => kept.get(runId) ?? held.get(runId);

  /** How the run stands, at once; within a write, with what it has inserted. Throws for a damaged record. */
  function state(runId: string): RunState {
    const before = known(runId)?.folding.state;
    return fold(read(runId, before?.seq ?? 0), before);
  }

  /** The same between writes, in slices; null where there is no record. */
  async function stateInSlices(runId: string): Promise<RunState | null> {
    const folded = await foldedInSlices(runId);
    if (!folded) return null;
    keep(runId, folded);
    return fold([], folded.folding.state); // Others may add to that one.
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
    // There is none, or it was deleted meanwhile: the run, or its record alone.
    return !run || !has(runId, seq) ? null : folded;
  }

  /** How a run stood after an entry, in slices; null where that is gone. */
  async function stateAt(runId: string, seq: number): Promise<RunState | null> {
    if (head(runId)?.seq === seq) return stateInSlices(runId);
    const folded = { folding: createFold(), bytes: 0 };
    await addInSlices(folded, runId, seq);
    const { state } = folded.folding;
    return state.seq === seq ? state : null;
  }

  async function addInSlices(folded: Folded, runId: string, end = Number.POSITIVE_INFINITY): Promise<void> {
    const rest = inSlices();
    const { folding } = folded; // Somebody else may add to it while this one rests.
    while (folding.state.seq < end) {
      const { entries, bytes } = readSome(runId, folding.state.seq, Math.min(piece, end - folding.state.seq));
      if (entries.length === 0) return;
      for (const entry of entries) folding.add(entry);
      folded.bytes += bytes;
      await rest();
    }
  }

  /**
   * Does a write that asks how these runs stand. Where there is much to fold it is folded before, in slices, and held until
   * the write is done: the write is short then, however many they are. What is damaged is met in the write.
   */
  function prepared<T>(runIds: readonly string[], write: () => Promise<T>): Promise<T> {
    const far = runIds.filter((id) => !isAtHand(id));
    const entries = far.reduce((sum, id) => sum + (head(id)?.seq ?? 0), 0);
    return entries < longFrom && !far.some(isLarge) ? write() : afterFolds(far, write);
  }

  async function afterFolds<T>(runIds: readonly string[], write: () => Promise<T>): Promise<T> {
    const holds: string[] = [];
    try {
      // The first is asked for most: it is the newest of those that are kept.
      for (const id of runIds.toReversed()) if (await hold(id)) holds.push(id);
      return await write();
    } finally {
      holds.forEach(release);
    }
  }

  /** False for what there is no room for. */
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
    drop(runId); // The newest last.
    if (folding.state.seq < keptFrom || bytes > kept_bytes) return;
    kept.set(runId, { folding, bytes, timer: setTimeout(() => kept.delete(runId), keep_ms).unref() });
    while (kept.size > keptMost || bytesOf(kept) > kept_bytes) drop(kept.keys().next().value!);
  }

  function drop(runId: string): void {
    clearTimeout(kept.get(runId)?.timer);
    kept.delete(runId);
  }

  /** What was deleted is not kept either. */
  function forget(runId: string): void {
    drop(runId);
    held.delete(runId);
  }

  return {
    /** Whether it is folded in slices: it has many entries, or large ones. */
    isLong: (runId: string, seq: number): boolean => seq >= longFrom || isLarge(runId),
    state,
    stateInSlices,
    stateAt,
    prepared,
    forget,
    /** For tests: how many bytes of entries are in memory, as JSON. */
    bytes: () => ({ kept: bytesOf(kept), held: bytesOf(held) }),
  };
}

const bytesOf = (all: Map<string, Folded>): number => [...all.values()].reduce((sum, { bytes }) => sum + bytes, 0);
