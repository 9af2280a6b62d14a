/** Waiting items, in a line for each owner. */
interface FairLines<T> {
  add(owner: string, one: T): void;
  /** Returns true if the item was waiting. */
  remove(owner: string, one: T): boolean;
  /**
   * Removes and returns the first item of this owner, who then goes behind all other owners. Default: the owner whose
   * turn it is.
   */
  next(owner?: string): T | undefined;
  /** Owners with waiting items, in the order of their turns. */
  owners(): IterableIterator<string>;
  length(owner: string): number;
}

/** Lines of several owners, served round robin: one item each, however many another owner has waiting. */
export function createRoundRobin<T>(): FairLines<T> {
  const lines = new Map<string, Set<T>>();
  return {
    add(owner, one) {
      const line = lines.get(owner);
      if (line) line.add(one);
      else lines.set(owner, new Set([one]));
    },
    remove(owner, one) {
      const line = lines.get(owner);
      const waited = line?.delete(one) ?? false;
      if (line?.size === 0) lines.delete(owner);
      return waited;
    },
    next(owner = lines.keys().next().value) {
      const line = owner === undefined ? undefined : lines.get(owner);
      const [first] = line ?? [];
      if (owner === undefined || !line || first === undefined) return undefined;
      line.delete(first);
      lines.delete(owner);
      if (line.size > 0) lines.set(owner, line); // Behind the others.
      return first;
    },
    owners: () => lines.keys(),
    length: (owner) => lines.get(owner)?.size ?? 0,
  };
}
