interface Rest {
  until: number;
  failures: number;
}

const longest_ms = 5 * 60_000;
const look_ms = 15_000;

/** Backoff of stores, entries and models, by name. Kept in memory only. */
export function createIndexerBackoff({ now, pause_ms }: { now: () => number; pause_ms: number }) {
  const rests = new Map<string, Rest>();
  const end = (name: string): number => rests.get(name)?.until ?? 0;
  const has = (name: string): boolean => end(name) > now();
  const isEntry = (name: string) => name.startsWith("ment_");

  return {
    has,
    end,
    failures: (name: string): number => rests.get(name)?.failures ?? 0,
    /** Records a failure, with exponential backoff. Returns the number of consecutive failures. */
    fail(name: string): number {
      const failures = (rests.get(name)?.failures ?? 0) + 1;
      rests.set(name, { until: now() + Math.min(longest_ms, pause_ms * 2 ** Math.min(16, failures - 1)), failures });
      return failures;
    },
    until(name: string, until: number): void {
      rests.set(name, { until, failures: rests.get(name)?.failures ?? 0 });
    },
    clear: (name: string): void => void rests.delete(name),
    /** Entries in backoff. */
    names: (): string[] => [...rests.keys()].filter((name) => isEntry(name) && has(name)),
    nextOfEntries(): number {
      const ends = [...rests].filter(([name]) => isEntry(name) && has(name)).map(([, { until }]) => until);
      return Math.min(Number.POSITIVE_INFINITY, ...ends);
    },
    /** Ends the waiting of idle stores, because there is new work. */
    wake(): void {
      for (const [name, { failures }] of rests) if (failures === 0 && !isEntry(name)) rests.delete(name);
    },
    /** Milliseconds until a backoff ends, or until the next poll for unannounced changes. */
    next_ms(): number {
      const ends = [...rests.values()].filter(({ until }) => until > now()).map(({ until }) => until);
      return Math.max(10, Math.min(look_ms, ...ends.map((until) => until - now())));
    },
  };
}
