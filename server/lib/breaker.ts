/**
 * Remembers for a while what failed, by name, so that only the first one waits for it. After that time one asks again,
 * while the others still hear of the failure.
 */
export function createBreaker<Fault>({
  rest_ms,
  now = () => performance.now(),
}: {
  rest_ms: number;
  now?: () => number;
}) {
  const known = new Map<string, { until: number; fault: Fault }>();
  return {
    /** Why it is not to be asked now; null: it may be. */
    refusal(name: string): Fault | null {
      const found = known.get(name);
      if (!found) return null;
      if (now() < found.until) return found.fault;
      found.until = now() + rest_ms; // Whoever is told null asks for all.
      return null;
    },
    failed: (name: string, fault: Fault): void => void known.set(name, { until: now() + rest_ms, fault }),
    worked: (name: string): void => void known.delete(name),
  };
}
