import { expect, test } from "bun:test";
import type { Connection } from "../../../../server/domain/api-types/console.ts";
import {
  type ConnectionDraft,
  changedFields,
  differingFields,
  draftOf,
  faultsOf,
  newDraft,
  toChange,
  toNewConnection,
} from "./connection-draft.ts";

const gpu: Connection = {
  id: "gpu",
  name: "gpu",
  provider: "openai_compatible",
  base_url: "http://127.0.0.1:8000/v1",
  has_key: true,
  max_concurrent: 4,
  idle_timeout_ms: null,
  fallbacks: [],
  outages: [],
  refusals: [],
  region: null,
  project: null,
  location: null,
  auth: null,
  consent: null,
  source: "stored",
  prefix: "openai_compatible/gpu",
  used: true,
  created_at: "2026-11-29T12:00:00Z",
  updated_at: null,
  version: 3,
  models: null,
  last_test: null,
};

test("a new connection shows its provider's address, which is stored only if it was changed", () => {
  const draft = newDraft("anthropic");
  expect(draft.base_url).toBe("https://api.anthropic.com/v1");
  expect(toNewConnection({ ...draft, api_key: " sk\n" })).toMatchObject({
    name: "anthropic",
    base_url: null,
    api_key: "sk",
  });
  expect(toNewConnection({ ...draft, base_url: "https://proxy.example/v1" }).base_url).toBe("https://proxy.example/v1");
  expect(newDraft("openai_compatible").base_url).toBe("");
});

test("a change has the changed fields alone, and keeps the key if none is given", () => {
  const draft = draftOf(gpu);
  expect(toChange(draft, gpu)).toEqual({});
  expect(toChange({ ...draft, max_concurrent: "" }, gpu, 3)).toEqual({ max_concurrent: null, expected_version: 3 });
  expect(toChange({ ...draft, api_key: " sk-new\n" }, gpu)).toEqual({ api_key: "sk-new" });
  expect(toChange({ ...draft, api_key: "typed", remove_key: true }, gpu)).toEqual({ api_key: null });
  const openai = { ...gpu, name: "openai", provider: "openai", base_url: "https://proxy.example/v1" };
  // The provider's own address is the one without a stored one.
  expect(toChange({ ...draftOf(openai), base_url: "https://api.openai.com/v1" }, openai)).toEqual({ base_url: null });
});

test("a limit that is no number is refused, and not taken for none", () => {
  const draft = newDraft("openai");
  expect(faultsOf({ ...draft, max_concurrent: "many", idle_timeout_ms: "1.5" })).toEqual({
    max_concurrent: expect.any(String),
    idle_timeout_ms: expect.any(String),
  });
  expect(Object.values(faultsOf({ ...draft, max_concurrent: " 4 " })).filter(Boolean)).toEqual([]);
});

test("a connection to a cloud has its own fields alone, and an empty secret stays", () => {
  const draft = { ...newDraft("bedrock"), region: " eu-west-1 ", secret_access_key: "secret", project: "typed before" };
  expect(toNewConnection(draft)).toEqual({
    name: "bedrock",
    provider: "bedrock",
    base_url: null,
    api_key: null,
    max_concurrent: null,
    idle_timeout_ms: null,
    fallbacks: [],
    region: "eu-west-1",
    access_key_id: null,
    secret_access_key: "secret",
    session_token: null,
  });
  const bedrock = { ...gpu, name: "bedrock", provider: "bedrock", base_url: null, region: "eu-west-1" };
  expect(toChange(draftOf(bedrock), bedrock)).toEqual({});
  const change = toChange({ ...draftOf(bedrock), region: "us-east-1", session_token: "new" }, bedrock);
  expect(change).toEqual({ region: "us-east-1", session_token: "new" });
  expect(changedFields(change)).toEqual(["Region", "Session token"]);
  expect(toNewConnection(newDraft("openai"))).not.toHaveProperty("region");
});

test("a connection with OAuth has no key, and its secret stays if none is given", () => {
  const draft: ConnectionDraft = {
    ...newDraft("azure"),
    api_key: "typed before",
    uses_oauth: true,
    "auth.issuer": " https://a.example ",
    "auth.client_id": "c",
    "auth.client_secret": " s ",
    "auth.scopes": "a, b",
  };
  const auth = {
    type: "oauth" as const,
    grant: "client_credentials" as const,
    issuer: "https://a.example",
    authorization_endpoint: null,
    token_endpoint: null,
    revocation_endpoint: null,
    client_id: "c",
    scopes: ["a", "b"],
    audience: null,
    resource: null,
    token_endpoint_auth_method: null,
  };
  // A space of a secret is a part of it.
  expect(toNewConnection(draft)).toMatchObject({ api_key: null, auth: { ...auth, client_secret: " s " } });
  const azure: Connection = {
    ...gpu,
    provider: "azure",
    name: "azure",
    auth,
  };
  expect(toChange(draftOf(azure), azure)).toEqual({});
  expect(toChange({ ...draftOf(azure), "auth.scopes": "a" }, azure)).toEqual({ auth: { ...auth, scopes: ["a"] } });
  expect(toChange({ ...draftOf(azure), uses_oauth: false, api_key: "k" }, azure)).toEqual({ auth: null, api_key: "k" });
  expect(differingFields(azure, { ...azure, auth: null })).toEqual(["OAuth"]);
});
