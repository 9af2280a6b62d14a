import { createHmac } from "node:crypto";

// RFC 6238 as every authenticator app has it: SHA-1, 30 seconds, six digits. No library: it would be longer than this.
const step_ms = 30_000;
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The code of a step of 30 seconds. */
export function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const number = mac.readUInt32BE(mac[19]! & 15) & 0x7f_ff_ff_ff;
  return String(number % 1_000_000).padStart(6, "0");
}

export const stepAt = (ms: number): number => Math.floor(ms / step_ms);

/** The step whose code this is: the one of `now` or one beside it, for clocks that differ. Null: none after `last`. */
export function stepOf(secret: Uint8Array, code: string, now: number, last: number): number | null {
  const steps = [-1, 0, 1].map((off) => stepAt(now) + off);
  return steps.find((step) => step > last && codeOf(secret, step) === code) ?? null;
}

/** Bytes as people type them (RFC 4648, without padding). */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}
