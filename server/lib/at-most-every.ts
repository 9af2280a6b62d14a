/** Asks at once, and again only when `ms` have passed; until then the last answer counts. */
export function atMostEvery<T>(ms: number, ask: () => T): () => T {
  let asked = Number.NEGATIVE_INFINITY;
  let answer: T;
  return () => {
    const now = performance.now();
    if (now - asked < ms) return answer;
    asked = now;
    answer = ask();
    return answer;
  };
}
