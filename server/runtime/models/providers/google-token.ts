import { createHash } from "node:crypto";
import { SignJWT } from "jose";
import { fieldsOf, parsedJson } from "../../../lib/json.ts";
import { unlessAborted } from "../../../lib/on-abort.ts";
import { maskSecrets } from "../../../lib/redact.ts";
import { textOf } from "../body-text.ts";
import { JudgedFailure, unavailableError } from "../model-error.ts";
import type { Fetch } from "../model-fetch.ts";
import type { ServiceAccount } from "./service-account.ts";

const scope = "https://www.googleapis.com/auth/cloud-platform";
const grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const answerMax_bytes = 64 * 1024;
const patience_ms = 20_000;
/** A token is replaced so long before its end that no call begins with one that is about to end. */
const reserve_ms = 5 * 60_000;
const sourcesMax = 64;

export type TokenSource = ReturnType<typeof createTokenSource>;

/** Sources by service account: all models of a connection use one token. */
const sources = new Map<string, TokenSource>();

/** Returns the source of this account's tokens in this thread. */
export function tokenSourceFor(account: ServiceAccount, fetch: Fetch): TokenSource {
  const { token_uri, client_email, private_key } = account;
  const name = createHash("sha256")
    .update(JSON.stringify([token_uri, client_email, private_key]))
    .digest("hex");
  const known = sources.get(name);
  if (known) return known;
  const [oldest] = sources.keys();
  if (oldest !== undefined && sources.size >= sourcesMax) sources.delete(oldest);
  const source = createTokenSource(account, fetch);
  sources.set(name, source);
  return source;
}

/** Exchanges signed proofs of a service account for access tokens, one request at a time, and keeps them. */
export function createTokenSource(account: ServiceAccount, fetch: Fetch, now = Date.now) {
  let current: { token: string; until_ms: number } | null = null;
  let pending: Promise<string> | null = null;

  async function refresh(): Promise<string> {
    const { token, expires_in_s } = await requestToken(account, fetch, now());
    const lifetime_ms = expires_in_s * 1000;
    // A token that lives shorter than the reserve is replaced after half of its life.
    current = { token, until_ms: now() + Math.max(lifetime_ms - reserve_ms, lifetime_ms / 2) };
    return token;
  }

  return {
    /** Returns a token. Throws a `JudgedFailure`, or a network error. An abort ends this wait, but not the request. */
    get(signal: AbortSignal): Promise<string> {
      if (current && now() < current.until_ms) return Promise.resolve(current.token);
      pending ??= refresh().finally(() => {
        pending = null;
      });
      return unlessAborted(pending, signal);
    },
    /** Forgets a token that was refused before its end. */
    forget(token: string): void {
      if (current?.token === token) current = null;
    },
  };
}

async function requestToken(account: ServiceAccount, fetch: Fetch, now_ms: number) {
  const { client_email, private_key_id, key, token_uri } = account;
  const iat = Math.floor(now_ms / 1000);
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(private_key_id !== undefined && { kid: private_key_id }) })
    .setIssuer(client_email)
    .setAudience(token_uri)
    .setIssuedAt(iat)
    .setExpirationTime(iat + 3600)
    .sign(key);
  const response = await fetch(token_uri, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: grantType, assertion }).toString(),
    signal: AbortSignal.timeout(patience_ms),
  });
  const text = await textOf(response, answerMax_bytes);
  const { access_token, expires_in, error, error_description } = fieldsOf(parsedJson(text));
  if (response.ok && typeof access_token === "string" && access_token !== "")
    return { token: access_token, expires_in_s: typeof expires_in === "number" ? expires_in : 3600 };
  if (!response.ok && response.status !== 400 && response.status !== 401 && response.status !== 403)
    throw Object.assign(new Error("Google's token server failed."), { statusCode: response.status });
  const reason = [error, error_description].filter((part) => typeof part === "string").join(": ");
  const message = `Google refused the service account${reason && `: ${reason}`}`;
  throw new JudgedFailure(unavailableError(maskSecrets(message, [assertion])));
}
