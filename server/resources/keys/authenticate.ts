import { AppError } from "../../domain/errors.ts";
import type { Authenticate } from "../../http/auth.ts";
import type { RateLimiter } from "../../http/rate-limit.ts";
import { type ClientTokens, isClientToken } from "./client-tokens.ts";
import type { KeyStore } from "./store.ts";

interface KeyAuthentication {
  keys: KeyStore;
  tokens: ClientTokens;
  limiter: RateLimiter;
  clientOf: (request: Request) => string | null;
}

/**
 * Authenticates API keys and client tokens. A revoked key gets its own error, because its secret proves that the client
 * had it; all other failures give the same one. Failures are rate-limited by address.
 */
export function createKeyAuthenticate({ keys, tokens, limiter, clientOf }: KeyAuthentication): Authenticate {
  return (request) => {
    const authorization = request.headers.get("authorization") ?? tokenInQuery(request);
    const address = clientOf(request);
    const secret = authorization === null ? null : bearer(authorization);
    const principal = secret && (isClientToken(secret) ? tokens : keys).authenticate(secret, address);
    if (principal) return principal;
    const { accepted, retryAfter } = limiter.takeFailure(address ?? "local");
    if (!accepted) throw new AppError("rate_limited", "Too many failed authentications.", { retryAfter });
    if (authorization === null)
      throw new AppError("missing_api_key", "Send the header Authorization: Bearer <API key>.");
    const revoked = secret === null ? null : keys.revoked(secret, address);
    throw revoked ?? new AppError("invalid_api_key", "This API key is not valid.");
  };
}

/** Token from the query, because EventSource cannot send headers. Never an API key, because URLs are logged. */
function tokenInQuery({ method, url }: Request): string | null {
  const token = method === "GET" && url.includes("token=") ? new URL(url).searchParams.get("token") : null;
  return token !== null && isClientToken(token) ? `Bearer ${token}` : null;
}

/** Returns the secret of a Bearer header, or null. */
export function bearer(authorization: string): string | null {
  // Trim only blanks: any other character makes it another secret.
  return authorization.slice(0, 7).toLowerCase() === "bearer " ? authorization.slice(7).replace(blanks, "") : null;
}

const blanks = /^[ \t]+|[ \t]+$/g;
