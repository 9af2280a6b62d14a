import { steadyNow } from "../http/rate-limit.ts";
import { parseAddress } from "../lib/ip-address.ts";

const window_ms = 15 * 60_000;
const maxFailures = 5;
const maxEntries = 10_000;

/** Slows down whoever guesses passwords: five failures in 15 minutes per account and network. */
export type LoginThrottle = ReturnType<typeof createLoginThrottle>;

/** Counts by a clock that nobody sets: one that was set back would lock people out for longer. */
export function createLoginThrottle({ now = steadyNow }: { now?: () => number } = {}) {
  const failures = new Map<string, number[]>();

  return {
    /**
     * Counts an attempt, as failed until `forgive` says otherwise: a hundred at once may not slip through while the
     * first is still being checked. Answers 0, or the seconds to wait.
     */
    take(account: string, address: string | null): number {
      const key = keyOf(account, address);
      const recent = (failures.get(key) ?? []).filter((at) => now() - at < window_ms);
      if (recent.length >= maxFailures) return Math.ceil((recent[0]! + window_ms - now()) / 1000);
      failures.delete(key); // To the end of the order: what is dropped below is what was quiet for longest.
      failures.set(key, [...recent, now()]);
      if (failures.size > maxEntries) failures.delete(failures.keys().next().value!);
      return 0;
    },
    forgive(account: string, address: string | null): void {
      failures.delete(keyOf(account, address));
    },
  };
}

const keyOf = (account: string, address: string | null): string =>
  JSON.stringify([account.toLowerCase(), networkOf(address)]);

/** Whoever has one IPv6 address has 2^64 of them. */
function networkOf(address: string | null): string {
  const parsed = address === null ? null : parseAddress(address);
  return parsed?.family === 6 ? String(parsed.value >> 64n) : (address ?? "local");
}
