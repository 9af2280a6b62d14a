import type { OAuthGrantType } from "../domain/api-types/enums.ts";
import type { Fault } from "../domain/errors.ts";
import type { ClientDefinition } from "../runtime/oauth/client-definition.ts";
import { fault } from "./errors.ts";

interface Checked {
  grant: OAuthGrantType;
  per_user: boolean;
  definition: ClientDefinition;
  client_secret: string | null;
}

/** Parameters that are set for each authorization, or change what it is. */
const ownParams =
  /^(response_type|response_mode|client_id|client_secret|redirect_uri|scope|state|nonce|code_challenge|code_challenge_method|resource|audience|request|request_uri)$/i;

/** Faults of a new or changed client, beyond the schema. */
export function clientFaults({ grant, per_user, definition, client_secret }: Checked): Fault[] {
  const { issuer, authorization_endpoint, token_endpoint, resource, token_endpoint_auth_method: method } = definition;
  const faults: Fault[] = [];
  const isForUsers = grant === "authorization_code";
  if (issuer === null && token_endpoint === null)
    faults.push(fault("issuer", "Name the issuer, or else the endpoints.", "required"));
  if (issuer !== null)
    for (const name of ["authorization_endpoint", "token_endpoint"] as const)
      if (definition[name] !== null) faults.push(fault(name, "The issuer's metadata has it: leave one of both out."));
  if (issuer === null && isForUsers && authorization_endpoint === null)
    faults.push(fault("authorization_endpoint", "Without an issuer, name where users consent.", "required"));
  if (per_user && !isForUsers)
    faults.push(fault("per_user", "Only users who consented have grants: this needs authorization_code."));
  if (!isForUsers && client_secret === null)
    faults.push(fault("client_secret", "A client that acts for itself needs its secret.", "required"));
  if (method === "none" && client_secret !== null)
    faults.push(fault("token_endpoint_auth_method", "With none, the secret would never be sent: leave it out."));
  if (method !== null && method !== "none" && client_secret === null)
    faults.push(fault("client_secret", `${method} needs a secret.`, "required"));
  for (const name of Object.keys(definition.authorization_params))
    if (ownParams.test(name))
      faults.push(fault(`authorization_params.${name}`, "This parameter is set by the server."));
  if (issuer !== null && /[?#]/.test(issuer)) faults.push(fault("issuer", "An issuer has no query and no fragment."));
  if (resource !== null && (!URL.canParse(resource) || resource.includes("#")))
    faults.push(fault("resource", "Must be an absolute URL without a fragment."));
  return faults;
}

/** Fields whose change leads to another authorization server, or makes another client of it. */
export const identityFields = [
  "issuer",
  "authorization_endpoint",
  "token_endpoint",
  "revocation_endpoint",
  "client_id",
] as const;

/** Fields for which tokens are issued: earlier tokens are not for the new ones. */
const tokenFields = ["resource", "audience"] as const;

/** True if earlier tokens belong to something else now. */
export const losesGrants = (before: ClientDefinition, after: ClientDefinition, isForUsers: boolean): boolean =>
  [...identityFields, ...tokenFields].some((name) => before[name] !== after[name]) ||
  // A token that the client gets for itself has all its scopes; a user is asked again when one is missing.
  (!isForUsers && before.scopes.join(" ") !== after.scopes.join(" "));

/** Names what tokens of users are issued for: clients between which grants are kept have the same. */
export const grantIdentity = (client: ClientDefinition): string =>
  JSON.stringify([...identityFields, ...tokenFields].map((name) => client[name]));
