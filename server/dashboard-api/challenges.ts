const validFor_ms = 5 * 60_000;
const most = 10_000;

/**
 * Random challenges for devices to sign, each accepted once. In memory: after a restart a sign-in has to start again.
 */
export function createChallenges({ now = Date.now }: { now?: () => number } = {}) {
  const open = new Map<string, { whose: string; until: number }>();
  return {
    note(challenge: string, whose: string): void {
      for (const [old, { until }] of open)
        if (until <= now() || open.size >= most) open.delete(old);
        else break;
      open.set(challenge, { whose, until: now() + validFor_ms });
    },
    take(challenge: string, whose: string): boolean {
      const found = open.get(challenge);
      if (!found || found.whose !== whose) return false;
      open.delete(challenge);
      return found.until > now();
    },
  };
}
