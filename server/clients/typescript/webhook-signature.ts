import { WebhookVerificationError } from "./errors.ts";

type HeaderSource = Headers | Record<string, string | string[] | undefined>;

/** Older than this it may be a copy that somebody sends again (Standard Webhooks: five minutes). */
const toleranceSeconds = 300;

/**
 * The event of a webhook, when it was signed with this secret (https://www.standardwebhooks.com) and is not older than
 * five minutes; else throws a `WebhookVerificationError`. `body` is what was received, to the byte.
 */
export async function verifyWebhook<Event>(
  body: string | Uint8Array,
  headers: HeaderSource,
  secret: string,
): Promise<Event> {
  const header = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : (headers[name] ?? headers[name.toLowerCase()]);
    if (typeof value !== "string") throw new WebhookVerificationError(`The header ${name} is missing.`);
    return value;
  };
  const [id, timestamp, signatures] = [header("webhook-id"), header("webhook-timestamp"), header("webhook-signature")];
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) >= toleranceSeconds)
    throw new WebhookVerificationError("The timestamp is not of the last five minutes.");
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = new Uint8Array([...new TextEncoder().encode(`${id}.${timestamp}.`), ...bytes]);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", fromBase64(secret.replace(/^whsec_/, "")), hmac, false, ["verify"]);
  for (const signature of signatures.split(" ")) {
    const [version, value = ""] = signature.split(",");
    // `verify` compares in constant time.
    if (version === "v1" && (await crypto.subtle.verify("HMAC", key, fromBase64(value), signed)))
      return JSON.parse(new TextDecoder().decode(bytes)) as Event;
  }
  throw new WebhookVerificationError("The signature is not of this secret.");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  } catch {
    return new Uint8Array(); // No signature of anything.
  }
}
