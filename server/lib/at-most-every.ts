/** Asks at once, and again only when `ms` have passed; until then the last answer counts. `known` is what was answered just now. */
export function atMostEvery<T>(ms: number, ask: () => T, known?: T): () => T {
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
