import { createFairLines } from "../lib/fair/lines.ts";

/** Null: go on at once. Else it resolves when the request of this owner may go on. */
export type RequestQueue = (owner: string) => Promise<void> | null;

/**
 * Requests are handled in the order in which they come, until that has taken longer than a slice: then round robin over
 * owners, one request at a time. Between two of them all other events are handled.
 */
export function createRequestQueue(slice_ms = 4): RequestQueue {
  const lines = createFairLines<() => void>();
  let begun_ms: number | null = null;

  function begin(): void {
    begun_ms = performance.now();
    setImmediate(() => {
      begun_ms = null;
      const go = lines.next();
      if (!go) return;
      begin();
      go();
    });
  }

  return (owner) => {
    if (begun_ms === null) begin();
    else if (performance.now() - begun_ms > slice_ms || lines.owners().next().done === false)
      return new Promise((resolve) => lines.add(owner, resolve));
    return null;
  };
}
