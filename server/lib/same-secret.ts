import { timingSafeEqual } from "node:crypto";

/** Whether a secret is the right one. How long it takes to say so tells nothing of either. */
export function isSameSecret(given: string, right: string): boolean {
  const [a, b] = [given, right].map((text) => new Bun.CryptoHasher("sha256").update(text).digest());
  return timingSafeEqual(a!, b!);
}
