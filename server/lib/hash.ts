/** SHA-256 in hexadecimal. */
export const sha256 = (data: string | Uint8Array): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");

/** Hashes a value's JSON. Only for our own values, whose keys have a fixed order. */
export const hashJson = (value: unknown): string => sha256(JSON.stringify(value));
