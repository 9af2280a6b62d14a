import { expect, test } from "bun:test";
import type { OAuthClient } from "../../../../server/domain/api-types/oauth.ts";
import { clientChanges, clientCreation, clientDraftOf, clientFaults, withoutSecret } from "./client-draft.ts";

const stored: OAuthClient = {
  id: "oac_1",
  object: "oauth_client",
  name: "Calendar",
  grant: "authorization_code",
  per_user: true,
  issuer: "https://issuer.example",
  authorization_endpoint: null,
  token_endpoint: null,
  revocation_endpoint: null,
  client_id: "runnel",
  has_client_secret: true,
  token_endpoint_auth_method: null,
  scopes: ["calendar.read"],
  resource: null,
  audience: null,
  authorization_params: { access_type: "offline" },
  mcp_server_url: null,
  metadata: {},
  created_at: "2026-11-30T00:00:00.000Z",
  updated_at: "2026-11-30T00:00:00.000Z",
  project_id: "proj_1",
  environment: "test",
};

test("a new client sends what differs from the defaults, and never an address of the other kind", () => {
  const draft = {
    ...clientDraftOf(),
    name: " Calendar ",
    issuer: "https://issuer.example",
    token_endpoint: "https://left.over.example/token",
    client_id: "runnel",
    client_secret: "s3cret",
    scopes: "calendar.read calendar.write",
    authorization_params: "access_type=offline\n\nprompt=a=b",
  };
  expect(clientCreation(draft)).toEqual({
    name: "Calendar",
    grant: "authorization_code",
    per_user: true,
    issuer: "https://issuer.example",
    client_id: "runnel",
    client_secret: "s3cret",
    scopes: ["calendar.read", "calendar.write"],
    authorization_params: { access_type: "offline", prompt: "a=b" },
  });
  expect(clientCreation({ ...draft, grant: "client_credentials", server: "endpoints" })).toMatchObject({
    grant: "client_credentials",
    token_endpoint: "https://left.over.example/token",
  });
  expect(clientCreation({ ...draft, grant: "client_credentials" })).not.toHaveProperty("per_user");
});

test("an unchanged client sends nothing: its secret stays, and goes only if it becomes public", () => {
  const draft = clientDraftOf(stored);
  expect(clientChanges(draft, stored)).toEqual({});
  expect(clientChanges({ ...draft, scopes: "" }, stored)).toEqual({ scopes: [] });
  expect(clientChanges({ ...draft, client_secret: "new" }, stored)).toEqual({ client_secret: "new" });
  expect(clientChanges({ ...draft, token_endpoint_auth_method: "none" }, stored)).toEqual({
    token_endpoint_auth_method: "none",
    client_secret: null,
  });
});

test("code never shows the secret", () => {
  const body = clientCreation({ ...clientDraftOf(stored), client_secret: "s3cret" });
  expect(JSON.stringify(withoutSecret(body))).not.toContain("s3cret");
  expect(withoutSecret({ client_secret: null })).toEqual({ client_secret: null });
});

test("what is missing is named at its field", () => {
  const missing = (change: object, client?: OAuthClient) =>
    Object.entries(clientFaults({ ...clientDraftOf(client), ...change }, client))
      .filter(([, fault]) => fault !== null)
      .map(([field]) => field);
  expect(missing({})).toEqual(["name", "issuer", "client_id"]);
  expect(missing({ server: "endpoints", grant: "client_credentials" })).toEqual([
    "name",
    "token_endpoint",
    "client_id",
    "client_secret",
  ]);
  expect(missing({ grant: "client_credentials" }, stored)).toEqual([]);
  expect(missing({ authorization_params: "offline" }, stored)).toEqual(["authorization_params"]);
});
