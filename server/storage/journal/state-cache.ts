import type { JournalEntry } from "../../domain/run-event.ts";
import { createFold, type Fold, fold, type RunState } from "../../domain/run-state.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";

/** Number of entries from which a run is folded in slices; a shorter one only if it is large. */
export const longRunThreshold = 500;
// Shorter runs are not cached: folding them again is as fast as copying.
const keptFrom = 100;
const batchSize = 100;
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

/**
 * Computes the states of runs from a journal's entries. Folds in slices and caches all but short runs for some seconds,
 * so that the next read or write folds only newer entries. Caches only committed entries, up to a limit.
 */
export abstract class StateCache {
  readonly #kept = new Map<string, CachedState>();
  readonly #held = new Map<string, HeldState>();

  abstract read(runId: string, after: number, limit?: number): JournalEntry[];
  /** Returns up to `limit` entries or about a megabyte, and their bytes as JSON; no entries at the end. */
  abstract readSome(runId: string, after: number, limit: number): { entries: JournalEntry[]; bytes: number };
  abstract has(runId: string, seq: number): boolean;
  abstract head(runId: string): { seq: number } | null;
  /** True if the run's entries are in memory; only short runs are. */
  abstract isAtHand(runId: string): boolean;
  /** True if the run's entries exceed a megabyte as JSON. */
  abstract isLarge(runId: string): boolean;

  /** True if the run is folded in slices: it has many entries, or large ones. */
  isLong(runId: string, seq: number): boolean {
    return seq >= longRunThreshold || this.isLarge(runId);
  }

  /** Returns the state synchronously; inside a write it includes the inserted entries. Throws for a corrupt record. */
  state(runId: string): RunState {
    const before = this.#known(runId)?.folding.state;
    return fold(this.read(runId, before?.seq ?? 0), before);
  }

  /** Returns the committed state, folded in slices; null if there is no record. */
  async stateInSlices(runId: string): Promise<RunState | null> {
    const folded = await this.#foldedInSlices(runId);
    if (!folded) return null;
    this.#keep(runId, folded);
    return fold([], folded.folding.state); // A copy: others may fold more entries into the cached one.
  }

  /** Returns the state of a run after an entry, folded in slices; null if that entry is gone. */
  async stateAt(runId: string, seq: number): Promise<RunState | null> {
    if (this.head(runId)?.seq === seq) return this.stateInSlices(runId);
    const folded = { folding: createFold(), bytes: 0 };
    await this.#addInSlices(folded, runId, seq);
    const { state } = folded.folding;
    return state.run && state.seq === seq ? state : null;
  }

  /**
   * Performs a write that needs the states of these runs. Long runs are folded before in slices and held until it ends,
   * so that it is short. A corrupt record fails in the write.
   */
  prepared<T>(runIds: readonly string[], write: () => Promise<T>): Promise<T> {
    const uncachedIds = runIds.filter((id) => !this.isAtHand(id));
    const entries = uncachedIds.reduce((sum, id) => sum + (this.head(id)?.seq ?? 0), 0);
    const isShort = entries < longRunThreshold && !uncachedIds.some((id) => this.isLarge(id));
    return isShort ? write() : this.#afterFolds(uncachedIds, write);
  }

  /** Removes the cached state of a deleted run. */
  forget(runId: string): void {
    this.#drop(runId);
    this.#held.delete(runId);
  }

  /** For tests: bytes of entries in memory, as JSON. */
  bytes(): { kept: number; held: number } {
    return { kept: bytesOf(this.#kept), held: bytesOf(this.#held) };
  }

  #known(runId: string): Folded | undefined {
    return this.#kept.get(runId) ?? this.#held.get(runId);
  }

  async #foldedInSlices(runId: string): Promise<Folded | null> {
    const folded = this.#known(runId) ?? { folding: createFold(), bytes: 0 };
    try {
      await this.#addInSlices(folded, runId);
    } catch (error) {
      this.forget(runId);
      throw error;
    }
    const { seq, run } = folded.folding.state;
    // The run does not exist, or it or its record was deleted meanwhile.
    return !run || !this.has(runId, seq) ? null : folded;
  }

  async #addInSlices(folded: Folded, runId: string, end = Number.POSITIVE_INFINITY): Promise<void> {
    const yieldTurn = createYielder();
    const { folding } = folded; // Other callers may add to it while this one rests.
    while (folding.state.seq < end) {
      const { entries, bytes } = this.readSome(runId, folding.state.seq, Math.min(batchSize, end - folding.state.seq));
      if (entries.length === 0) return;
      for (const entry of entries) folding.add(entry);
      folded.bytes += bytes;
      await yieldTurn();
    }
  }

  async #afterFolds<T>(runIds: readonly string[], write: () => Promise<T>): Promise<T> {
    const heldIds: string[] = [];
    try {
      // The first run is used most, so it becomes the newest in the cache.
      for (const id of runIds.toReversed()) if (await this.#hold(id)) heldIds.push(id);
      return await write();
    } finally {
      for (const id of heldIds) this.#release(id);
    }
  }

  /** Returns false if there is no room to hold the run. */
  async #hold(runId: string): Promise<boolean> {
    const before = this.#held.get(runId);
    if (before) {
      before.holders++;
      return true;
    }
    const folded = await this.#foldedInSlices(runId).catch(() => null);
    if (!folded) return false;
    this.#keep(runId, folded);
    const current = this.#held.get(runId);
    if (current) current.holders++;
    else if (bytesOf(this.#held) + folded.bytes > held_bytes) return false;
    else this.#held.set(runId, { ...folded, holders: 1 });
    return true;
  }

  #release(runId: string): void {
    const one = this.#held.get(runId);
    if (one && --one.holders === 0) this.#held.delete(runId);
  }

  #keep(runId: string, { folding, bytes }: Folded): void {
    this.#drop(runId); // Re-inserted as the newest.
    if (folding.state.seq < keptFrom || bytes > kept_bytes) return;
    this.#kept.set(runId, { folding, bytes, timer: setTimeout(() => this.#kept.delete(runId), keep_ms).unref() });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= keptMost && bytesOf(this.#kept) <= kept_bytes) return;
      this.#drop(oldest);
    }
  }

  #drop(runId: string): void {
    clearTimeout(this.#kept.get(runId)?.timer);
    this.#kept.delete(runId);
  }
}

const bytesOf = (all: Map<string, Folded>): number => [...all.values()].reduce((sum, { bytes }) => sum + bytes, 0);
