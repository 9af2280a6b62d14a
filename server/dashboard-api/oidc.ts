import type { Configuration } from "openid-client";
import { type OidcRefusal, type Role, roles } from "../domain/api-types/enums.ts";
import { lazy } from "../lib/lazy.ts";
import type { Seal } from "../lib/seal.ts";
import { hasRole } from "./role.ts";

/** Issuer settings of the operator. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Label of the button: "Sign in with …". */
  name: string;
  /** The claim that names roles; null: roles are given at the dashboard. */
  roleClaim: string | null;
  /** Allowed domains of email addresses; empty: any. */
  domains: readonly string[];
  /** True if an address without `email_verified` counts as verified; one with `email_verified: false` never does. */
  trustEmail: boolean;
}

/** A person as the issuer has verified them. */
export interface Identity {
  issuer: string;
  subject: string;
  /** Null if the issuer has not verified it. */
  email: string | null;
  /** Role of the claim; null if there is none, or it names no role. */
  role: Role | null;
}

export class OidcRefused extends Error {
  readonly reason: OidcRefusal;
  constructor(reason: OidcRefusal, cause?: unknown) {
    super(`Not signed in by OpenID Connect: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** A sign-in under way, sealed in a cookie of the browser that started it, so that no other browser can finish it. */
interface Attempt {
  state: string;
  nonce: string;
  verifier: string;
  /** Path in the dashboard to go to afterwards. */
  to: string;
  until_ms: number;
}

// Loaded at the first sign-in, which keeps starts fast.
const kit = lazy(() => import("openid-client"));

const attempt_ms = 10 * 60_000;
const discovered_ms = 3_600_000;
const sealedFor = "oidc";

/** OpenID Connect client: authorization code with PKCE, state and nonce. */
export type Oidc = ReturnType<typeof createOidc>;

export function createOidc({
  settings,
  seal,
  callback,
  now = Date.now,
}: {
  settings: OidcSettings;
  seal: Seal;
  /** Redirect URI of the issuer. */
  callback: () => string;
  now?: () => number;
}) {
  let discovered: { config: Promise<Configuration>; at: number } | null = null;

  /** Returns the issuer's discovery document, cached for an hour; failures are not cached. */
  async function configuration(): Promise<Configuration> {
    if (!discovered || now() - discovered.at > discovered_ms) {
      const config = discoverIssuer(settings);
      discovered = { config, at: now() };
      config.catch(() => {
        discovered = null;
      });
    }
    return await discovered.config;
  }

  /** Returns the claims of the id token, completed from the userinfo endpoint where needed. */
  async function claimsOf(config: Configuration, tokens: Awaited<ReturnType<typeof exchange>>): Promise<Claims> {
    const idClaims = tokens.claims();
    if (!idClaims) throw new Error("There is no id token.");
    const isWhole =
      idClaims.email !== undefined && (settings.roleClaim === null || claimAt(idClaims, settings.roleClaim));
    if (isWhole || !config.serverMetadata().userinfo_endpoint) return idClaims as Claims;
    const userInfo = await (await kit()).fetchUserInfo(config, tokens.access_token, idClaims.sub);
    return { ...userInfo, ...idClaims } as Claims;
  }

  const exchange = async (config: Configuration, url: URL, { state, nonce, verifier }: Attempt) =>
    (await kit()).authorizationCodeGrant(config, url, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });

  return {
    name: settings.name,

    /** Returns the address for the browser, and the sealed attempt for its cookie. */
    async begin(to: string): Promise<{ url: string; attempt: string }> {
      const config = await configuration().catch((error) => {
        throw new OidcRefused("issuer", error);
      });
      const client = await kit();
      const verifier = client.randomPKCECodeVerifier();
      const attempt = { state: client.randomState(), nonce: client.randomNonce(), verifier, to };
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: callback(),
        scope: "openid email profile",
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
      });
      return {
        url: url.href,
        attempt: seal.seal(JSON.stringify({ ...attempt, until_ms: now() + attempt_ms }), sealedFor),
      };
    },

    /**
     * Returns the identity and the path to go to. `search` is the query that the issuer added to the callback. Throws
     * `OidcRefused`.
     */
    async end(search: string, sealed: string | null): Promise<{ identity: Identity; to: string }> {
      const attempt = openAttempt(sealed);
      const callbackUrl = new URL(`${callback()}${search}`);
      if (!attempt || attempt.until_ms <= now() || callbackUrl.searchParams.get("state") !== attempt.state)
        throw new OidcRefused("stale");
      if (callbackUrl.searchParams.get("error") === "access_denied") throw new OidcRefused("cancelled");
      try {
        const config = await configuration();
        const claims = await claimsOf(config, await exchange(config, callbackUrl, attempt));
        return { identity: identityOf(config.serverMetadata().issuer, claims, settings), to: attempt.to };
      } catch (error) {
        throw error instanceof OidcRefused
          ? error
          : new OidcRefused(isUnreached(error) ? "unreachable" : "issuer", error);
      }
    },
  };

  function openAttempt(sealed: string | null): Attempt | null {
    try {
      return sealed === null ? null : JSON.parse(seal.open(sealed, sealedFor));
    } catch {
      return null;
    }
  }
}

/** Discovers the issuer. Throws if it is unreachable, or names another issuer. */
export async function discoverIssuer(settings: OidcSettings): Promise<Configuration> {
  const client = await kit();
  const issuer = new URL(settings.issuer);
  const plain = issuer.protocol === "http:" ? [client.allowInsecureRequests] : [];
  // Verify signatures also over TLS, so that a TLS-terminating proxy cannot forge an identity.
  const options = { execute: [...plain, client.enableNonRepudiationChecks], timeout: 10 };
  return await client.discovery(issuer, settings.clientId, settings.clientSecret, undefined, options).catch((error) => {
    throw error.code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED"
      ? new Error(`It calls itself ${error.cause.body.issuer}.`, { cause: error })
      : error;
  });
}

/** True if the issuer was not reached: then the code is the system's, such as `ECONNREFUSED`. */
function isUnreached(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && (code === "OAUTH_TIMEOUT" || !/^(OAUTH|ERR)_/.test(code));
}

type Claims = Record<string, unknown> & { sub: string };

/** Throws `OidcRefused` if the claims have no email address. */
function identityOf(issuer: string, claims: Claims, { roleClaim, trustEmail }: OidcSettings): Identity {
  const { email_verified = trustEmail, email } = claims;
  if (typeof email !== "string") throw new OidcRefused("email");
  return {
    issuer,
    subject: claims.sub,
    email: email_verified === true ? email : null,
    role: roleClaim === null ? null : highestRole(claimAt(claims, roleClaim)),
  };
}

/** Returns a claim by its name, or by a path such as `realm_access.roles`. */
function claimAt(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return (claims as Record<string, unknown>)[path];
  let at: unknown = claims;
  for (const name of path.split("."))
    at =
      at !== null && typeof at === "object" && Object.hasOwn(at, name)
        ? (at as Record<string, unknown>)[name]
        : undefined;
  return at;
}

/** Returns the highest role named by a text or a list, as `owner` or `runnel-owner`; null if there is none. */
export function highestRole(claim: unknown): Role | null {
  const matchingRoles = (Array.isArray(claim) ? claim : [claim]).flatMap((one) =>
    roles.filter((role) => one === role || one === `runnel-${role}`),
  );
  return matchingRoles.reduce<Role | null>((most, role) => (most && hasRole(most, role) ? most : role), null);
}
