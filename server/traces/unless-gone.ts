import { AppError } from "../core/errors.ts";

/** Does what stops once its client has gone away: nobody hears of that, and it is no bug that the log should name. */
export async function unlessGone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!signal.aborted) throw cause;
    throw new AppError("overloaded", "The client disconnected before this was done.", { cause, retryAfter: 1 });
  }
}
