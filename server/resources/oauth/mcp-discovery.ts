import { readChallenge } from "../../lib/auth-challenge.ts";
import { EgressError, type EgressStream } from "../../lib/egress.ts";
import { isObject } from "../../lib/json.ts";
import { type AuthMethod, authMethods } from "../../runtime/oauth/client-definition.ts";
import { fetchJson, hostOf, type IssuerAccess } from "../../runtime/oauth/fetch-json.ts";
import { type IssuerMetadata, type MetadataOf, textsIn } from "../../runtime/oauth/issuer-metadata.ts";
import { issuerText } from "../../runtime/oauth/issuer-text.ts";
import { OAuthFailure } from "../../runtime/oauth/oauth-failure.ts";

/** The authorization that an MCP server asks for. */
interface McpAuthorization {
  metadata: IssuerMetadata;
  /** Resource indicator of the server. */
  resource: string;
  /** Scopes that it names; empty: none. */
  scopes: readonly string[];
}

/** A registration of this server at an authorization server. */
interface Registration {
  client_id: string;
  client_secret: string | null;
  token_endpoint_auth_method: AuthMethod;
}

const probe_ms = 10_000;
const issuers_max = 3;

/** Finds where an MCP server has its users authorized (RFC 9728, then RFC 8414). Throws `OAuthFailure`. */
export async function discoverMcp(
  access: IssuerAccess,
  metadataOf: MetadataOf,
  serverUrl: string,
): Promise<McpAuthorization> {
  const challenge = readChallenge(await challengeOf(access, serverUrl));
  const found = await protectedResource(access, serverUrl, challenge.resource_metadata);
  // Servers of the protocol's first version are their own authorization servers.
  const issuers = found?.issuers ?? [new URL(serverUrl).origin];
  let failure: unknown;
  for (const issuer of issuers.slice(0, issuers_max)) {
    try {
      const metadata = await metadataOf(access, issuer);
      const scopes = challenge.scopes ?? found?.scopes ?? [];
      return { metadata, resource: found?.resource ?? resourceOf(serverUrl), scopes };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Registers this server at an authorization server (RFC 7591). Throws `OAuthFailure`. */
export async function register(
  access: IssuerAccess,
  { registration_endpoint, token_endpoint_auth_methods_supported, issuer }: IssuerMetadata,
  { redirect_uri, scopes }: { redirect_uri: string; scopes: readonly string[] },
): Promise<Registration> {
  const create = "Register there yourself, create an OAuth client, and name it.";
  if (registration_endpoint === null)
    throw new OAuthFailure("issuer_unsuitable", `${hostOf(issuer)} registers no clients by itself. ${create}`);
  const supported = token_endpoint_auth_methods_supported ?? ["none"];
  const method = (["none", "client_secret_basic", "client_secret_post"] as const).find((one) =>
    supported.includes(one),
  );
  if (!method)
    throw new OAuthFailure(
      "issuer_unsuitable",
      `${hostOf(issuer)} supports no authentication of clients that is known here.`,
    );
  const request = (more: object) =>
    fetchJson(access, registration_endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        client_name: "runnel",
        redirect_uris: [redirect_uri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: method,
        ...more,
      }),
    });
  let answer = await request(scopes.length > 0 ? { scope: scopes.join(" ") } : {});
  // Some servers refuse registrations that name scopes, and grant them all the same.
  if (answer.status >= 400 && answer.status < 500 && scopes.length > 0) answer = await request({});
  const { status, body } = answer;
  const fields = isObject(body) ? body : {};
  if (status !== 200 && status !== 201) {
    const reason = typeof fields.error === "string" ? `: ${issuerText(fields.error)}` : "";
    throw new OAuthFailure(
      "client_refused",
      `${hostOf(issuer)} refused the registration with status ${status}${reason}. ${create}`,
    );
  }
  const { client_id, client_secret = null } = fields;
  if (typeof client_id !== "string" || !isPrintable.test(client_id))
    throw new OAuthFailure("issuer_invalid", `${hostOf(issuer)} registered a client without an id.`);
  if (client_secret !== null && (typeof client_secret !== "string" || !isPrintable.test(client_secret)))
    throw new OAuthFailure("issuer_invalid", `${hostOf(issuer)} registered a client whose secret is no text.`);
  const named = authMethods.find((one) => one === fields.token_endpoint_auth_method);
  const given = client_secret === null ? "none" : (named ?? (method === "none" ? "client_secret_basic" : method));
  return { client_id, client_secret: given === "none" ? null : client_secret, token_endpoint_auth_method: given };
}

const isPrintable = /^[\x20-\x7e]{1,4096}$/;

/** Sends the first request of a session without a token, and returns the challenge of the answer; null if there is none. */
async function challengeOf({ egress, httpsOnly, signal }: IssuerAccess, url: string): Promise<string | null> {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "runnel", version: "0" } },
  });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  let answer: EgressStream;
  try {
    answer = await egress.stream(url, { method: "POST", headers, body, httpsOnly, signal, timeoutMs: probe_ms });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const code = error.isTransient ? "issuer_unreachable" : "url_not_allowed";
    throw new OAuthFailure(code, `${hostOf(url)}: ${error.message}`, error.isTransient);
  }
  await answer.body.cancel();
  return answer.headers.get("www-authenticate");
}

/** Returns the addresses of a server's metadata: the one that it names, then those of RFC 9728. */
export function resourceAddresses(serverUrl: string, named: string | null): string[] {
  const { origin, pathname } = new URL(serverUrl);
  const place = "/.well-known/oauth-protected-resource";
  const path = pathname.replace(/\/$/, "");
  const own = path === "" ? [origin + place] : [origin + place + path, origin + place];
  return [...new Set(named === null ? own : [named, ...own])];
}

async function protectedResource(access: IssuerAccess, serverUrl: string, named: string | null) {
  let failure: OAuthFailure | null = null;
  for (const address of resourceAddresses(serverUrl, named)) {
    const { status, body } = await fetchJson(access, address);
    if (status !== 200 || !isObject(body)) continue;
    const { resource, authorization_servers, scopes_supported } = body;
    // Metadata of another resource would have its tokens sent here (RFC 9728, 3.3).
    if (typeof resource !== "string" || !isWithin(serverUrl, resource)) {
      const message = `${hostOf(address)} has the metadata of another resource: ${issuerText(String(resource))}.`;
      failure = new OAuthFailure("issuer_invalid", message);
      continue;
    }
    const issuers = textsIn(authorization_servers)?.filter(isIssuer) ?? [];
    return { resource, issuers: issuers.length > 0 ? issuers : null, scopes: textsIn(scopes_supported)?.slice(0, 100) };
  }
  if (failure) throw failure;
  return null;
}

const isIssuer = (text: string): boolean => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && text.length <= 2048;
};

/** True if the server is the resource or one of its paths. */
export function isWithin(serverUrl: string, resource: string): boolean {
  const [server, of] = [new URL(serverUrl), URL.parse(resource)];
  if (!of || of.origin !== server.origin) return false;
  const path = of.pathname.replace(/\/$/, "");
  return server.pathname === path || server.pathname.startsWith(`${path}/`);
}

/** Returns the server's own address as a resource indicator. */
function resourceOf(serverUrl: string): string {
  const url = new URL(serverUrl);
  url.hash = "";
  return url.pathname === "/" && url.search === "" ? url.origin : url.href;
}
