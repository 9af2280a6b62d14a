export interface FairOptions {
  /** Number of places. */
  count: number;
  /** Number of places reserved for owners that come later; at most half of all. */
  reserve: number;
}

export type FairSemaphore = ReturnType<typeof createFairSemaphore>;

/**
 * Semaphore for work that cannot be interrupted, shared by owners. An owner may take another place only while more are
 * free than it holds, or more than the reserve. A single owner thus gets all but the reserve, and an owner that comes
 * later finds a place at once, however long the others' work takes.
 */
export function createFairSemaphore({ count, reserve }: FairOptions) {
  if (reserve < 0 || 2 * reserve > count) throw new RangeError("At most half of the places can be kept for others.");
  const counts = new Map<string, number>();
  // Sequence number of each owner's last turn.
  const served = new Map<string, number>();
  let free = count;
  let turns = 0;

  const heldBy = (owner: string): number => counts.get(owner) ?? 0;

  const isOpen = (holds: number, left: number): boolean => left > Math.min(holds, reserve);
  const mayTake = (owner: string): boolean => isOpen(heldBy(owner), free);

  function giveBack(owner: string): void {
    free++;
    if (heldBy(owner) > 1) counts.set(owner, heldBy(owner) - 1);
    else counts.delete(owner);
  }

  return {
    mayTake,
    heldBy,
    /** Returns the number of places that an owner may take now. */
    open(owner: string): number {
      let open = 0;
      while (isOpen(heldBy(owner) + open, free - open)) open++;
      return open;
    },
    /** Takes a place and returns its release function; repeated calls of it count once. */
    take(owner: string): () => void {
      if (!mayTake(owner)) throw new Error("There is no place open for this owner.");
      free--;
      counts.set(owner, heldBy(owner) + 1);
      served.set(owner, ++turns);
      let isReturned = false;
      return () => {
        if (!isReturned) giveBack(owner);
        isReturned = true;
      };
    },
    /**
     * Returns the waiting owner that holds the fewest places, and among equals the one served longest ago. Null: none
     * may take a place.
     */
    next(waiting: Iterable<string>): string | null {
      let best: string | null = null;
      for (const owner of waiting) if (mayTake(owner) && (best === null || isBefore(owner, best))) best = owner;
      return best;
    },
  };

  function isBefore(owner: string, other: string): boolean {
    const fewer = heldBy(owner) - heldBy(other);
    return fewer < 0 || (fewer === 0 && (served.get(owner) ?? 0) < (served.get(other) ?? 0));
  }
}
