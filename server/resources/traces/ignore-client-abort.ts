import { AppError } from "../../domain/errors.ts";

/** Runs work that stops when its client disconnects. That error is expected, so it is not logged as a bug. */
export async function ignoreClientAbort<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new AppError("overloaded", "The client disconnected before this was done.", { cause, retryAfter: 1 });
  }
}
