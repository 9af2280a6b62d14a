import { createRoundRobin } from "../lib/fair-queue/round-robin.ts";

/** Returns null if the request may proceed at once, else a promise that resolves when the owner's turn comes. */
export type RequestQueue = (owner: string) => Promise<void> | null;

/**
 * Handles requests in order of arrival until they have taken longer than a slice, then round robin over owners, one at
 * a time, with other events in between.
 */
export function createRequestQueue(slice_ms = 4): RequestQueue {
  const lines = createRoundRobin<() => void>();
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
