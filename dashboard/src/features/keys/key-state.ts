import type { ApiKey } from "../../../../server/domain/api-types/key.ts";

/** The state of a key. A key in rotation is `rotating` even if it was sent in clear text: see `isExposed`. */
export type KeyState = "active" | "rotating" | "exposed" | "revoked" | "expired";

/** Returns the state of a key by the browser's clock, so that it changes exactly when a countdown ends. */
export function keyState(key: ApiKey, now: number): KeyState {
  if (key.revoked_at || key.status === "revoked") return "revoked";
  if (key.status === "expired" || (key.expires_at && Date.parse(key.expires_at) <= now)) return "expired";
  if (key.status === "rotating") return "rotating";
  return key.exposed_at ? "exposed" : "active";
}

/** True if the key was sent in clear text and still works, also during a rotation: an eavesdropper can use it. */
export const isExposed = (key: ApiKey, now: number): boolean => key.exposed_at !== null && isUsable(key, now);

/** True if the server still accepts the key. */
export const isUsable = (key: ApiKey, now: number): boolean => !["revoked", "expired"].includes(keyState(key, now));

/** Returns the visible ends of the secret: `sk_test_Ab12…9xQz`. */
export const shortKey = ({ prefix, last4 }: ApiKey): string => `${prefix}…${last4}`;
