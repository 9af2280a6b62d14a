const most_ms = 60_000;

/**
 * Tries something that must begin within a time and then has to be ended by it, with more time again and again: where a
 * busy machine did not even begin, as null says, nothing was shown.
 */
export async function withEnoughTime<T>(first_ms: number, attempt: (ms: number) => Promise<T | null>): Promise<T> {
  for (let ms = first_ms; ; ms *= 3) {
    const found = await attempt(ms);
    if (found !== null) return found;
    if (ms > most_ms) throw new Error(`It did not begin within ${ms} ms.`);
  }
}
