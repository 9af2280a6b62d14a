import { expect, test } from "bun:test";
import { browserAt } from "../../testing/consent-browser.ts";
import { type OAuthServer, oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

const secret = { client_id: oauthClientId, client_secret: oauthClientSecret };

const visit = (server: TestApp, path: string) => browserAt(server).visit(path);

async function addressFor(server: TestApp, client: Client, id: string, user_id: string): Promise<string> {
  const { status, body } = await client.post(`/v1/oauth_clients/${id}/authorize`, { user_id });
  expect([status, body.error]).toEqual([200, undefined]);
  return browserAt(server).open(body.url);
}

const consent = async (server: TestApp, client: Client, issuer: OAuthServer, id: string) =>
  (await visit(server, issuer.consent(await addressFor(server, client, id, "ada"), "ada"))).status;

/** A server with a clock that the test moves, an issuer with the same one, and a client of Ada's. */
async function setUp() {
  let at = Date.now();
  const stack = new AsyncDisposableStack();
  const server = stack.use(testApp({ now: () => at }));
  const issuer = stack.use(await startOAuthServer());
  issuer.now = () => at;
  const client = await server.client();
  const own = { name: "c", issuer: issuer.url, grant: "authorization_code", per_user: true, ...secret };
  const { body } = await client.post("/v1/oauth_clients", own);
  const pass = (seconds: number) => {
    at += seconds * 1000;
  };
  const token = () => server.oauth.get(client.scope, body.id, "ada");
  const grants = async () => (await client.get("/v1/oauth_grants")).body.data;
  return {
    server,
    issuer,
    client,
    id: body.id as string,
    pass,
    token,
    grants,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test("a deleted grant's token is used no more, also while its issuer could not refresh it", async () => {
  await using at = await setUp();
  const { server, issuer, client, id, pass, token, grants } = at;
  expect(await consent(server, client, issuer, id)).toBe(200);
  issuer.faults.token = () => new Response("Bad gateway", { status: 502 });
  pass(3600 - 30);
  expect(await token()).toMatchObject({ status: "ready" });
  await client.delete(`/v1/oauth_grants/${(await grants())[0].id}`);
  expect(await token()).toMatchObject({ status: "authorization_required" });
});

test("a grant that is deleted while its issuer fails to refresh it gives no token", async () => {
  await using at = await setUp();
  const { server, issuer, client, id, pass, token, grants } = at;
  expect(await consent(server, client, issuer, id)).toBe(200);
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  issuer.before = async () => {
    asked.resolve();
    await answer.promise;
  };
  issuer.faults.token = () => new Response("Bad gateway", { status: 502 });
  pass(3600 - 30);
  const refreshing = token();
  await asked.promise;
  await client.delete(`/v1/oauth_grants/${(await grants())[0].id}`);
  answer.resolve();
  expect(await refreshing).toMatchObject({ status: "authorization_required" });
});

test("a corrected client is asked for a token at once, not after the pause of its former failure", async () => {
  await using at = await setUp();
  const { server, issuer, client, id, pass, token } = at;
  expect(await consent(server, client, issuer, id)).toBe(200);
  pass(3600);
  expect((await client.patch(`/v1/oauth_clients/${id}`, { client_secret: "a typo" })).status).toBe(200);
  expect(await token()).toMatchObject({ status: "failed", code: "oauth_client_refused" });
  pass(1);
  expect((await client.patch(`/v1/oauth_clients/${id}`, secret)).status).toBe(200);
  expect(await token()).toMatchObject({ status: "ready" });
});

test.each([
  ["of another server", (other: string) => ({ token_endpoint: `${other}/token`, client_secret: "another secret" })],
  ["for another resource", () => ({ resource: "https://api.example.com/" })],
])("a user who comes back to a client that is %s by now brings its server no code", async (_, change) => {
  await using at = await setUp();
  await using other = await startOAuthServer();
  const { server, issuer, client, grants } = at;
  const endpoints = { authorization_endpoint: `${issuer.url}/authorize`, token_endpoint: `${issuer.url}/token` };
  const own = { name: "d", grant: "authorization_code", per_user: true, ...secret, ...endpoints };
  const { id } = (await client.post("/v1/oauth_clients", own)).body;
  const address = await addressFor(server, client, id, "ada");
  expect((await client.patch(`/v1/oauth_clients/${id}`, change(other.url))).status).toBe(200);
  expect((await visit(server, issuer.consent(address, "ada"))).status).toBe(400);
  expect([issuer.asked, other.asked, await grants()]).toEqual([[], [], []]);
});

test("a refresh that ends after a newer consent is forgotten, and its revocation ends nothing", async () => {
  await using at = await setUp();
  const { server, issuer, client, id, pass, token, grants } = at;
  expect(await consent(server, client, issuer, id)).toBe(200);
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  issuer.before = async () => {
    if (issuer.asked.at(-1)?.grant_type !== "refresh_token") return;
    asked.resolve();
    await answer.promise;
  };
  pass(3600);
  const refreshing = token();
  await asked.promise;
  expect(await consent(server, client, issuer, id)).toBe(200);
  answer.resolve();
  const [grant] = await grants();
  expect(await refreshing).toMatchObject({ status: "ready", expiresAt: Date.parse(grant.expires_at) });
  await server.oauthRevocations.idle();
  expect(issuer.revoked).toEqual([]);
});
