import type { Certificate } from "../certificate.ts";
import { AcmeError } from "./client.ts";

const minute_ms = 60_000;
const unreachedWait_ms = minute_ms / 2;
const refusedWait_ms = 5 * minute_ms; // Authorities limit failed checks: Let's Encrypt allows five an hour for a name.
const longestWait_ms = 6 * 60 * minute_ms;

/**
 * Returns the time of renewal: two thirds of the lifetime, minus up to a twentieth, so that servers that failed
 * together do not renew in the same minute for ever.
 */
export function renewAt({ valid_from_ms, expires_at_ms }: Certificate, random = Math.random()): number {
  const life_ms = expires_at_ms - valid_from_ms;
  return Math.round(valid_from_ms + life_ms * (2 / 3 - random / 20));
}

/**
 * Returns the delay in milliseconds after this number of failures in a row (from 1): it doubles, or is longer if the
 * authority asks.
 */
export function waitAfter(failures: number, error: unknown, random = Math.random()): number {
  const answered = error instanceof AcmeError;
  const doubled = (answered ? refusedWait_ms : unreachedWait_ms) * 2 ** (failures - 1);
  return Math.max(answered ? (error.retryAfter_ms ?? 0) : 0, Math.min(doubled, longestWait_ms) * (1 + random / 4));
}
