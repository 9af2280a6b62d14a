const base_ms = 500;
/** Highest delay between two attempts, in ms. */
export const longestWait_ms = 60_000;

/** Returns the delay in ms after failed attempt `attempt` (from 1): the requested one, else doubling with jitter. */
export function backoff(attempt: number, asked_ms: number | null): number {
  if (asked_ms !== null) return Math.min(asked_ms, longestWait_ms);
  const full = Math.min(base_ms * 2 ** (attempt - 1), longestWait_ms);
  return Math.round(full / 2 + (Math.random() * full) / 2);
}

/** Parses `Retry-After` (seconds or a date) into milliseconds; null if absent or unreadable. */
export function retryAfter(value: string | null | undefined, now: number): number | null {
  const text = value?.trim();
  if (!text) return null;
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

/** Waits; resolves early when the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
