import { isObject } from "../../lib/json.ts";
import { OAuthFailure } from "./oauth-failure.ts";

/** Tokens of a response. */
export interface TokenSet {
  access_token: string;
  /** Null: the earlier one stays. */
  refresh_token: string | null;
  /** Null: the server did not say. */
  expires_in_seconds: number | null;
  /** Null: those that were requested. */
  scopes: readonly string[] | null;
}

// As a header it must fit: servers refuse longer ones, and outputs are searched for it.
const tokenLength_max = 16_384;
const scopes_max = 200;
/** A year. Longer is no promise that an issuer can keep, and must not overflow a date. */
const lifetime_max = 366 * 24 * 3600;

// Characters of a token in a header (RFC 6750), and those that issuers use beside them.
const isToken = /^[\x21-\x7e]+$/;

/**
 * Returns the fields of a token response that are used here, in the form that the standard gives them. Servers send
 * numbers as texts, scopes as lists, and no type. Throws for what cannot be a token.
 */
export function readTokens(body: unknown): TokenSet {
  const fail = (message: string) => new OAuthFailure("issuer_invalid", `The token response ${message}.`);
  if (!isObject(body)) throw fail("is no JSON object");
  const { access_token, token_type = "bearer", refresh_token = null, expires_in = null, scope = null } = body;
  if (typeof access_token !== "string" || access_token === "") throw fail("has no access_token");
  if (access_token.length > tokenLength_max || !isToken.test(access_token))
    throw fail("has an access_token that no header can carry");
  if (typeof token_type !== "string" || token_type.toLowerCase() !== "bearer")
    throw fail("has a token_type other than Bearer, which cannot be sent as a header");
  if (refresh_token !== null && (typeof refresh_token !== "string" || refresh_token.length > tokenLength_max))
    throw fail("has a refresh_token that is no text");
  return {
    access_token,
    refresh_token: refresh_token || null,
    expires_in_seconds: lifetimeIn(expires_in),
    scopes: scopesIn(scope),
  };

  function lifetimeIn(value: unknown): number | null {
    if (value === null || value === "") return null;
    const seconds = typeof value === "string" && /^\s*-?\d{1,18}(\.\d+)?\s*$/.test(value) ? Number(value) : value;
    if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds < 0)
      throw fail("has an expires_in that is no number of seconds");
    // Issuers that never let a token expire say 0.
    return seconds === 0 ? null : Math.min(Math.floor(seconds), lifetime_max);
  }

  function scopesIn(value: unknown): readonly string[] | null {
    const words = typeof value === "string" ? value.split(/[\s,]+/) : value;
    if (!Array.isArray(words)) return null;
    const names = words.filter((word): word is string => typeof word === "string" && /^[\x21-\x7e]{1,256}$/.test(word));
    return names.length === 0 ? null : [...new Set(names)].slice(0, scopes_max);
  }
}
