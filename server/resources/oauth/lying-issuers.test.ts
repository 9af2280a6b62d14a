import { expect, test } from "bun:test";
import { readChallenge } from "../../lib/auth-challenge.ts";
import { defaultMethod } from "../../runtime/oauth/issuer-client.ts";
import { metadataAddresses } from "../../runtime/oauth/issuer-metadata.ts";
import { readTokens } from "../../runtime/oauth/read-tokens.ts";
import { type OAuthFaults, oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { testApp } from "../../testing/test-app.ts";
import { isWithin, resourceAddresses } from "./mcp-discovery.ts";

const own = { name: "c", grant: "client_credentials", client_id: oauthClientId, client_secret: oauthClientSecret };

/** Returns what a client gets of an issuer with these faults. */
async function tokenOf(faults: OAuthFaults, change: (url: string) => object = (issuer) => ({ issuer })) {
  await using issuer = await startOAuthServer();
  issuer.faults = faults;
  await using server = testApp();
  const client = await server.client();
  const { status, body } = await client.post("/v1/oauth_clients", { ...own, ...change(issuer.url) });
  expect([status, body.error]).toEqual([201, undefined]);
  const token = await server.oauth.get(client.scope, body.id, null);
  return { token, asked: issuer.asked };
}

test.each<[string, object, string]>([
  ["of another issuer", { issuer: "https://other.example" }, "another issuer: https://other.example"],
  ["without an issuer", { issuer: undefined }, "another issuer: undefined"],
  ["whose issuer is a list", { issuer: ["https://a.example"] }, "another issuer"],
  ["without a token endpoint", { token_endpoint: undefined }, "has no token_endpoint"],
  ["whose endpoint is a script", { token_endpoint: "javascript:alert(1)" }, "token_endpoint that is no address"],
  ["whose endpoint is a number", { token_endpoint: 1 }, "token_endpoint that is no address"],
  ["whose endpoint has a password", { token_endpoint: "https://a:b@c.example/" }, "token_endpoint that is no address"],
])("metadata %s is refused, and nothing is sent to its endpoints", async (_, patch, message) => {
  const { token, asked } = await tokenOf({ metadata: (said) => Object.assign(said, patch) });
  expect(token).toMatchObject({ status: "failed", code: "oauth_issuer_invalid" });
  expect(token).toMatchObject({ message: expect.stringContaining(message) });
  expect(asked).toEqual([]);
});

test.each([
  "https://10.0.0.1/token",
  "http://169.254.169.254/token",
  "https://[fd00::1]/token",
  "http://example.com/token",
])("an endpoint at %s is not asked", async (address) => {
  const { token } = await tokenOf({ metadata: (said) => Object.assign(said, { token_endpoint: address }) });
  expect(token).toMatchObject({ status: "failed", code: "oauth_url_not_allowed", retryable: false });
});

const json = (body: unknown, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json" } });

test.each<[string, () => Response, string, boolean]>([
  ["a page", () => new Response("<html>", { headers: { "content-type": "text/html" } }), "issuer_invalid", false],
  ["a list", () => json([{ access_token: "x", token_type: "bearer" }]), "issuer_invalid", false],
  ["nothing", () => new Response(""), "issuer_invalid", false],
  [
    "too much",
    () => json({ access_token: "x", token_type: "bearer", more: "x".repeat(400_000) }),
    "issuer_invalid",
    false,
  ],
  [
    "a redirect",
    () => new Response(null, { status: 302, headers: { location: "https://other.example/" } }),
    "issuer_invalid",
    false,
  ],
  ["a token that is a number", () => json({ access_token: 1, token_type: "bearer" }), "issuer_invalid", false],
  ["a token with a line break", () => json({ access_token: "a\nx: y", token_type: "bearer" }), "issuer_invalid", false],
  ["a token for a proof", () => json({ access_token: "x", token_type: "DPoP" }), "issuer_invalid", false],
  [
    "a negative lifetime",
    () => json({ access_token: "x", token_type: "bearer", expires_in: -5 }),
    "issuer_invalid",
    false,
  ],
  ["an error with status 200", () => json({ error: "invalid_scope" }), "client_refused", false],
  ["a refusal of the client", () => json({ error: "invalid_client" }, 401), "client_refused", false],
  ["an error that is an object", () => json({ error: { message: "no" } }, 400), "issuer_invalid", false],
  ["a busy server's error", () => json({ error: "slow_down" }, 400), "issuer_unreachable", true],
  ["a limit", () => json({}, 429), "issuer_unreachable", true],
  ["a failure", () => new Response("", { status: 500 }), "issuer_unreachable", true],
])("a token endpoint that answers with %s gives no token", async (_, answer, code, retryable) => {
  const { token } = await tokenOf({ token: answer });
  expect(token).toMatchObject({ status: "failed", code: `oauth_${code}`, retryable });
});

test("an error of the server is quoted without control characters, and its secrets are not", async () => {
  const { token } = await tokenOf({
    token: () => json({ error: "invalid_scope", error_description: `bad\u001b[31m\nscope ${"x".repeat(500)}` }, 400),
  });
  const { message } = token as { message: string };
  expect(message).toContain("invalid_scope: bad [31m scope");
  expect(message.length).toBeLessThan(400);
  expect(JSON.stringify(token)).not.toContain("secret");
});

test("a connection that ends, or an address where nobody listens, is tried again later", async () => {
  const gone = await startOAuthServer();
  await gone[Symbol.asyncDispose]();
  const { token } = await tokenOf({}, () => ({ issuer: null, token_endpoint: `${gone.url}/token` }));
  expect(token).toMatchObject({ status: "failed", code: "oauth_issuer_unreachable", retryable: true });
});

test.each<[object, string]>([
  [{ issuer: null }, "issuer"],
  [{ token_endpoint: "https://a.example/" }, "token_endpoint"],
  [{ issuer: "https://a.example/?x=1" }, "issuer"],
  [{ client_secret: null }, "client_secret"],
  [{ per_user: true }, "per_user"],
  [{ token_endpoint_auth_method: "none" }, "token_endpoint_auth_method"],
  [{ token_endpoint_auth_method: "private_key_jwt" }, "token_endpoint_auth_method"],
  [{ resource: "no address" }, "resource"],
  [{ scopes: ["a b"] }, "scopes[0]"],
  [{ authorization_params: { redirect_uri: "https://evil.example/" } }, "authorization_params.redirect_uri"],
  [{ client_id: "" }, "client_id"],
  [{ name: " " }, "name"],
])("a client with %j is refused at %s", async (change, param) => {
  await using server = testApp();
  const client = await server.client();
  const { status, body } = await client.post("/v1/oauth_clients", { ...own, issuer: "https://a.example", ...change });
  expect([status, body.error.code, body.error.errors.map((each: { param: string }) => each.param)]).toEqual([
    400,
    "validation_failed",
    expect.arrayContaining([param]),
  ]);
});

test.each(["https://10.0.0.1/", "http://169.254.169.254/", "http://a.example/"])(
  "a client cannot name %s",
  async (issuer) => {
    await using server = testApp();
    const client = await server.client({ environment: "live" });
    const { status, body } = await client.post("/v1/oauth_clients", { ...own, issuer });
    expect([status, body.error.code, body.error.param]).toEqual([403, "url_not_allowed", "issuer"]);
  },
);

test("tokens are read as servers write them", () => {
  const basic = { access_token: "x" };
  const read = (more: object) => readTokens({ ...basic, ...more });
  expect(read({})).toEqual({ access_token: "x", refresh_token: null, expires_in_seconds: null, scopes: null });
  expect(read({ token_type: "bearer", expires_in: "3600" }).expires_in_seconds).toBe(3600);
  expect(read({ expires_in: 1e300 }).expires_in_seconds).toBe(366 * 24 * 3600);
  expect(read({ expires_in: 59.9 }).expires_in_seconds).toBe(59);
  expect(read({ expires_in: 0 }).expires_in_seconds).toBeNull();
  expect(read({ scope: "b a b" }).scopes).toEqual(["b", "a"]);
  expect(read({ scope: "repo,user" }).scopes).toEqual(["repo", "user"]);
  expect(read({ scope: ["a", 1, "b"] }).scopes).toEqual(["a", "b"]);
  expect(read({ refresh_token: "" }).refresh_token).toBeNull();
  for (const wrong of [{ expires_in: "soon" }, { expires_in: Number.NaN }, { expires_in: {} }, { refresh_token: 7 }])
    expect(() => read(wrong)).toThrow("token response");
});

test("metadata is looked for where the standards have it", () => {
  expect(metadataAddresses("https://a.example")).toEqual([
    "https://a.example/.well-known/oauth-authorization-server",
    "https://a.example/.well-known/openid-configuration",
  ]);
  expect(metadataAddresses("https://a.example/realms/x/")).toEqual([
    "https://a.example/.well-known/oauth-authorization-server/realms/x",
    "https://a.example/.well-known/openid-configuration/realms/x",
    "https://a.example/realms/x/.well-known/openid-configuration",
  ]);
  expect(resourceAddresses("https://a.example/mcp", "https://b.example/x")).toEqual([
    "https://b.example/x",
    "https://a.example/.well-known/oauth-protected-resource/mcp",
    "https://a.example/.well-known/oauth-protected-resource",
  ]);
});

test("metadata of a resource is for that resource and its paths only", () => {
  const within = (resource: string) => isWithin("https://a.example/mcp/x", resource);
  for (const resource of [
    "https://a.example",
    "https://a.example/",
    "https://a.example/mcp",
    "https://a.example/mcp/x",
  ])
    expect([resource, within(resource)]).toEqual([resource, true]);
  for (const resource of [
    "https://b.example/mcp/x",
    "https://a.example/m",
    "https://a.example/mcp/xy",
    "http://a.example/",
    "mcp",
  ])
    expect([resource, within(resource)]).toEqual([resource, false]);
});

test("a challenge is read with its quotes, and another scheme is none", () => {
  expect(
    readChallenge('Bearer realm="a, b", error="invalid_token", resource_metadata="https://a.example/x", scope="r w"'),
  ).toEqual({
    error: "invalid_token",
    resource_metadata: "https://a.example/x",
    scopes: ["r", "w"],
  });
  expect(readChallenge('Basic realm="x", Bearer scope=read').scopes).toEqual(["read"]);
  const none = { error: null, resource_metadata: null, scopes: null };
  for (const header of [null, "", "Bearer", 'Basic scope="x"', `NotBearer scope="x"`])
    expect(readChallenge(header)).toEqual(none);
});

test("a client authenticates by the header unless the server takes only the form", () => {
  expect(defaultMethod(null, null)).toBe("none");
  expect(defaultMethod("s", null)).toBe("client_secret_basic");
  expect(defaultMethod("s", ["client_secret_post"])).toBe("client_secret_post");
  expect(defaultMethod("s", ["client_secret_post", "client_secret_basic"])).toBe("client_secret_basic");
});
