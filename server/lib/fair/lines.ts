/** What waits, in a line for each owner. */
interface FairLines<T> {
  add(owner: string, one: T): void;
  /** Whether it was waiting. */
  remove(owner: string, one: T): boolean;
  /** The first of this owner's line, who goes behind all other owners then. By default the owner who is next. */
  next(owner?: string): T | undefined;
  /** Who has something waiting, in the order of their queue. */
  owners(): IterableIterator<string>;
  length(owner: string): number;
}

/** Lines of several owners, served round robin: one each, however many another has waiting. */
export function createFairLines<T>(): FairLines<T> {
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
      if (!line) return undefined;
      const [first] = line;
      line.delete(first!);
      lines.delete(owner!);
      if (line.size > 0) lines.set(owner!, line); // Behind the others.
      return first;
    },
    owners: () => lines.keys(),
    length: (owner) => lines.get(owner)?.size ?? 0,
  };
}
