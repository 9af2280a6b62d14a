/** Hash that is stored in place of a random token. */
export const sha256Bytes = (token: string): Uint8Array => new Bun.CryptoHasher("sha256").update(token).digest();
