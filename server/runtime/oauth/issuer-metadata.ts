import { isObject } from "../../lib/json.ts";
import { fetchJson, hostOf, type IssuerAccess, isPassing } from "./fetch-json.ts";
import { issuerText } from "./issuer-text.ts";
import { OAuthFailure } from "./oauth-failure.ts";

/** Metadata of an authorization server (RFC 8414), as far as it is used here. */
export interface IssuerMetadata {
  issuer: string;
  authorization_endpoint: string | null;
  token_endpoint: string;
  revocation_endpoint: string | null;
  registration_endpoint: string | null;
  /** Null: it does not say. */
  token_endpoint_auth_methods_supported: readonly string[] | null;
  code_challenge_methods_supported: readonly string[] | null;
  /** True if each answer to the browser names the issuer (RFC 9207). */
  authorization_response_iss_parameter_supported: boolean;
}

const known_ms = 3_600_000;
const known_max = 500;

/** Reads the metadata of authorization servers and keeps it for an hour; failures are not kept. */
export function createIssuerMetadata({ now }: { now: () => number }) {
  const known = new Map<string, { metadata: IssuerMetadata; at: number }>();

  return async function metadataOf(access: IssuerAccess, issuer: string): Promise<IssuerMetadata> {
    const key = `${access.httpsOnly} ${issuer}`;
    const found = known.get(key);
    if (found && now() - found.at < known_ms) return found.metadata;
    const metadata = await discover(access, issuer);
    if (known.size >= known_max) known.delete(known.keys().next().value ?? "");
    known.set(key, { metadata, at: now() });
    return metadata;
  };
}

export type MetadataOf = ReturnType<typeof createIssuerMetadata>;

/** Returns the addresses of the metadata: of RFC 8414, and of OpenID Connect with the path before and after. */
export function metadataAddresses(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const places = [`/.well-known/oauth-authorization-server${path}`, `/.well-known/openid-configuration${path}`];
  if (path !== "") places.push(`${path}/.well-known/openid-configuration`);
  return places.map((place) => origin + place);
}

async function discover(access: IssuerAccess, issuer: string): Promise<IssuerMetadata> {
  let failure = new OAuthFailure("issuer_invalid", `${hostOf(issuer)} publishes no metadata: name its endpoints.`);
  for (const address of metadataAddresses(issuer)) {
    const { status, body } = await fetchJson(access, address);
    if (isPassing(status))
      throw new OAuthFailure("issuer_unreachable", `${hostOf(issuer)} returned status ${status}.`, true);
    // Sites answer unknown paths with a page: go on with the next address.
    if (status !== 200 || !isObject(body)) continue;
    try {
      return readMetadata(body, issuer);
    } catch (error) {
      if (!(error instanceof OAuthFailure)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** Returns the metadata. Throws unless it is the issuer's own: another's would receive the code (RFC 8414, 3.3). */
function readMetadata(body: Record<string, unknown>, issuer: string): IssuerMetadata {
  const fail = (message: string) => new OAuthFailure("issuer_invalid", `The metadata of ${hostOf(issuer)} ${message}.`);
  if (typeof body.issuer !== "string" || withoutSlash(body.issuer) !== withoutSlash(issuer))
    throw fail(`is of another issuer: ${issuerText(String(body.issuer))}`);
  const endpoint = (name: string): string | null => {
    const value = body[name];
    if (value === undefined || value === null) return null;
    const url = typeof value === "string" ? URL.parse(value) : null;
    if (!url || !/^https?:$/.test(url.protocol) || url.username !== "" || url.hash !== "" || url.href.length > 2048)
      throw fail(`has a ${name} that is no address`);
    return url.href;
  };
  const token_endpoint = endpoint("token_endpoint");
  if (token_endpoint === null) throw fail("has no token_endpoint");
  return {
    issuer: body.issuer,
    authorization_endpoint: endpoint("authorization_endpoint"),
    token_endpoint,
    revocation_endpoint: endpoint("revocation_endpoint"),
    registration_endpoint: endpoint("registration_endpoint"),
    token_endpoint_auth_methods_supported: textsIn(body.token_endpoint_auth_methods_supported),
    code_challenge_methods_supported: textsIn(body.code_challenge_methods_supported),
    authorization_response_iss_parameter_supported: body.authorization_response_iss_parameter_supported === true,
  };
}

/** Some issuers end with a slash, which people leave out. Both have the same metadata. */
const withoutSlash = (issuer: string): string => issuer.replace(/\/$/, "");

export const textsIn = (value: unknown): string[] | null =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : null;
