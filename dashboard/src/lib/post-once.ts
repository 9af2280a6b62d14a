import { ApiError, post } from "./api.ts";

export type PostOnce = ReturnType<typeof createPostOnce>;

/**
 * POST with an idempotency key. A retry after a lost response reuses the key and gets the first attempt's response.
 * `of` distinguishes intended repetitions with equal bodies.
 */
export function createPostOnce() {
  const keys = new Map<string, string>();
  return async <T>(path: string, body: unknown = {}, of = ""): Promise<T> => {
    const name = JSON.stringify([of, path, body]);
    const key = keys.get(name) ?? crypto.randomUUID();
    keys.set(name, key);
    try {
      const answer = await post<T>(path, body, { "Idempotency-Key": key });
      keys.delete(name);
      return answer;
    } catch (error) {
      if (!mayHaveBegun(error)) keys.delete(name);
      throw error;
    }
  };
}

/**
 * True if the first attempt may have taken effect: no response, a server or proxy error, or still in progress. Other
 * errors mean it did not.
 */
const mayHaveBegun = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.code === "idempotency_in_progress");
