import type { Configuration } from "openid-client";
import { EgressError } from "../../lib/egress.ts";
import { isObject } from "../../lib/json.ts";
import { lazy } from "../../lib/lazy.ts";
import type { AuthMethod, IssuerClient, StoredAttempt, StoredRevocation } from "./client-definition.ts";
import { fetchJson, hostOf, type IssuerAccess, isPassing } from "./fetch-json.ts";
import type { IssuerMetadata, MetadataOf } from "./issuer-metadata.ts";
import { issuerText } from "./issuer-text.ts";
import { OAuthFailure } from "./oauth-failure.ts";
import { readTokens, type TokenSet } from "./read-tokens.ts";

// Loaded with the first token, which keeps starts fast.
const kit = lazy(() => import("openid-client"));

interface IssuerClientOptions {
  accessOf: (environment: "test" | "live") => IssuerAccess;
  metadataOf: MetadataOf;
}

/** Part of a stored authorization that its requests need, with its state. */
type SentUser = Omit<StoredAttempt, "definition"> & { state: string };

export type IssuerRequests = ReturnType<typeof createIssuerRequests>;

/** Requests to authorization servers (RFC 6749, 7009, 7636, 8707, 9207). Each throws only `OAuthFailure`. */
export function createIssuerRequests({ accessOf, metadataOf }: IssuerClientOptions) {
  /** Returns the endpoints of a client; `issuer` is null if it is unknown. */
  async function endpointsOf(client: IssuerClient, access: IssuerAccess) {
    const found: IssuerMetadata | null = client.issuer === null ? null : await metadataOf(access, client.issuer);
    const { authorization_endpoint, token_endpoint, revocation_endpoint } = client;
    return {
      ...found,
      issuer: found?.issuer ?? null,
      authorization_endpoint: authorization_endpoint ?? found?.authorization_endpoint ?? null,
      token_endpoint: token_endpoint ?? found?.token_endpoint ?? null,
      revocation_endpoint: revocation_endpoint ?? found?.revocation_endpoint ?? null,
    };
  }

  async function configurationOf(client: IssuerClient, access: IssuerAccess) {
    const endpoints = await endpointsOf(client, access);
    const { issuer, authorization_endpoint, token_endpoint, revocation_endpoint } = endpoints;
    if (token_endpoint === null) throw new OAuthFailure("issuer_unsuitable", "The client has no token endpoint.");
    const methods = endpoints.token_endpoint_auth_methods_supported ?? null;
    const lib = await kit();
    const method = client.token_endpoint_auth_method ?? defaultMethod(client.client_secret, methods);
    const secret = client.client_secret ?? "";
    const auth =
      method === "none"
        ? lib.None()
        : method === "client_secret_post"
          ? lib.ClientSecretPost(secret)
          : lib.ClientSecretBasic(secret);
    const config = new lib.Configuration(
      {
        issuer: issuer ?? new URL(token_endpoint).origin,
        token_endpoint,
        ...(authorization_endpoint !== null && { authorization_endpoint }),
        ...(revocation_endpoint !== null && { revocation_endpoint }),
        authorization_response_iss_parameter_supported: endpoints.authorization_response_iss_parameter_supported,
      },
      client.client_id,
      {},
      auth,
    );
    // The guard decides: it refuses plain HTTP except to this machine in test environments.
    if (!access.httpsOnly) lib.allowInsecureRequests(config);
    let tokens: TokenSet | null = null;
    config[lib.customFetch] = async (url, { method, headers, body }) => {
      const answer = await fetchJson(access, url, {
        method: method as "POST",
        headers: headers as Record<string, string>,
        ...(body !== undefined && body !== null && { body: String(body) }),
      });
      if (url !== token_endpoint) return revocationAnswer(url, answer.status);
      const { status, error } = checkAnswer(url, answer);
      if (error) return Response.json(error, { status });
      tokens = readTokens(answer.body);
      // Only fields that are used here: an id token of a provider that errs in it is no reason to refuse its tokens.
      return Response.json({ access_token: tokens.access_token, token_type: "bearer" });
    };
    return { config, endpoints, tokens: () => tokens };
  }

  /** Performs a request for tokens. */
  async function request(
    environment: "test" | "live",
    client: IssuerClient,
    work: (kit: Kit, config: Configuration, knowsIssuer: boolean) => Promise<unknown>,
    signal?: AbortSignal,
  ): Promise<TokenSet> {
    return withFailures(async () => {
      const access = { ...accessOf(environment), ...(signal && { signal }) };
      const { config, endpoints, tokens } = await configurationOf(client, access);
      await work(await kit(), config, endpoints.issuer !== null);
      const found = tokens();
      if (!found) throw new OAuthFailure("issuer_invalid", "The authorization server sent no tokens.");
      return found;
    });
  }

  const withResource = ({ resource }: IssuerClient): Record<string, string> => (resource === null ? {} : { resource });

  return {
    /** Returns the host of the page on which the user consents. */
    consentHost: (environment: "test" | "live", client: IssuerClient): Promise<string> =>
      withFailures(async () => hostOf(requireConsentPage(await endpointsOf(client, accessOf(environment))))),

    /** Returns where the user consents. */
    authorizationUrl: (
      environment: "test" | "live",
      client: IssuerClient,
      { state, verifier, redirect_uri, scopes }: SentUser,
    ): Promise<string> =>
      withFailures(async () => {
        const access = accessOf(environment);
        const { config, endpoints } = await configurationOf(client, access);
        const { code_challenge_methods_supported: challenges } = endpoints;
        const authorization_endpoint = requireConsentPage(endpoints);
        if (challenges && !challenges.includes("S256"))
          throw new OAuthFailure("issuer_unsuitable", "The authorization server does not support PKCE with S256.");
        await requireReachable(access, authorization_endpoint);
        const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await kit();
        const url = buildAuthorizationUrl(config, {
          ...client.authorization_params,
          ...withResource(client),
          ...(client.audience !== null && { audience: client.audience }),
          ...(scopes.length > 0 && { scope: scopes.join(" ") }),
          redirect_uri,
          state,
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
        });
        return url.href;
      }),

    /** Exchanges the code in the query of the callback. */
    exchange: (
      environment: "test" | "live",
      client: IssuerClient,
      query: URLSearchParams,
      { state, verifier, redirect_uri }: SentUser,
    ): Promise<TokenSet> =>
      request(environment, client, ({ authorizationCodeGrant }, config, knowsIssuer) => {
        const answer = new URLSearchParams(query);
        // Without a known issuer there is nothing to compare it with: the state leads to the client's own endpoint.
        if (!knowsIssuer) answer.delete("iss");
        // Of implicit flows, which are not used here.
        for (const name of ["id_token", "token", "response"]) answer.delete(name);
        const checks = { pkceCodeVerifier: verifier, expectedState: state };
        return authorizationCodeGrant(config, new URL(`${redirect_uri}?${answer}`), checks, withResource(client));
      }),

    /** Refreshes a token; `signal` ends all its requests in place of the access's own. */
    refresh: (
      environment: "test" | "live",
      client: IssuerClient,
      refreshToken: string,
      signal?: AbortSignal,
    ): Promise<TokenSet> =>
      request(
        environment,
        client,
        ({ refreshTokenGrant }, config) => refreshTokenGrant(config, refreshToken, withResource(client)),
        signal,
      ),

    clientCredentials: (environment: "test" | "live", client: IssuerClient): Promise<TokenSet> =>
      request(environment, client, ({ clientCredentialsGrant }, config) =>
        clientCredentialsGrant(config, {
          ...withResource(client),
          ...(client.audience !== null && { audience: client.audience }),
          ...(client.scopes.length > 0 && { scope: client.scopes.join(" ") }),
        }),
      ),

    /** Revokes tokens. Returns false if the server has no address for it. */
    revoke: (environment: "test" | "live", { client, tokens }: StoredRevocation): Promise<boolean> =>
      withFailures(async () => {
        const { config, endpoints } = await configurationOf(client, accessOf(environment));
        if (endpoints.revocation_endpoint === null) return false;
        const { tokenRevocation } = await kit();
        for (const { token, hint } of tokens) await tokenRevocation(config, token, { token_type_hint: hint });
        return true;
      }),
  };
}

type Kit = Awaited<ReturnType<typeof kit>>;

/** Returns how a client authenticates if it does not say: by the header, unless the server takes only the form. */
export function defaultMethod(secret: string | null, supported: readonly string[] | null): AuthMethod {
  if (secret === null) return "none";
  const takesHeader = supported === null || supported.includes("client_secret_basic");
  return !takesHeader && supported.includes("client_secret_post") ? "client_secret_post" : "client_secret_basic";
}

function requireConsentPage({ authorization_endpoint }: Pick<IssuerMetadata, "authorization_endpoint">): string {
  if (authorization_endpoint !== null) return authorization_endpoint;
  throw new OAuthFailure("issuer_unsuitable", "The authorization server has no authorization endpoint.");
}

async function requireReachable({ egress, httpsOnly }: IssuerAccess, url: string): Promise<void> {
  await egress.check(url, { httpsOnly }).catch((error) => {
    if (!(error instanceof EgressError)) throw error;
    // The user's browser may know a name that this machine cannot look up now.
    if (!error.isTransient) throw new OAuthFailure("url_not_allowed", `${hostOf(url)}: ${error.message}`);
  });
}

/** Returns the answer of a revocation endpoint. Its body says nothing that is used. */
function revocationAnswer(url: string, status: number): Response {
  if (isPassing(status)) throw unavailable(url, status);
  return new Response(null, { status: status >= 200 && status < 300 ? 200 : status });
}

const unavailable = (url: string, status: number) =>
  new OAuthFailure("issuer_unreachable", `${hostOf(url)} returned status ${status}.`, true);

/** Returns the status and the error of an answer of a token endpoint. Throws if it is none of the protocol. */
function checkAnswer(url: string, { status, body }: { status: number; body: unknown }) {
  const fields = isObject(body) ? body : {};
  if (typeof fields.error === "string") {
    const { error_description } = fields;
    // A server in trouble may use any code, but one that names the grant means it.
    if (isPassing(status) && !grantErrors.test(fields.error)) throw unavailable(url, status);
    const error = { error: fields.error, ...(typeof error_description === "string" && { error_description }) };
    // Some servers answer errors with 200 or 500, which the library does not read.
    return { status: status >= 400 && status < 500 ? status : 400, error };
  }
  if (isPassing(status)) throw unavailable(url, status);
  if (status < 200 || status >= 300)
    throw new OAuthFailure("issuer_invalid", `${hostOf(url)} returned status ${status}, and no error of OAuth.`);
  if (body === undefined) throw new OAuthFailure("issuer_invalid", `The answer of ${hostOf(url)} is no JSON.`);
  return { status, error: null };
}

// Codes beside those of the standard are of GitHub, Slack and Entra ID.
const grantErrors =
  /^(invalid_grant|bad_verification_code|bad_refresh_token|invalid_refresh_token|invalid_code|code_already_used|token_expired|token_revoked|interaction_required|login_required|consent_required)$/;
const passingErrors = /^(temporarily_unavailable|server_error|slow_down|rate_limited|ratelimited)$/;

async function withFailures<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw await failureOf(error);
  }
}

/** Describes a failure in our words, with at most a short quote of the server. */
async function failureOf(error: unknown): Promise<OAuthFailure> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof OAuthFailure) return cause;
  const { AuthorizationResponseError, ResponseBodyError } = await kit();
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const description = issuerText(error.error_description ?? "").replace(/\.$/, "");
    const code = issuerText(error.error).slice(0, 64);
    const message = `The authorization server answered ${code}${description && `: ${description}`}.`;
    if (code === "access_denied") return new OAuthFailure("access_denied", message);
    if (passingErrors.test(code)) return new OAuthFailure("issuer_unreachable", message, true);
    return new OAuthFailure(grantErrors.test(code) ? "grant_refused" : "client_refused", message);
  }
  // The library's own words name the field and never its value.
  return new OAuthFailure(
    "issuer_invalid",
    `The authorization server's answer is not valid: ${issuerText(reasonOf(error))}.`,
  );
}

function reasonOf(error: unknown): string {
  let reason = String((error as { message?: unknown } | null)?.message ?? "unknown");
  for (let cause = (error as Error)?.cause; cause instanceof Error; cause = cause.cause) reason = cause.message;
  return reason.replace(/\.$/, "");
}
