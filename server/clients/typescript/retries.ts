import { APIConnectionError, APIError, CertificateError } from "./errors.ts";

/** Longer than this the server's wish is not waited for: the caller learns of it and decides. */
const longestWishSeconds = 60;

/** What may succeed later. A request may be sent again whatever became of it: a POST goes under the same key. */
export function mayRetry(error: unknown): boolean {
  if (error instanceof APIConnectionError) return !(error instanceof CertificateError);
  if (!(error instanceof APIError)) return false;
  const isPassing = error.status === 429 || error.status >= 500 || error.code === "idempotency_in_progress";
  return isPassing && (wishOf(error) ?? 0) <= longestWishSeconds;
}

/**
 * In milliseconds: the server's own wish, else half a second, doubled each time, up to eight seconds, less by chance. A
 * server that wishes less is believed once.
 */
export function retryDelay(attempt: number, error?: unknown): number {
  const wish = error instanceof APIError ? wishOf(error) : null;
  const own = Math.min(8000, 500 * 2 ** attempt) * (1 - Math.random() / 4);
  return wish === null ? own : Math.max(wish * 1000, attempt === 0 ? 0 : own);
}

/** How many seconds the server asks to wait: `Retry-After` as seconds or as a date. Null: it says nothing. */
function wishOf({ headers }: APIError): number | null {
  const text = headers.get("retry-after");
  if (text === null) return null;
  const seconds = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? null : Math.max(0, seconds);
}

/** Ends early, with the signal's reason, when that is aborted. */
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
