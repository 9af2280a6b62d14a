/**
 * Circuit breaker: remembers failures by name for `rest_ms`, so that only the first caller waits for them. After that
 * time one caller retries, while the others still get the failure.
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
    /** Returns the remembered failure, or null if the caller may try. */
    refusal(name: string): Fault | null {
      const found = known.get(name);
      if (!found) return null;
      if (now() < found.until) return found.fault;
      found.until = now() + rest_ms; // The caller that gets null tries on behalf of all.
      return null;
    },
    failed: (name: string, fault: Fault): void => void known.set(name, { until: now() + rest_ms, fault }),
    worked: (name: string): void => void known.delete(name),
  };
}
