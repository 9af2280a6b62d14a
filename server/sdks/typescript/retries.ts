import { APIConnectionError, APIError, CertificateError } from "./errors.ts";

/** Maximum `Retry-After` that is waited for; if it is longer, the caller gets the error. */
const longestWishSeconds = 60;

/** True if a retry may succeed. Always safe, because a POST is retried under the same idempotency key. */
export function mayRetry(error: unknown): boolean {
  if (error instanceof APIConnectionError) return !(error instanceof CertificateError);
  if (!(error instanceof APIError)) return false;
  const isPassing = error.status === 429 || error.status >= 500 || error.code === "idempotency_in_progress";
  return isPassing && (wishOf(error) ?? 0) <= longestWishSeconds;
}

/**
 * Returns the delay in milliseconds: the server's `Retry-After`, else half a second doubled per attempt up to eight
 * seconds, minus jitter. From the second attempt on, it is never shorter than this backoff.
 */
export function retryDelay(attempt: number, error?: unknown): number {
  const wish = error instanceof APIError ? wishOf(error) : null;
  const own = Math.min(8000, 500 * 2 ** attempt) * (1 - Math.random() / 4);
  return wish === null ? own : Math.max(wish * 1000, attempt === 0 ? 0 : own);
}

/** Seconds of `Retry-After`, given as seconds or as a date; null if absent. */
function wishOf({ headers }: APIError): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const seconds = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

/** Rejects with the signal's reason when it aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
