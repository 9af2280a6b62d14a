import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** Encrypts values that must be read again: tool headers, signing secrets, provider keys. */
export type Seal = ReturnType<typeof createSeal>;

const [nonceLength, tagLength] = [12, 16];

/**
 * AES-256-GCM under the master key. `context` names the row and is needed to open the text, so that write access to the
 * database is not enough to move a secret into another row.
 */
export function createSeal(masterKey: Uint8Array) {
  if (masterKey.length !== 32) throw new Error(`A master key has 32 bytes, not ${masterKey.length}.`);

  function seal(plain: string, context: string): string {
    const nonce = randomBytes(nonceLength);
    const cipher = createCipheriv("aes-256-gcm", masterKey, nonce).setAAD(Buffer.from(context));
    const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
    return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`;
  }

  /** Throws if the text was changed, belongs to another context, or was sealed under another key. */
  function open(sealed: string, context: string): string {
    if (!sealed.startsWith("v1.")) throw new Error("Not a sealed text.");
    const bytes = Buffer.from(sealed.slice(3), "base64url");
    if (bytes.length < nonceLength + tagLength) throw new Error("A sealed text was cut.");
    const decipher = createDecipheriv("aes-256-gcm", masterKey, bytes.subarray(0, nonceLength))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(nonceLength, nonceLength + tagLength));
    return decipher.update(bytes.subarray(nonceLength + tagLength), undefined, "utf8") + decipher.final("utf8");
  }

  // A separate key, because the master key is only used for encryption.
  const signing = new Uint8Array(hkdfSync("sha256", masterKey, new Uint8Array(), "runnel/mac", 32));

  /** Returns a MAC, which proves that this server issued the text. Deterministic, and nothing needs to be stored. */
  const mac = (text: string): string => createHmac("sha256", signing).update(text).digest("base64url");

  return { seal, open, mac };
}
