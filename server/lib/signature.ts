import { createHmac, randomBytes } from "node:crypto";

const prefix = "whsec_";

/** Content to sign: the id stays the same for all attempts, the timestamp (Unix seconds) is the attempt's. */
export type Signable = { secrets: readonly string[]; id: string; timestamp: number; body: string | Uint8Array };

/** Headers of a signed request. A type and not an interface, so that it is assignable to a header record. */
type SignatureHeaders = { "webhook-id": string; "webhook-timestamp": string; "webhook-signature": string };

/** Creates a secret of 256 random bits in the format of Standard Webhooks. */
export const newSigningSecret = (): string => `${prefix}${randomBytes(32).toString("base64")}`;

/**
 * Returns Standard Webhooks headers with one signature per secret, so that receivers may have either during a rotation.
 */
export function sign({ secrets, id, timestamp, body }: Signable): SignatureHeaders {
  if (secrets.length === 0) throw new Error("A request cannot be signed without a secret.");
  // The signed text separates its fields by dots: an id with a dot could be split into another id and timestamp.
  if (id === "" || id.includes(".")) throw new Error("An id to sign is not empty and has no dot.");
  const signatures = secrets.map((secret) => {
    const mac = createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.`).update(body);
    return `v1,${mac.digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signatures.join(" ") };
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.replace(prefix, ""), "base64");
  // A mangled secret decodes to few or no bytes, and HMAC would accept an empty key.
  if (!secret.startsWith(prefix) || key.length < 24) throw new Error("Not a signing secret.");
  return key;
}
