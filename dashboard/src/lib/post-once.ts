import { ApiError, post } from "./api.ts";

export type PostOnce = ReturnType<typeof createPostOnce>;

/**
 * POST for what must not be done twice. A try after a lost answer carries the key of the first one, and so is answered
 * with what that one did; `of` tells apart what is meant to be done several times with the same body.
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

/** No answer, one of somewhere between, or one that says that the first try goes on. A refusal began nothing. */
const mayHaveBegun = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.code === "idempotency_in_progress");
