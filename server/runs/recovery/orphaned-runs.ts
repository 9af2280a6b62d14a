export type OrphanedRuns = ReturnType<typeof createOrphanedRuns>;

/** Runs in progress without a loop, not to be driven until the journal has their recovery. */
export function createOrphanedRuns() {
  const ids = new Set<string>();
  let isStarting = true;
  return {
    add: (runId: string): void => void ids.add(runId),
    recovered: (runId: string): void => void ids.delete(runId),
    all: (): string[] => [...ids],
    has: (runId: string): boolean => ids.has(runId),
    /** True if the run may be orphaned: any may be until the start has checked them. */
    mayHave: (runId: string): boolean => isStarting || ids.has(runId),
    /** Call once all runs left by an earlier process are listed. */
    allKnown(): void {
      isStarting = false;
    },
  };
}
