/** Calls `ask` at most every `ms` and returns the last result in between. `known` is a result obtained just now. */
export function throttle<T>(ms: number, read: () => T, known?: T): () => T {
  let calledAt = known === undefined ? Number.NEGATIVE_INFINITY : performance.now();
  let answer = known as T;
  return () => {
    const now = performance.now();
    if (now - calledAt < ms) return answer;
    calledAt = now;
    answer = read();
    return answer;
  };
}
