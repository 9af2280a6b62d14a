import type { Command } from "commander";
import {
  authAddressFields,
  type ConnectionAuth,
  type ConnectionAuthInput,
  connectionGrantTypes,
  tokenAuthMethods,
} from "../../domain/connection-auth.ts";
import { usageError } from "./exit-code.ts";
import { option } from "./option.ts";

/** Flags of connections that get access tokens (OAuth 2) in place of a key. */
export interface AuthOptions {
  grant?: string;
  issuer?: string;
  authorizationEndpoint?: string;
  tokenEndpoint?: string;
  revocationEndpoint?: string;
  clientId?: string;
  clientSecret?: string;
  scope?: string[];
  audience?: string;
  resource?: string;
  tokenAuthMethod?: string;
}

/** Adds the flags of OAuth. */
export const addAuthOptions = (command: Command): Command =>
  command
    .addOption(
      option("--grant <type>", "OAuth: authorization_code for consents; default: client_credentials", {
        env: "RUNNEL_MODEL_GRANT",
        choices: connectionGrantTypes,
      }),
    )
    .addOption(
      option("--issuer <url>", "OAuth in place of a key: issuer, whose metadata has the token endpoint", {
        env: "RUNNEL_MODEL_ISSUER",
      }),
    )
    .addOption(
      option("--token-endpoint <url>", "OAuth: token endpoint, in place of the issuer", {
        env: "RUNNEL_MODEL_TOKEN_ENDPOINT",
      }),
    )
    .addOption(
      option("--authorization-endpoint <url>", "OAuth: where an operator consents", {
        env: "RUNNEL_MODEL_AUTHORIZATION_ENDPOINT",
      }),
    )
    .addOption(
      option("--revocation-endpoint <url>", "OAuth: where tokens are revoked", {
        env: "RUNNEL_MODEL_REVOCATION_ENDPOINT",
      }),
    )
    .addOption(option("--client-id <id>", "OAuth: id of the client", { env: "RUNNEL_MODEL_CLIENT_ID" }))
    .addOption(option("--client-secret <secret>", "OAuth: secret of the client", { env: "RUNNEL_MODEL_CLIENT_SECRET" }))
    .addOption(option("--scope <scopes...>", "OAuth: scopes of the tokens"))
    .addOption(option("--audience <audience>", "OAuth: audience of the tokens", { env: "RUNNEL_MODEL_AUDIENCE" }))
    .addOption(option("--resource <url>", "OAuth: resource of the tokens", { env: "RUNNEL_MODEL_RESOURCE" }))
    .addOption(
      option("--token-auth-method <method>", "OAuth: how the client authenticates; default: as its server says", {
        choices: tokenAuthMethods,
      }),
    );

/** Flags by the names of the fields. */
export const authFlags: Record<string, string> = {
  "auth.issuer": "--issuer",
  "auth.grant": "--grant",
  "auth.authorization_endpoint": "--authorization-endpoint",
  "auth.token_endpoint": "--token-endpoint",
  "auth.revocation_endpoint": "--revocation-endpoint",
  "auth.client_id": "--client-id",
  "auth.client_secret": "--client-secret",
  "auth.scopes": "--scope",
  "auth.audience": "--audience",
  "auth.resource": "--resource",
  "auth.token_endpoint_auth_method": "--token-auth-method",
  auth: "--client-id",
};

/** Returns OAuth as the flags change it; undefined if none was given. Throws a usage error without a client's id. */
export function authOf(options: AuthOptions, before: ConnectionAuth | null = null): ConnectionAuthInput | undefined {
  const {
    issuer,
    authorizationEndpoint,
    tokenEndpoint,
    revocationEndpoint,
    clientId,
    clientSecret,
    scope,
    audience,
    resource,
    tokenAuthMethod,
  } = options;
  if (Object.values(options).every((value) => value === undefined)) return undefined;
  const client_id = clientId ?? before?.client_id;
  if (client_id === undefined)
    throw usageError("OAuth needs --client-id, --client-secret and --issuer or --token-endpoint.");
  const grant = connectionGrantTypes.find((known) => known === options.grant);
  const isElsewhere =
    (issuer !== undefined && issuer.trim() !== before?.issuer) ||
    (tokenEndpoint !== undefined && tokenEndpoint.trim() !== before?.token_endpoint);
  const method = tokenAuthMethods.find((known) => known === tokenAuthMethod);
  return {
    ...before,
    type: "oauth",
    client_id,
    ...(grant !== undefined && { grant }),
    // Addresses of the former server must not get the secret of the next one's client.
    ...(isElsewhere && noAddresses),
    ...(issuer !== undefined && { issuer }),
    ...(tokenEndpoint !== undefined && { token_endpoint: tokenEndpoint }),
    ...(authorizationEndpoint !== undefined && { authorization_endpoint: authorizationEndpoint }),
    ...(revocationEndpoint !== undefined && { revocation_endpoint: revocationEndpoint }),
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(scope !== undefined && { scopes: scope.flatMap((text) => text.split(/[\s,]+/)).filter(Boolean) }),
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
    ...(method !== undefined && { token_endpoint_auth_method: method }),
  };
}

const noAddresses = Object.fromEntries(authAddressFields.map((name) => [name, null]));

/** Separates the flags of OAuth from the others. */
export function splitAuth<Options extends AuthOptions>({
  grant,
  issuer,
  authorizationEndpoint,
  tokenEndpoint,
  revocationEndpoint,
  clientId,
  clientSecret,
  scope,
  audience,
  resource,
  tokenAuthMethod,
  ...rest
}: Options): { auth: AuthOptions; rest: Omit<Options, keyof AuthOptions> } {
  return {
    auth: {
      grant,
      issuer,
      authorizationEndpoint,
      tokenEndpoint,
      revocationEndpoint,
      clientId,
      clientSecret,
      scope,
      audience,
      resource,
      tokenAuthMethod,
    },
    rest,
  };
}
