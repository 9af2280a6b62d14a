const most_ms = 60_000;

/**
 * Calls `attempt` with growing times until it does not return null. Null means that a busy machine did not begin the
 * work in time, so that the attempt proves nothing.
 */
export async function withEnoughTime<T>(first_ms: number, attempt: (ms: number) => Promise<T | null>): Promise<T> {
  for (let ms = first_ms; ; ms *= 3) {
    const found = await attempt(ms);
    if (found !== null) return found;
    if (ms > most_ms) throw new Error(`It did not begin within ${ms} ms.`);
  }
}
