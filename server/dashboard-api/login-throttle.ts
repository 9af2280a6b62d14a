import { steadyNow } from "../http/rate-limit.ts";
import { deleteOldest, firstItem } from "../lib/collections.ts";
import { parseAddress } from "../lib/ip-address.ts";

const window_ms = 15 * 60_000;
const perAccount = 5;
// Less than half of the number of waiting password checks, so that no single network locks the others out.
const perNetwork = 15;
const maxEntries = 10_000;

/** Throttles password guessing: in 15 minutes five failures per account and network, and fifteen per network. */
export type LoginThrottle = ReturnType<typeof createLoginThrottle>;

/** Uses a monotonic clock: a wall clock that is set back would lock people out for longer. */
export function createLoginThrottle({ now = steadyNow }: { now?: () => number } = {}) {
  const [accounts, networks] = [new Map<string, number[]>(), new Map<string, number[]>()];
  const recent = (failures: Map<string, number[]>, key: string): number[] =>
    (failures.get(key) ?? []).filter((at) => now() - at < window_ms);

  return {
    /**
     * Counts an attempt, as failed until `forgive` is called, so that concurrent attempts cannot pass before the first
     * is checked. Returns 0, or the seconds to wait.
     */
    take(account: string, address: string | null): number {
      const [key, network] = [keyOf(account, address), networkOf(address)];
      const [accountFailures, networkFailures] = [recent(accounts, key), recent(networks, network)];
      const since = Math.max(full(accountFailures, perAccount), full(networkFailures, perNetwork));
      if (since > 0) return Math.max(1, Math.ceil((since + window_ms - now()) / 1000));
      note(accounts, key, [...accountFailures, now()]);
      note(networks, network, [...networkFailures, now()]);
      return 0;
    },
    forgive(account: string, address: string | null): void {
      accounts.delete(keyOf(account, address));
      // Forgive only this attempt, so that the owner of one account cannot reset the network's limit and guess others.
      networks.get(networkOf(address))?.pop();
    },
  };
}

/** Returns the time of the failure that has to expire first, or 0 if there is room. */
const full = (failures: number[], max: number): number => (failures.length >= max ? firstItem(failures) : 0);

function note(failures: Map<string, number[]>, key: string, times: number[]): void {
  failures.delete(key); // Move to the end of the order, so that the longest unused is dropped.
  failures.set(key, times);
  if (failures.size > maxEntries) deleteOldest(failures);
}

const keyOf = (account: string, address: string | null): string =>
  JSON.stringify([account.toLowerCase(), networkOf(address)]);

/** Groups IPv6 addresses by /64, because each subscriber has 2^64 of them. */
function networkOf(address: string | null): string {
  const parsed = address === null ? null : parseAddress(address);
  return parsed?.family === 6 ? String(parsed.value >> 64n) : (address ?? "local");
}
