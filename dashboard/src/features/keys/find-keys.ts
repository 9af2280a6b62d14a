import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import type { Permission as KeyScope } from "../../../../server/domain/scope.ts";
import { matchesQuery } from "../../lib/matches-query.ts";
import { isUsable, keyState, shortKey } from "./key-state.ts";

export const keyFilters = ["usable", "ended", "rotating", "exposed", "expiring"] as const;
export type KeyFilter = (typeof keyFilters)[number];

/** The query parameters of the list. */
export interface KeysSearch {
  q?: string;
  status?: KeyFilter;
  scope?: KeyScope;
}

const expiringWindow_ms = 7 * 86_400_000;

/** True if a key expires within a week and is not being rotated. */
export const isExpiring = (key: ApiKey, now: number): boolean =>
  ["active", "exposed"].includes(keyState(key, now)) &&
  key.expires_at !== null &&
  Date.parse(key.expires_at) - now <= expiringWindow_ms;

/** Returns the keys that match the filters. The text matches name, prefix, last four characters, id and last IP. */
export function findKeys(keys: readonly ApiKey[], { q = "", status, scope }: KeysSearch, now: number): ApiKey[] {
  const text = (key: ApiKey) => `${key.name} ${shortKey(key)} ${key.id} ${key.last_used_ip ?? ""}`;
  return keys.filter(
    (key) =>
      matchesQuery(text(key), q) &&
      (!scope || key.scopes.includes(scope)) &&
      (!status || filterPredicates[status](key, now)),
  );
}

const filterPredicates: Record<KeyFilter, (key: ApiKey, now: number) => boolean> = {
  usable: isUsable,
  ended: (key, now) => !isUsable(key, now),
  rotating: (key, now) => keyState(key, now) === "rotating",
  exposed: (key) => key.exposed_at !== null,
  expiring: isExpiring,
};
