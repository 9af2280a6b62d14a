import { expect, test } from "bun:test";
import type { ConnectionAuth } from "../../domain/connection-auth.ts";
import { type AuthOptions, authOf } from "./auth-options.ts";

const none = { issuer: null, authorization_endpoint: null, token_endpoint: null, revocation_endpoint: null };

const ofIssuer: ConnectionAuth = {
  type: "oauth",
  grant: "authorization_code",
  ...none,
  issuer: "https://a.example",
  revocation_endpoint: "https://a.example/revoke",
  client_id: "runnel",
  token_endpoint_auth_method: null,
  scopes: ["models"],
  audience: null,
  resource: null,
};

const ofEndpoints: ConnectionAuth = {
  ...ofIssuer,
  ...none,
  authorization_endpoint: "https://a.example/authorize",
  token_endpoint: "https://a.example/token",
  revocation_endpoint: "https://a.example/revoke",
};

test.each<[string, ConnectionAuth, AuthOptions, object]>([
  ["an issuer", ofIssuer, { issuer: "https://b.example" }, { issuer: "https://b.example" }],
  ["an issuer in place of endpoints", ofEndpoints, { issuer: "https://b.example" }, { issuer: "https://b.example" }],
  [
    "a token endpoint",
    ofEndpoints,
    { tokenEndpoint: "https://b.example/t" },
    { token_endpoint: "https://b.example/t" },
  ],
  [
    "endpoints in place of an issuer",
    ofIssuer,
    {
      tokenEndpoint: "https://b.example/t",
      authorizationEndpoint: "https://b.example/a",
      revocationEndpoint: "https://b.example/r",
    },
    {
      token_endpoint: "https://b.example/t",
      authorization_endpoint: "https://b.example/a",
      revocation_endpoint: "https://b.example/r",
    },
  ],
])("no endpoint of the former server stays beside %s of another one", (_, before, given, expected) => {
  expect(authOf(given, before)).toEqual({ ...before, ...none, ...expected });
});

test.each<[string, ConnectionAuth, AuthOptions]>([
  ["the same issuer again", ofIssuer, { issuer: ofIssuer.issuer ?? "" }],
  ["the same token endpoint again", ofEndpoints, { tokenEndpoint: ofEndpoints.token_endpoint ?? "" }],
  ["another field", ofEndpoints, { scope: ["models"] }],
])("endpoints stay with %s", (_, before, given) => {
  expect(authOf(given, before)).toEqual(before);
});
