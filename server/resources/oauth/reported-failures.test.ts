import { expect, test } from "bun:test";
import { browserAt } from "../../testing/consent-browser.ts";
import { oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { testApp } from "../../testing/test-app.ts";

// Failures of OAuth with tools that users of other products have reported.

async function setUp() {
  let at = Date.now();
  const stack = new AsyncDisposableStack();
  const server = stack.use(testApp({ now: () => at }));
  const issuer = stack.use(await startOAuthServer());
  issuer.now = () => at;
  const client = await server.client();
  const create = async (more: object = {}): Promise<string> => {
    const { status, body } = await client.post("/v1/oauth_clients", {
      name: "Mail",
      grant: "authorization_code",
      per_user: true,
      issuer: issuer.url,
      client_id: oauthClientId,
      client_secret: oauthClientSecret,
      scopes: ["read", "write"],
      ...more,
    });
    expect([status, body.error]).toEqual([201, undefined]);
    return body.id;
  };
  /** Sends Ada to the issuer, and returns where she is. */
  const open = async (id: string): Promise<string> =>
    browserAt(server).open((await client.post(`/v1/oauth_clients/${id}/authorize`, { user_id: "ada" })).body.url);
  const visit = (path: string) => browserAt(server).visit(path);
  return {
    server,
    issuer,
    client,
    create,
    open,
    visit,
    consent: async (id: string) => expect((await visit(issuer.consent(await open(id), "ada"))).status).toBe(200),
    token: (id: string, rejected?: string) => server.oauth.get(client.scope, id, "ada", rejected),
    grants: async () => (await client.get("/v1/oauth_grants")).body.data,
    pass: (seconds: number) => {
      at += seconds * 1000;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test("a refresh that names no scopes keeps those of the consent", async () => {
  await using at = await setUp();
  const id = await at.create();
  await at.consent(id);
  at.issuer.faults.body = (body) => void delete body.scope;
  at.pass(3600);
  expect(await at.token(id)).toMatchObject({ status: "ready" });
  expect(await at.grants()).toMatchObject([{ scopes: ["read", "write"] }]);
});

test("a refresh requests the scopes of its consent, and not those that the client got later", async () => {
  await using at = await setUp();
  const id = await at.create();
  await at.consent(id);
  expect((await at.client.patch(`/v1/oauth_clients/${id}`, { scopes: ["read", "admin"] })).status).toBe(200);
  at.pass(3600);
  expect(await at.token(id)).toMatchObject({ status: "ready" });
  expect(at.issuer.asked.at(-1)).toMatchObject({ grant_type: "refresh_token" });
  expect(at.issuer.asked.at(-1)).not.toHaveProperty("scope");
});

test.each([
  ["in the client and not in its metadata", (url: string) => `${url}/`, (url: string) => url],
  ["in its metadata and not in the client", (url: string) => url, (url: string) => `${url}/`],
])("an issuer with a slash %s is the same one", async (_, given, said) => {
  await using at = await setUp();
  const { url } = at.issuer;
  at.issuer.faults.metadata = (metadata) => {
    metadata.issuer = said(url);
  };
  const id = await at.create({ issuer: given(url) });
  const back = at.issuer.consent(await at.open(id), "ada");
  const iss = encodeURIComponent(said(url));
  expect((await at.visit(back.replace(/iss=[^&]*/, `iss=${iss}`))).status).toBe(200);
});

test("a token whose lifetime the issuer never said is refreshed once a server refuses it", async () => {
  await using at = await setUp();
  at.issuer.lifetime_seconds = null;
  const id = await at.create();
  await at.consent(id);
  at.pass(30 * 24 * 3600);
  const found = await at.token(id);
  if (found.status !== "ready") throw new Error(JSON.stringify(found));
  expect(found.expiresAt).toBeNull();
  expect(await at.token(id, found.token)).toMatchObject({
    status: "ready",
    token: expect.not.stringContaining(found.token),
  });
  expect(at.issuer.requests("refresh_token")).toBe(1);
});

test("a clock that was set back keeps no refused token from being refreshed", async () => {
  await using at = await setUp();
  const id = await at.create();
  await at.consent(id);
  const found = await at.token(id);
  if (found.status !== "ready") throw new Error(JSON.stringify(found));
  at.pass(-7200);
  const next = await at.token(id, found.token);
  expect(next).toMatchObject({ status: "ready", token: expect.not.stringContaining(found.token) });
});

test.each([
  ["429", () => new Response("slow down", { status: 429 })],
  ["503 of a proxy", () => new Response("<html>", { status: 503, headers: { "content-type": "text/html" } })],
  ["temporarily_unavailable", () => Response.json({ error: "temporarily_unavailable" }, { status: 400 })],
  ["server_error", () => Response.json({ error: "server_error" }, { status: 500 })],
  ["an own code of a server in trouble", () => Response.json({ error: "internal" }, { status: 502 })],
])("a refresh that an issuer answers with %s ends no grant", async (_, answer) => {
  await using at = await setUp();
  const id = await at.create();
  await at.consent(id);
  at.issuer.faults.token = answer;
  at.pass(3600);
  expect(await at.token(id)).toMatchObject({ status: "failed", retryable: true });
  at.issuer.faults.token = undefined;
  at.pass(4);
  expect(await at.token(id)).toMatchObject({ status: "ready" });
  expect(await at.grants()).toMatchObject([{ status: "active" }]);
});

test("behind a proxy the redirect address is that of --public-url, in both requests, and its cookie is secure", async () => {
  await using at = await setUp();
  const id = await at.create();
  const headers = { host: "10.0.0.7:8080", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" };
  const asked = await at.server.send(
    "POST",
    `/v1/oauth_clients/${id}/authorize`,
    { user_id: "ada" },
    {
      ...headers,
      authorization: `Bearer ${at.client.key.secret}`,
    },
  );
  expect(asked.body.url).toStartWith("https://localhost/oauth/consent/");
  const path = new URL(asked.body.url).pathname;
  const page = await at.server.send("GET", path, undefined, headers);
  expect(page.headers.get("set-cookie")).toContain("; Secure");
  const cookie = page.headers.get("set-cookie")!.split(";")[0]!;
  const sent = await at.server.send("POST", path, undefined, { ...headers, cookie });
  const location = sent.headers.get("location")!;
  expect(new URL(location).searchParams.get("redirect_uri")).toBe("https://localhost/oauth/callback");
  const back = await at.server.send("GET", at.issuer.consent(location, "ada"), undefined, { ...headers, cookie });
  expect(back.status).toBe(200);
  expect(at.issuer.asked.at(-1)).toMatchObject({ redirect_uri: "https://localhost/oauth/callback" });
});

test("a way back may have parameters that no standard names, and a code of any characters", async () => {
  await using at = await setUp();
  const id = await at.create();
  const back = at.issuer.consent(await at.open(id), "ada");
  const more = "&authuser=0&prompt=consent&scope=read%20write&session_state=a.b";
  expect((await at.visit(back + more)).status).toBe(200);
  const codes: (string | null)[] = [];
  at.issuer.faults.token = (form) => {
    codes.push(form.get("code"));
    return Response.json({ error: "invalid_grant" }, { status: 400 });
  };
  const code = "4/0AX+b c=%2F&d";
  const second = at.issuer.consent(await at.open(id), "ada").replace(/code=[^&]*/, `code=${encodeURIComponent(code)}`);
  expect((await at.visit(second)).status).toBe(400);
  expect(codes).toEqual([code]);
});

test("a user who disconnects while the page of the issuer is open is connected again by it", async () => {
  await using at = await setUp();
  const id = await at.create();
  await at.consent(id);
  const back = at.issuer.consent(await at.open(id), "ada");
  const [{ id: grant }] = await at.grants();
  expect((await at.client.delete(`/v1/oauth_grants/${grant}`)).status).toBe(200);
  expect((await at.visit(back)).status).toBe(200);
  expect(await at.token(id)).toMatchObject({ status: "ready" });
});

test("a refused refresh is asked for once, however often runs ask, until the user consents again", async () => {
  await using at = await setUp();
  const id = await at.create();
  await at.consent(id);
  at.issuer.takeBack("ada");
  at.pass(3600);
  for (let round = 0; round < 5; round++) {
    expect(await at.token(id)).toMatchObject({ status: "authorization_required" });
    at.pass(60);
  }
  expect(at.issuer.requests("refresh_token")).toBe(1);
  await at.consent(id);
  expect(await at.token(id)).toMatchObject({ status: "ready" });
});

test("a server error that names the grant ends it, so that the user is asked", async () => {
  await using at = await setUp();
  const id = await at.create();
  await at.consent(id);
  at.issuer.faults.token = () => Response.json({ error: "invalid_grant" }, { status: 500 });
  at.pass(3600);
  expect(await at.token(id)).toMatchObject({ status: "authorization_required" });
  expect(await at.grants()).toMatchObject([{ status: "failed", error: { code: "grant_refused" } }]);
});
