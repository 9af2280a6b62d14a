import { expect, test } from "bun:test";
import { browserAt } from "../../testing/consent-browser.ts";
import { type OAuthServer, oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

const own = { grant: "client_credentials", client_id: oauthClientId, client_secret: oauthClientSecret };
const forUsers = { ...own, grant: "authorization_code" };

/** Creates an OAuth client of this server and returns its id. */
async function createClient(client: Client, issuer: OAuthServer, change: object = {}): Promise<string> {
  const { status, body } = await client.post("/v1/oauth_clients", {
    name: "c",
    issuer: issuer.url,
    ...forUsers,
    ...change,
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.id;
}

/** Returns the address at which a user consents. */
async function addressFor(server: TestApp, client: Client, id: string, body: object = {}): Promise<string> {
  const answer = await client.post(`/v1/oauth_clients/${id}/authorize`, body);
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  return browserAt(server).open(answer.body.url);
}

const visit = (server: TestApp, path: string) => browserAt(server).visit(path);

/** Has a user consent, and returns the page that they see. */
async function consent(server: TestApp, client: Client, issuer: OAuthServer, id: string, user_id?: string) {
  const address = await addressFor(server, client, id, user_id === undefined ? {} : { user_id });
  return visit(server, issuer.consent(address, user_id ?? "project"));
}

const tokenOf = (server: TestApp, { scope }: Client, id: string, userId: string | null = null, rejected?: string) =>
  server.oauth.get(scope, id, userId, rejected);

async function readyToken(...of: Parameters<typeof tokenOf>): Promise<string> {
  const found = await tokenOf(...of);
  if (found.status !== "ready") throw new Error(`There is no token: ${JSON.stringify(found)}`);
  return found.token;
}

/** A server with a clock that the test moves, and an issuer with the same one. */
async function setUp() {
  let at = Date.now();
  const stack = new AsyncDisposableStack();
  const server = stack.use(testApp({ now: () => at }));
  const issuer = stack.use(await startOAuthServer());
  issuer.now = () => at;
  const client = await server.client();
  const pass = (seconds: number) => {
    at += seconds * 1000;
  };
  return { server, issuer, client, pass, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("a client that acts for itself gets a token, keeps it, and gets another before it expires", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer, { ...own, scopes: ["read", "write"] });
  const first = await readyToken(server, client, id);
  expect(await readyToken(server, client, id)).toBe(first);
  expect(issuer.asked).toEqual([{ grant_type: "client_credentials", scope: "read write" }]);
  pass(3600 - 59);
  expect(await readyToken(server, client, id)).not.toBe(first);
  const { body } = await client.get(`/v1/oauth_grants?oauth_client_id=${id}`);
  expect(body.data).toMatchObject([{ user_id: null, status: "active", scopes: ["read", "write"], error: null }]);
});

test("a user consents once, and tokens are refreshed with the newest refresh token", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer, { per_user: true, scopes: ["read"], resource: "https://api.example/" });
  expect(await tokenOf(server, client, id, "ada")).toMatchObject({ status: "authorization_required", userId: "ada" });
  const page = await consent(server, client, issuer, id, "ada");
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("c is connected")]);
  const tokens = [await readyToken(server, client, id, "ada")];
  for (let round = 0; round < 3; round++) {
    pass(3600);
    tokens.push(await readyToken(server, client, id, "ada"));
  }
  expect(new Set(tokens).size).toBe(4);
  expect(issuer.requests("refresh_token")).toBe(3);
  expect(issuer.asked.every(({ resource }) => resource === "https://api.example/")).toBe(true);
});

test("calls of many runs at once refresh a token once", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer, { per_user: true });
  await consent(server, client, issuer, id, "ada");
  pass(3600);
  const tokens = await Promise.all(Array.from({ length: 50 }, () => readyToken(server, client, id, "ada")));
  expect(new Set(tokens).size).toBe(1);
  expect(issuer.requests("refresh_token")).toBe(1);
});

test("a user's token is never that of another user, or of another project", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const id = await createClient(client, issuer, { per_user: true });
  await consent(server, client, issuer, id, "ada");
  const token = await readyToken(server, client, id, "ada");
  expect(await tokenOf(server, client, id, "bob")).toMatchObject({ status: "authorization_required", userId: "bob" });
  expect(await tokenOf(server, client, id)).toMatchObject({ status: "failed", code: "user_id_required" });
  const stranger = await server.client({ project: "other" });
  expect(await tokenOf(server, stranger, id, "ada")).toMatchObject({ code: "oauth_client_not_found" });
  const live = await server.client({ environment: "live" });
  expect(await tokenOf(server, live, id, "ada")).toMatchObject({ code: "oauth_client_not_found" });
  await consent(server, client, issuer, id, "bob");
  expect(await readyToken(server, client, id, "bob")).not.toBe(token);
  expect(await readyToken(server, client, id, "ada")).toBe(token);
});

test("an issuer that refreshes without a new refresh token or a lifetime keeps those that it gave before", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  issuer.rotates = false;
  const id = await createClient(client, issuer);
  await consent(server, client, issuer, id);
  issuer.faults.body = (body) => void delete body.expires_in;
  for (let round = 1; round <= 3; round++) {
    pass(3600);
    await readyToken(server, client, id);
    expect(issuer.requests("refresh_token")).toBe(round);
  }
});

test("a refused refresh token fails the grant, and its user has to consent again", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer, { per_user: true });
  await consent(server, client, issuer, id, "ada");
  issuer.takeBack("ada");
  pass(3600);
  expect(await tokenOf(server, client, id, "ada")).toMatchObject({ status: "authorization_required" });
  const { body } = await client.get(`/v1/oauth_grants?user_id=ada`);
  expect(body.data).toMatchObject([{ status: "failed", expires_at: null, error: { code: "grant_refused" } }]);
  expect(await tokenOf(server, client, id, "ada")).toMatchObject({ status: "authorization_required" });
  expect(issuer.requests("refresh_token")).toBe(1);
  await consent(server, client, issuer, id, "ada");
  await readyToken(server, client, id, "ada");
});

test("an issuer that is away fails nothing: the token is used while it lasts, and refreshed later", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer);
  await consent(server, client, issuer, id);
  const token = await readyToken(server, client, id);
  issuer.faults.token = () => new Response("<h1>Bad gateway</h1>", { status: 502 });
  pass(3600 - 30);
  expect(await readyToken(server, client, id)).toBe(token);
  pass(60);
  expect(await tokenOf(server, client, id)).toMatchObject({ status: "failed", retryable: true });
  issuer.faults.token = undefined;
  pass(4);
  expect(await readyToken(server, client, id)).not.toBe(token);
});

test("a token that a server refused is refreshed although it has time left, and not again at once", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer);
  await consent(server, client, issuer, id);
  const first = await readyToken(server, client, id);
  pass(6);
  const second = await readyToken(server, client, id, null, first);
  expect(second).not.toBe(first);
  // A call that was sent with the former token gets the new one.
  expect(await readyToken(server, client, id, null, first)).toBe(second);
  expect(await tokenOf(server, client, id, null, second)).toMatchObject({ code: "oauth_token_rejected" });
  expect(issuer.requests("refresh_token")).toBe(1);
});

test("a token that nothing can refresh is used to its end, and then its user has to consent again", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  issuer.faults.body = (body) => void delete body.refresh_token;
  const id = await createClient(client, issuer);
  await consent(server, client, issuer, id);
  pass(3600 - 1);
  await readyToken(server, client, id);
  pass(1);
  expect(await tokenOf(server, client, id)).toMatchObject({ status: "authorization_required" });
  const { body } = await client.get("/v1/oauth_grants");
  expect(body.data).toMatchObject([{ status: "expired" }]);
});

test("scopes that a server missed are requested with the next consent", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const id = await createClient(client, issuer, { scopes: ["read"] });
  await consent(server, client, issuer, id);
  const token = await readyToken(server, client, id);
  expect(await server.oauth.get(client.scope, id, null, token, ["write"])).toMatchObject({
    status: "authorization_required",
  });
  const address = await addressFor(server, client, id);
  expect(new URL(address).searchParams.get("scope")).toBe("read write");
  await visit(server, issuer.consent(address, "project"));
  // A server that still misses them does not send the user in circles.
  const second = await readyToken(server, client, id);
  expect(await server.oauth.get(client.scope, id, null, second, ["write"])).toMatchObject({
    status: "failed",
    code: "oauth_insufficient_scope",
  });
});

// --- The way of the user
// ------------------------------------------------------------------------------------------------

test("the address has all that the standards ask for, and no other parameter replaces one of them", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const more = { audience: "https://api.example", authorization_params: { prompt: "consent", access_type: "offline" } };
  const id = await createClient(client, issuer, { scopes: ["a", "b"], ...more });
  const { searchParams } = new URL(await addressFor(server, client, id));
  expect(Object.fromEntries(searchParams)).toEqual({
    response_type: "code",
    client_id: oauthClientId,
    redirect_uri: "https://localhost/oauth/callback",
    scope: "a b",
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: "S256",
    audience: "https://api.example",
    prompt: "consent",
    access_type: "offline",
  });
  const state = { authorization_params: { state: "mine" } };
  const refused = await client.patch(`/v1/oauth_clients/${id}`, state);
  expect([refused.status, refused.body.error.param]).toEqual([400, "authorization_params.state"]);
});

test("a way back works once, also if it comes twice at the same time", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const id = await createClient(client, issuer);
  const back = issuer.consent(await addressFor(server, client, id), "project");
  // A program that looks at links before the user does.
  await server.app.handle(new Request(`http://localhost${back}`, { method: "HEAD" }));
  const pages = await Promise.all([visit(server, back), visit(server, back)]);
  expect(pages.map(({ status }) => status).sort()).toEqual([200, 400]);
  const token = await readyToken(server, client, id);
  expect((await visit(server, back)).status).toBe(400);
  expect(issuer.requests("authorization_code")).toBe(1);
  expect(await readyToken(server, client, id)).toBe(token);
});

test("a state that is old, made up or missing leads nowhere", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer);
  const back = issuer.consent(await addressFor(server, client, id), "project");
  pass(601);
  const paths = [
    back,
    "/oauth/callback",
    "/oauth/callback?state=&code=x",
    `/oauth/callback?code=x&state=${"s".repeat(5000)}`,
  ];
  for (const path of paths) {
    const page = await visit(server, path);
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining("does not work any more")]);
  }
  expect(issuer.asked).toEqual([]);
});

test("an answer of another issuer is refused, and so is a refusal of the user", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const id = await createClient(client, issuer);
  const mixed = issuer
    .consent(await addressFor(server, client, id), "project")
    .replace(/iss=[^&]*/, "iss=https%3A%2F%2Fother.example");
  const missing = issuer.consent(await addressFor(server, client, id), "project").replace(/&iss=[^&]*/, "");
  for (const path of [mixed, missing]) expect((await visit(server, path)).status).toBe(400);
  const { searchParams } = new URL(await addressFor(server, client, id));
  const denied = `/oauth/callback?error=access_denied&iss=${encodeURIComponent(issuer.url)}&state=${searchParams.get("state")}`;
  const page = await visit(server, denied);
  expect([page.status, await page.text()]).toEqual([400, expect.stringContaining("You did not allow it")]);
  expect(issuer.asked).toEqual([]);
  expect(await tokenOf(server, client, id)).toMatchObject({ status: "authorization_required" });
});

test("the page has no scripts, is framed by none, and shows names as text", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const id = await createClient(client, issuer, { name: '<img src=x onerror="alert(1)">' });
  const page = await consent(server, client, issuer, id);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(await page.text()).not.toContain("<img");
});

test("the user goes on to an address whose origin the project lists, and to no other", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  await server.projects.update(client.scope.project_id, { origins: ["https://app.example"] });
  const id = await createClient(client, issuer);
  for (const return_url of [
    "https://evil.example/",
    "javascript:alert(1)",
    "https://app.example.evil.example/",
    "//evil",
  ]) {
    const { status, body } = await client.post(`/v1/oauth_clients/${id}/authorize`, { return_url });
    expect([status, body.error?.code, body.error?.param]).toEqual([403, "origin_not_allowed", "return_url"]);
  }
  const address = await addressFor(server, client, id, { return_url: "https://localhost/dashboard/tools?a=1" });
  const page = await visit(server, issuer.consent(address, "project"));
  expect([page.status, page.headers.get("location")]).toEqual([
    303,
    "https://localhost/dashboard/tools?a=1&oauth=granted",
  ]);
  const first = issuer.consent(await addressFor(server, client, id, { return_url: "https://app.example/" }), "project");
  expect((await visit(server, first)).headers.get("location")).toBe("https://app.example/?oauth=granted");
  // An origin that was taken off the list meanwhile gets no user.
  const second = issuer.consent(
    await addressFor(server, client, id, { return_url: "https://app.example/" }),
    "project",
  );
  await server.projects.update(client.scope.project_id, { origins: [] });
  expect((await visit(server, second)).status).toBe(200);
});

test("a consent of a user replaces an earlier one, whose tokens are forgotten", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const id = await createClient(client, issuer, { per_user: true });
  await consent(server, client, issuer, id, "ada");
  const first = await readyToken(server, client, id, "ada");
  await consent(server, client, issuer, id, "ada");
  await server.oauthRevocations.idle();
  // An issuer may take both for one authorization, which a revocation would end.
  expect(issuer.revoked).toEqual([]);
  expect((await client.get("/v1/oauth_grants")).body.data).toHaveLength(1);
  expect(await readyToken(server, client, id, "ada")).not.toBe(first);
});

// --- The end of tokens
// --------------------------------------------------------------------------------------------------

test("deleting a grant, a client or a user revokes the tokens at the issuer", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const id = await createClient(client, issuer, { per_user: true });
  for (const user of ["ada", "bob", "eve"]) await consent(server, client, issuer, id, user);
  const tokens = await Promise.all(["ada", "bob", "eve"].map((user) => readyToken(server, client, id, user)));
  const { body } = await client.get("/v1/oauth_grants?user_id=ada");
  expect((await client.delete(`/v1/oauth_grants/${body.data[0].id}`)).status).toBe(200);
  await server.oauthRevocations.idle();
  expect(tokens.map((token) => issuer.revoked.includes(token))).toEqual([true, false, false]);
  const erasure = await client.delete("/v1/users/bob/data");
  expect(erasure.status).toBeLessThan(300);
  for (let done = false; !done; await Bun.sleep(1))
    done = (await client.get(`/v1/erasures/${erasure.body.id}`)).body.status === "completed";
  await server.oauthRevocations.idle();
  expect(tokens.map((token) => issuer.revoked.includes(token))).toEqual([true, true, false]);
  expect((await client.delete(`/v1/oauth_clients/${id}`)).status).toBe(200);
  await server.oauthRevocations.idle();
  expect(tokens.map((token) => issuer.revoked.includes(token))).toEqual([true, true, true]);
  expect(issuer.revoked.filter((token) => token.startsWith("rt-"))).toHaveLength(3);
});

test("deleting a project revokes its tokens before it is erased", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const id = await createClient(client, issuer);
  await consent(server, client, issuer, id);
  const token = await readyToken(server, client, id);
  await server.projects.remove(client.scope.project_id, testActor);
  await server.windDown();
  expect(issuer.revoked).toContain(token);
  for (const table of ["oauth_clients", "oauth_grants", "oauth_revocations", "oauth_authorizations"])
    expect(server.db.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 });
});

test("a revocation that the issuer cannot take now is repeated later", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer);
  await consent(server, client, issuer, id);
  const token = await readyToken(server, client, id);
  issuer.faults.revoke = () => new Response(null, { status: 503 });
  await client.delete(`/v1/oauth_clients/${id}`);
  await server.oauthRevocations.idle();
  expect(issuer.revoked).toEqual([]);
  issuer.faults.revoke = undefined;
  pass(11);
  await server.oauthRevocations.idle();
  expect(issuer.revoked).toContain(token);
});

test("a client of another server gets no token and no secret of the former one", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  await using other = await startOAuthServer();
  const id = await createClient(client, issuer);
  await consent(server, client, issuer, id);
  const token = await readyToken(server, client, id);
  const refused = await client.patch(`/v1/oauth_clients/${id}`, { issuer: other.url });
  expect([refused.status, refused.body.error.param]).toEqual([400, "client_secret"]);
  const moved = await client.patch(`/v1/oauth_clients/${id}`, { issuer: other.url, client_secret: oauthClientSecret });
  expect(moved.status).toBe(200);
  await server.oauthRevocations.idle();
  expect(issuer.revoked).toContain(token);
  expect(await tokenOf(server, client, id)).toMatchObject({ status: "authorization_required" });
  expect(other.asked).toEqual([]);
});

test("tokens that arrive after the grant was deleted are revoked and used by nobody", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer);
  await consent(server, client, issuer, id);
  pass(3600);
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  issuer.before = async () => {
    asked.resolve();
    await answer.promise;
  };
  const refreshing = tokenOf(server, client, id);
  await asked.promise;
  const { body } = await client.get("/v1/oauth_grants");
  await client.delete(`/v1/oauth_grants/${body.data[0].id}`);
  answer.resolve();
  expect(await refreshing).toMatchObject({ status: "authorization_required" });
  await server.oauthRevocations.idle();
  for (const token of issuer.issued().filter((one) => one.startsWith("at-"))) expect(issuer.revoked).toContain(token);
});

// --- Secrets
// ------------------------------------------------------------------------------------------------------------

test("neither tokens nor secrets are in an answer, in the audit log, or readable in the database", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const id = await createClient(client, issuer, { per_user: true });
  const address = await addressFor(server, client, id, { user_id: "ada" });
  const page = await visit(server, issuer.consent(address, "ada"));
  pass(3600);
  await readyToken(server, client, id, "ada");
  const answers = [
    await page.text(),
    ...(await Promise.all(
      ["/v1/oauth_clients", `/v1/oauth_clients/${id}`, "/v1/oauth_grants", "/v1/audit_log"].map((path) =>
        client.get(path),
      ),
    ).then((all) => all.map(({ body }) => JSON.stringify(body)))),
  ].join("\n");
  const rows = ["oauth_clients", "oauth_grants", "oauth_authorizations", "oauth_revocations", "audit_log"]
    .flatMap((table) => server.db.sqlite.query(`SELECT * FROM ${table}`).all())
    .map((row) => JSON.stringify(row))
    .join("\n");
  const secrets = [...issuer.issued(), oauthClientSecret, new URL(address).searchParams.get("state") ?? ""];
  expect(secrets.length).toBeGreaterThan(4);
  for (const secret of secrets)
    expect([secret, answers.includes(secret), rows.includes(secret)]).toEqual([secret, false, false]);
});
