import type { Environment } from "../../domain/scope.ts";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const [randomLength, checksumLength] = [33, 6];

/** Creates a secret: `sk_test_` or `sk_live_`, 192 random bits, and a checksum for secret scanners. */
export function mintSecret(environment: Environment): string {
  const random = crypto.getRandomValues(new Uint8Array(24)).toHex();
  const body = `sk_${environment}_${base62(BigInt(`0x${random}`), randomLength)}`;
  return body + checksum(body);
}

/** Returns the environment of a well-formed secret, or null. Rejects most wrong keys without a database read. */
export function environmentOf(secret: string): Environment | null {
  if (!/^sk_(test|live)_[0-9A-Za-z]{39}$/.test(secret)) return null;
  if (checksum(secret.slice(0, -checksumLength)) !== secret.slice(-checksumLength)) return null;
  return secret.startsWith("sk_live_") ? "live" : "test";
}

/** Hash that is stored in place of the secret. */
export const hashSecret = (secret: string): Uint8Array => Bun.CryptoHasher.hash("sha256", secret);

/** Hash of a secret in Base64. */
export const hashText = (secret: string): string => Bun.CryptoHasher.hash("sha256", secret, "base64");

// Plain numbers, because this runs on every request and 32 bits fit into them.
function checksum(body: string): string {
  let text = "";
  for (let remainder = Bun.hash.crc32(body), i = 0; i < checksumLength; i++, remainder = Math.floor(remainder / 62))
    text = digits[remainder % 62] + text;
  return text;
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value, i = 0; i < length; i++, rest /= 62n) text = digits[Number(rest % 62n)] + text;
  return text;
}
