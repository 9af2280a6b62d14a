import { timingSafeEqual } from "node:crypto";

/** True if the secret is right; compares in constant time. */
export function isSameSecret(given: string, right: string): boolean {
  const [a, b] = [given, right].map((text) => new Bun.CryptoHasher("sha256").update(text).digest());
  return timingSafeEqual(a!, b!);
}
