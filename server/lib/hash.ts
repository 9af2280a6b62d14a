/** SHA-256 in hexadecimal. */
export const sha256 = (data: string | Uint8Array): string => new Bun.CryptoHasher("sha256").update(data).digest("hex");

/** The hash of a value by its JSON, which for our own values has a fixed order of keys. */
export const hashJson = (value: unknown): string => sha256(JSON.stringify(value));
