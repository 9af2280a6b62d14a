export type LostRuns = ReturnType<typeof createLostRuns>;

/** Runs in progress whose loop is gone, until the journal says that they were recovered: nobody may drive them before. */
export function createLostRuns() {
  const ids = new Set<string>();
  let isStarting = true;
  return {
    add: (runId: string): void => void ids.add(runId),
    recovered: (runId: string): void => void ids.delete(runId),
    all: (): string[] => [...ids],
    has: (runId: string): boolean => ids.has(runId),
    /** Whether it may be one of them: before the start has looked, each may. */
    mayHave: (runId: string): boolean => isStarting || ids.has(runId),
    /** All that an earlier process left are recovered. */
    allKnown(): void {
      isStarting = false;
    },
  };
}
