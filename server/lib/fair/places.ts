export interface FairOptions {
  /** Places in all. */
  count: number;
  /** As many of them are kept for owners who come later, half of what is left for each; at most half of all. */
  reserve: number;
}

export type FairPlaces = ReturnType<typeof createFairPlaces>;

/**
 * Places for work that cannot be interrupted, shared by owners. Who holds some may take another only while more than
 * these, or more than the reserve, are free: one owner alone gets all but the reserve, and whoever comes then finds a
 * place at once, however long the others' work takes.
 */
export function createFairPlaces({ count, reserve }: FairOptions) {
  if (reserve < 0 || 2 * reserve > count) throw new RangeError("At most half of the places can be kept for others.");
  const held = new Map<string, number>();
  // When owners were served last, in that order.
  const served = new Map<string, number>();
  let free = count;
  let turns = 0;

  const heldBy = (owner: string): number => held.get(owner) ?? 0;

  const isOpen = (holds: number, left: number): boolean => left > Math.min(holds, reserve);
  const mayTake = (owner: string): boolean => isOpen(heldBy(owner), free);

  function giveBack(owner: string): void {
    free++;
    if (heldBy(owner) > 1) held.set(owner, heldBy(owner) - 1);
    else held.delete(owner);
  }

  return {
    mayTake,
    heldBy,
    /** How many places an owner may take now. */
    open(owner: string): number {
      let open = 0;
      while (isOpen(heldBy(owner) + open, free - open)) open++;
      return open;
    },
    /** Takes a place that is open, and returns what gives it back; given back twice it counts once. */
    take(owner: string): () => void {
      if (!mayTake(owner)) throw new Error("There is no place open for this owner.");
      free--;
      held.set(owner, heldBy(owner) + 1);
      served.set(owner, ++turns);
      let given = false;
      return () => {
        if (!given) giveBack(owner);
        given = true;
      };
    },
    /** Who is next of these: who holds the fewest places, and of several who was served longest ago. Null: nobody's. */
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
