import { WebhookVerificationError } from "./errors.ts";
import { parseJson } from "./json.ts";

type HeaderSource = Headers | Record<string, string | string[] | undefined>;

/** Maximum age of a webhook, against replays (five minutes in Standard Webhooks). */
const toleranceSeconds = 300;

/**
 * Returns the event of a webhook. Throws a `WebhookVerificationError` if it was not signed with this secret
 * (https://www.standardwebhooks.com) or is older than five minutes. `body` must be the raw body. During a rotation the
 * server signs with both secrets, so either one verifies; several `secrets` are accepted too.
 */
export async function verifyWebhook<Event>(
  body: string | Uint8Array,
  headers: HeaderSource,
  secrets: string | readonly string[],
): Promise<Event> {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (!/^\d+$/.test(timestamp!) || Math.abs(Date.now() / 1000 - Number(timestamp)) >= toleranceSeconds)
    throw new WebhookVerificationError("The timestamp is not of the last five minutes.");
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const head = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  for (const secret of [secrets].flat()) {
    const key = await keyOf(secret);
    for (const signature of signatures!.split(" ")) {
      const [version, value = ""] = signature.split(",");
      // `verify` compares in constant time.
      if (version === "v1" && (await crypto.subtle.verify("HMAC", key, fromBase64(value), signed)))
        return parseJson(new TextDecoder().decode(bytes)) as Event;
    }
  }
  throw new WebhookVerificationError("The signature is not of this secret.");
}

function headerOf(headers: HeaderSource, name: string): string {
  const found =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (typeof found !== "string") throw new WebhookVerificationError(`The header ${name} is missing.`);
  return found;
}

async function keyOf(secret: string): Promise<CryptoKey> {
  const raw = fromBase64(secret.replace(/^whsec_/, ""));
  if (raw.length === 0) throw new WebhookVerificationError("This is not a webhook's secret: it begins with `whsec_`.");
  return await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  } catch {
    return new Uint8Array(); // No signature matches an empty key.
  }
}
