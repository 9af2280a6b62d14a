import { createHmac } from "node:crypto";

// RFC 6238 with the values of every authenticator app: SHA-1, 30 seconds, six digits. A library would be longer than
// this.
const step_ms = 30_000;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Returns the code of a 30-second step. */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const number = mac.readUInt32BE(mac.readUInt8(19) & 15) & 0x7f_ff_ff_ff;
  return String(number % 1_000_000).padStart(6, "0");
}

export const stepAt = (ms: number): number => Math.floor(ms / step_ms);

/**
 * Returns the step of a code: that of `now` or one beside it, for clocks that differ. Null if there is none after
 * `last`.
 */
export function stepOf(secret: Uint8Array, code: string, now: number, last: number): number | null {
  const steps = [-1, 0, 1].map((off) => stepAt(now) + off);
  return steps.find((step) => step > last && codeOf(secret, step) === code) ?? null;
}

/** Base32 (RFC 4648, without padding), for people to type. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}
