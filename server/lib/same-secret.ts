import { timingSafeEqual } from "node:crypto";

/** True if the secret is right; compares in constant time. */
export function isSameSecret(candidate: string, right: string): boolean {
  const digest = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest();
  return timingSafeEqual(digest(candidate), digest(right));
}
