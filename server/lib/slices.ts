const slice_ms = 8;

/**
 * For long work on a thread that serves others: `rest` lets everybody else go first when the work has gone on for a
 * while, and returns at once else.
 */
export function inSlices(
  pause: () => Promise<void> = () => new Promise((resolve) => setImmediate(resolve)),
): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < slice_ms) return;
    await pause();
    begun = performance.now();
  };
}
