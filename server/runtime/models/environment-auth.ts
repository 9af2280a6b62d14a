import { type ConnectionAuth, tokenAuthMethods } from "../../domain/connection-auth.ts";
import { type Environment, readAddress, readVariable } from "./read-variable.ts";

interface EnvironmentAuth {
  auth: ConnectionAuth;
  client_secret: string;
}

/**
 * Returns OAuth with client credentials from the variables of a connection, whose names begin with `prefix`; null if
 * none is set. Throws if one is missing or wrong. A consent has to be stored, so it needs a stored connection.
 */
export function authFromEnvironment(env: Environment, prefix: string): EnvironmentAuth | null {
  const read = (field: string) => readVariable(env, `${prefix}_${field}`);
  const issuer = readAddress(env, `${prefix}_ISSUER`);
  const token_endpoint = readAddress(env, `${prefix}_TOKEN_ENDPOINT`);
  const [client_id, client_secret] = [read("CLIENT_ID"), read("CLIENT_SECRET")];
  if ([issuer, token_endpoint, client_id, client_secret].every((value) => value === null)) return null;
  if (client_id === null) throw new Error(`${prefix}_CLIENT_ID is missing: OAuth needs the id of a client.`);
  if (client_secret === null) throw new Error(`${prefix}_CLIENT_SECRET is missing: OAuth needs the client's secret.`);
  if ((issuer === null) === (token_endpoint === null))
    throw new Error(`OAuth takes ${prefix}_ISSUER or ${prefix}_TOKEN_ENDPOINT, and one of them.`);
  if (read("API_KEY") !== null) throw new Error(`Set ${prefix}_API_KEY or the variables of OAuth, and not both.`);
  const method = read("TOKEN_AUTH_METHOD");
  const token_endpoint_auth_method = tokenAuthMethods.find((known) => known === method) ?? null;
  if (method !== null && token_endpoint_auth_method === null)
    throw new Error(`${prefix}_TOKEN_AUTH_METHOD takes ${tokenAuthMethods.join(" or ")}.`);
  const resource = read("RESOURCE");
  if (resource !== null && (!URL.canParse(resource) || resource.includes("#")))
    throw new Error(`${prefix}_RESOURCE takes an absolute URL without a fragment.`);
  const scopes = (read("SCOPES") ?? "").split(/[\s,]+/).filter(Boolean);
  const auth: ConnectionAuth = {
    type: "oauth",
    grant: "client_credentials",
    issuer,
    authorization_endpoint: null,
    token_endpoint,
    revocation_endpoint: null,
    client_id,
    token_endpoint_auth_method,
    scopes: [...new Set(scopes)],
    audience: read("AUDIENCE"),
    resource,
  };
  return { auth, client_secret };
}
