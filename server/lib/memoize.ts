import { deleteOldest } from "./collections.ts";

/** Caches the results of a pure function by its text; the oldest of more than `most` is computed again. */
export function memoize<Result>(compute: (text: string) => Result, most = 1000): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined || results.has(text)) return known as Result;
    const result = compute(text);
    results.set(text, result);
    if (results.size > most) deleteOldest(results);
    return result;
  };
}
