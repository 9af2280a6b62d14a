import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { isUsable } from "./key-state.ts";

const expiryTime = ({ expires_at }: ApiKey): number => (expires_at ? Date.parse(expires_at) : Number.POSITIVE_INFINITY);
const isRestricted = ({ agent_ids, allowed_cidrs }: ApiKey): boolean => agent_ids !== null || allowed_cidrs !== null;

/** True if no other key could create keys without this one. The server refuses to revoke the last admin key. */
export function isLastAdmin(key: ApiKey, keys: readonly ApiKey[], now: number): boolean {
  if (!key.scopes.includes("admin") || !isUsable(key, now)) return false;
  return !keys.some(
    (other) =>
      other.id !== key.id &&
      other.scopes.includes("admin") &&
      other.rotated_to === null &&
      isUsable(other, now) &&
      (isRestricted(key) || (!isRestricted(other) && expiryTime(other) >= expiryTime(key))),
  );
}
