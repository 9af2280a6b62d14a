/** Calls `ask` at most every `ms` and returns the last result in between. `known` is a result obtained just now. */
export function throttle<T>(ms: number, ask: () => T, known?: T): () => T {
  let asked = known === undefined ? Number.NEGATIVE_INFINITY : performance.now();
  let answer = known as T;
  return () => {
    const now = performance.now();
    if (now - asked < ms) return answer;
    asked = now;
    answer = ask();
    return answer;
  };
}
