import type { Permission as KeyScope } from "../../../../server/core/scope.ts";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { hasWords } from "../../lib/has-words.ts";
import { isUsable, keyState, shortKey } from "./key-state.ts";

export const keyFilters = ["usable", "ended", "rotating", "exposed", "expiring"] as const;
export type KeyFilter = (typeof keyFilters)[number];

/** What the address of the list holds. */
export interface KeysSearch {
  q?: string;
  status?: KeyFilter;
  scope?: KeyScope;
}

const soon_ms = 7 * 86_400_000;

/** Whether a key ends within a week, without a successor whose turn it is. */
export const isExpiring = (key: ApiKey, now: number): boolean =>
  ["active", "exposed"].includes(keyState(key, now)) &&
  key.expires_at !== null &&
  Date.parse(key.expires_at) - now <= soon_ms;

/** The keys that somebody looks for: by words of the name, the beginning, the last four, or the id. */
export function findKeys(keys: readonly ApiKey[], { q = "", status, scope }: KeysSearch, now: number): ApiKey[] {
  const text = (key: ApiKey) => `${key.name} ${shortKey(key)} ${key.id} ${key.last_used_ip ?? ""}`;
  return keys.filter(
    (key) => hasWords(text(key), q) && (!scope || key.scopes.includes(scope)) && (!status || tests[status](key, now)),
  );
}

const tests: Record<KeyFilter, (key: ApiKey, now: number) => boolean> = {
  usable: isUsable,
  ended: (key, now) => !isUsable(key, now),
  rotating: (key, now) => keyState(key, now) === "rotating",
  exposed: (key) => key.exposed_at !== null,
  expiring: isExpiring,
};
