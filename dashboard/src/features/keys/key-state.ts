import type { ApiKey } from "../../../../server/wire/key.ts";

/** How a key stands at a time. One that is being rotated is `rotating` also when it was sent in clear text: see `isExposed`. */
export type KeyState = "active" | "rotating" | "exposed" | "revoked" | "expired";

/** The state of a key by the reader's clock, so that a countdown ends when it says so. */
export function keyState(key: ApiKey, now: number): KeyState {
  if (key.revoked_at || key.status === "revoked") return "revoked";
  if (key.status === "expired" || (key.expires_at && Date.parse(key.expires_at) <= now)) return "expired";
  if (key.status === "rotating") return "rotating";
  return key.exposed_at ? "exposed" : "active";
}

/** Whether it was sent in clear text and still works, also while it is being rotated: whoever read it can use it. */
export const isExposed = (key: ApiKey, now: number): boolean => key.exposed_at !== null && isUsable(key, now);

/** Whether requests with it are still taken. */
export const isUsable = (key: ApiKey, now: number): boolean => !["revoked", "expired"].includes(keyState(key, now));

/** `sk_test_Ab12…9xQz`. */
export const shortKey = ({ prefix, last4 }: ApiKey): string => `${prefix}…${last4}`;
