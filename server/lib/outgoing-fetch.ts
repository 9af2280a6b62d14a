type Fetch = typeof globalThis.fetch;

/** The platform's fetch, without the rules below. */
export const platformFetch: Fetch = globalThis.fetch;

/**
 * Applies a rule to all later requests of this thread: the operator's proxy, a worker's lease, a leader's output fence.
 * Replaces the global fetch, and is the only place that does, because libraries send requests too and no request may
 * get around a rule. Requests between nodes use `platformFetch`.
 */
export function interceptFetch(rule: (fetch: Fetch) => (...request: Parameters<Fetch>) => Promise<Response>): void {
  globalThis.fetch = Object.assign(rule(globalThis.fetch), { preconnect: platformFetch.preconnect });
}
