import type { ApiKey } from "../../../../server/wire/key.ts";
import { isUsable } from "./key-state.ts";

const lasts = ({ expires_at }: ApiKey): number => (expires_at ? Date.parse(expires_at) : Number.POSITIVE_INFINITY);
const isBound = ({ agent_ids, allowed_cidrs }: ApiKey): boolean => agent_ids !== null || allowed_cidrs !== null;

/** Whether no other key could make keys once this one has ended: the server refuses to end such a one. */
export function isLastAdmin(key: ApiKey, keys: readonly ApiKey[], now: number): boolean {
  if (!key.scopes.includes("admin") || !isUsable(key, now)) return false;
  return !keys.some(
    (other) =>
      other.id !== key.id &&
      other.scopes.includes("admin") &&
      other.rotated_to === null &&
      isUsable(other, now) &&
      (isBound(key) || (!isBound(other) && lasts(other) >= lasts(key))),
  );
}
