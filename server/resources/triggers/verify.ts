import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { TriggerVerification } from "../../domain/api-types/enums.ts";
import { isSameSecret } from "../../lib/same-secret.ts";

/** A request as its sender signed it. */
interface SignedRequest {
  headers: Headers;
  /** The bytes as they came: a body that was parsed and written again has another signature. */
  body: Uint8Array;
}

interface Rule {
  verification: TriggerVerification;
  /** Header with the shared secret; null: `Authorization`. */
  secret_header: string | null;
}

/** Hash of all that was signed, or the reason of the refusal, which is for the owner of the trigger and no sender. */
type Verdict = { signed: string | null } | { refusal: string };

/** A sender's claim: the text that is signed before the body, the signatures, and the time of the signature. */
interface Claim {
  prefix: string;
  signatures: Buffer[];
  at_ms: number | null;
}

const tolerance_ms = 5 * 60_000;
const maxSignatures = 10;
const none = Buffer.alloc(0);

/**
 * Verifies who sent a request. It does the same work for a right, a wrong and a missing signature, so that the time it
 * takes tells nothing.
 */
export function verify(rule: Rule, secrets: readonly string[], request: SignedRequest, now: number): Verdict {
  const claim = rule.verification === "shared_secret" ? null : claimOf[rule.verification](request.headers);
  // Always two, as in a rotation; the other key is random.
  const keys = [0, 1].map((index) => keyOf(rule.verification, secrets[index]));
  const macs = keys.map((key) =>
    createHmac("sha256", key)
      .update(claim?.prefix ?? "")
      .update(request.body)
      .digest(),
  );
  if (secrets.length === 0) return { refusal: "The trigger has no secret yet." };
  if (rule.verification === "shared_secret") return verifySecret(rule, secrets, request.headers);
  if (!claim) return { refusal: "The headers of the signature are missing or malformed." };
  const isRight = macs.map((mac) => claim.signatures.map((signature) => isSame(signature, mac)).includes(true));
  if (!isRight.includes(true)) return { refusal: "The signature does not match." };
  if (claim.at_ms !== null && Math.abs(now - claim.at_ms) > tolerance_ms)
    return { refusal: "The signature is older or newer than five minutes." };
  return { signed: createHash("sha256").update(claim.prefix).update(request.body).digest("hex") };
}

/** True if the request's headers have the secret of a trigger that needs no body to verify it. */
export const hasSharedSecret = (rule: Rule, secrets: readonly string[], headers: Headers): boolean =>
  rule.verification === "shared_secret" && "signed" in verifySecret(rule, secrets, headers);

function verifySecret({ secret_header }: Rule, secrets: readonly string[], headers: Headers): Verdict {
  const candidates = secret_header === null ? credentialsOf(headers) : [headers.get(secret_header)?.trim() ?? ""];
  const matches = candidates.flatMap((candidate) => secrets.map((secret) => isSameSecret(candidate, secret)));
  return matches.includes(true) ? { signed: null } : { refusal: "The secret is missing or wrong." };
}

/** Returns the token, or the password of HTTP Basic, which senders take from `https://user:password@…`. */
function credentialsOf(headers: Headers): string[] {
  const [, scheme = "", value = ""] = /^(\S+)\s+(\S+)\s*$/.exec(headers.get("authorization") ?? "") ?? [];
  if (scheme.toLowerCase() === "bearer") return [value];
  if (scheme.toLowerCase() !== "basic") return [""];
  const [user = "", ...password] = Buffer.from(value, "base64").toString().split(":");
  return [password.join(":") || user];
}

const isSame = (signature: Buffer, mac: Buffer): boolean =>
  signature.length === mac.length && timingSafeEqual(signature, mac);

const keyOf = (verification: TriggerVerification, secret = randomBytes(32).toString("base64")): Buffer =>
  verification === "standard_webhooks" ? Buffer.from(secret.replace(/^whsec_/, ""), "base64") : Buffer.from(secret);

const claimOf: Record<Exclude<TriggerVerification, "shared_secret">, (headers: Headers) => Claim | null> = {
  github(headers) {
    const signature = hexAfter("sha256=", headers.get("x-hub-signature-256"));
    return signature && { prefix: "", signatures: [signature], at_ms: null };
  },
  stripe(headers) {
    const pairs = (headers.get("stripe-signature") ?? "").split(",").map((pair) => pair.trim());
    const time = pairs.find((pair) => pair.startsWith("t="))?.slice(2);
    const signatures = pairs.flatMap((pair) => hexAfter("v1=", pair) ?? []);
    return timedClaim(time, signatures, (at) => `${at}.`);
  },
  slack(headers) {
    const signature = hexAfter("v0=", headers.get("x-slack-signature"));
    return timedClaim(headers.get("x-slack-request-timestamp"), signature ? [signature] : [], (at) => `v0:${at}:`);
  },
  standard_webhooks(headers) {
    const field = (name: string) => headers.get(`webhook-${name}`) ?? headers.get(`svix-${name}`) ?? "";
    const id = field("id");
    // The fields are separated by dots: an id with a dot could be split into another id and time.
    if (id === "" || id.includes(".")) return null;
    const signatures = field("signature").split(" ").flatMap(base64After);
    return timedClaim(field("timestamp"), signatures, (at) => `${id}.${at}.`);
  },
};

function timedClaim(
  time: string | null | undefined,
  signatures: Buffer[],
  prefixOf: (at: string) => string,
): Claim | null {
  const at = time?.trim() ?? "";
  if (!/^\d{1,12}$/.test(at) || signatures.length === 0) return null;
  return { prefix: prefixOf(at), signatures: signatures.slice(0, maxSignatures), at_ms: Number(at) * 1000 };
}

function hexAfter(prefix: string, text: string | null): Buffer | null {
  const trimmed = text?.trim() ?? "";
  const hex = trimmed.startsWith(prefix) ? trimmed.slice(prefix.length) : "";
  return /^[0-9a-f]{64}$/i.test(hex) ? Buffer.from(hex, "hex") : null;
}

function base64After(text: string): Buffer[] {
  const bytes = text.startsWith("v1,") ? Buffer.from(text.slice(3), "base64") : none;
  return bytes.length === 32 ? [bytes] : [];
}
