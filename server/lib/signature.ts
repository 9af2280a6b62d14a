import { createHmac, randomBytes } from "node:crypto";

const prefix = "whsec_";

/** What is signed: the id stays the same on every attempt, the timestamp (unix seconds) is that of the attempt. */
export type Signable = { secrets: readonly string[]; id: string; timestamp: number; body: string | Uint8Array };

/** The headers of one signed request. A type and not an interface, so that it fits where any headers fit. */
type SignatureHeaders = { "webhook-id": string; "webhook-timestamp": string; "webhook-signature": string };

/** A new secret of 256 random bits, in the form that Standard Webhooks libraries take. */
export const newSigningSecret = (): string => `${prefix}${randomBytes(32).toString("base64")}`;

/** Standard Webhooks headers, one signature per secret, so that a receiver may hold either while a secret rotates. */
export function sign({ secrets, id, timestamp, body }: Signable): SignatureHeaders {
  if (secrets.length === 0) throw new Error("A request cannot be signed without a secret.");
  // The id ends at the first dot of what is signed: an id with a dot could be re-cut into another id and timestamp.
  if (id === "" || id.includes(".")) throw new Error("An id to sign is not empty and has no dot.");
  const signatures = secrets.map((secret) => {
    const mac = createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.`).update(body);
    return `v1,${mac.digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": String(timestamp), "webhook-signature": signatures.join(" ") };
}

function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.replace(prefix, ""), "base64");
  // A mangled secret decodes to few or no bytes, and an empty key would sign happily.
  if (!secret.startsWith(prefix) || key.length < 24) throw new Error("Not a signing secret.");
  return key;
}
