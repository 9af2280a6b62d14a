import { expect, spyOn, test } from "bun:test";
import { createEgress } from "../../lib/egress.ts";
import { silentLog } from "../../lib/log.ts";
import { createSeal } from "../../lib/seal.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { browserAt, createConsentBrowser } from "../../testing/consent-browser.ts";
import { visitorOf } from "../../testing/console-visitor.ts";
import { oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { testApp } from "../../testing/test-app.ts";
import { startTokenGateway } from "../../testing/token-gateway.ts";
import { createConnections } from "./create-connections.ts";

const model = "openai_compatible/gw/m";

/** Starts an issuer, a gateway that takes its tokens, and a server with a connection whose operator consents. */
async function setUp({ isConnected = true, auth = {} }: { isConnected?: boolean; auth?: object } = {}) {
  const stack = new AsyncDisposableStack();
  const issuer = stack.use(await startOAuthServer());
  const gateway = stack.use(startTokenGateway(issuer));
  let at = Date.now();
  const now = () => at;
  issuer.now = now;
  const masterKey = crypto.getRandomValues(new Uint8Array(32));
  const server = stack.use(testApp({ dashboard: true, egress: ["127.0.0.1"], now, masterKey }));
  const owner = await visitorOf(server, "owner");
  const code = {
    type: "oauth",
    grant: "authorization_code",
    issuer: issuer.url,
    client_id: oauthClientId,
    client_secret: oauthClientSecret,
    ...auth,
  };
  const save = () => owner.send("POST", "/connections", { name: "gw", base_url: gateway.url, auth: code });
  expect((await save()).status).toBe(201);
  const client = await server.client();
  const { body: agent } = await client.post("/v1/agents", { name: "a", instructions: "", model });
  const run = async () => (await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "hi" })).body;
  const browser = browserAt(server);
  const link = async (): Promise<string> => (await owner.send("POST", "/connections/gw/authorize", {})).body.url;
  /** Presses the button of the link's page, and returns where it leads. */
  const begin = async (): Promise<string> => browser.open(await link());
  const comeBack = async (path: string) => {
    const page = await browser.visit(path);
    return { status: page.status, body: await page.text() };
  };
  const connect = async () => await comeBack(issuer.consent(await begin(), "ada"));
  const consent = async () => (await owner.send("GET", "/connections")).body.data[0].consent;
  const pass = (seconds: number) => {
    at += seconds * 1000;
  };
  /** Makes the issuer wait with its next answer. */
  const hold = () => {
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    issuer.before = async () => {
      issuer.before = async () => {};
      asked.resolve();
      await answered.promise;
    };
    return { asked: asked.promise, answer: answered.resolve };
  };
  /** Starts another issuer, makes the connection one of it, and lets its operator consent there. */
  const move = async () => {
    const other = stack.use(await startOAuthServer());
    other.now = now;
    const changed = await owner.send("PATCH", "/connections/gw", { auth: { ...code, issuer: other.url } });
    expect(changed.status).toBe(200);
    const connectThere = async () => await comeBack(other.consent(await begin(), "ada"));
    return { other, connectThere };
  };
  const refreshes = () => issuer.requests("refresh_token");
  const token = (rejected?: string) =>
    server.connections.tokenOf(String(server.connections.resolve(model, "live").connection.token_source), rejected);
  /** The connections as another process on the same database has them. */
  const elsewhere = (mayRefresh = true) =>
    createConnections({
      mayRefresh,
      db: server.db,
      audit: createAudit({ db: server.db }),
      seal: createSeal(masterKey),
      environment: {},
      egress: createEgress({ allow: ["127.0.0.1"], loopback: true }),
      log: silentLog,
      now,
    });
  if (isConnected) expect((await connect()).status).toBe(200);
  const tools = { link, begin, comeBack, connect, consent, pass, hold, move, refreshes, token, elsewhere, run };
  return { stack, issuer, gateway, server, owner, client, code, save, ...tools };
}

test("an operator consents once, and then every run's call carries a token", async () => {
  const { stack, issuer, gateway, server, owner, run, consent, connect } = await setUp({ isConnected: false });
  await using _ = stack;
  expect(await consent()).toMatchObject({ status: "missing" });
  const before = await run();
  expect(before).toMatchObject({ status: "failed", error: { code: "model_not_available" } });
  expect(before.error.message).toContain("runnel connections connect gw");
  const page = await connect();
  expect([page.status, page.body]).toEqual([200, expect.stringContaining("gw is connected")]);
  expect(await consent()).toMatchObject({ status: "active", error: null, expires_at: expect.any(String) });
  expect((await Promise.all([run(), run(), run()])).map(({ status }) => status)).toEqual(Array(3).fill("completed"));
  expect(new Set(gateway.headers.map(({ authorization }) => authorization)).size).toBe(1);
  // Nothing that is stored, and nothing that is shown, has a token.
  const stored = server.db.sqlite.serialize().toString("latin1");
  const shown = JSON.stringify((await owner.send("GET", "/connections")).body);
  for (const secret of [...issuer.issued(), oauthClientSecret])
    for (const text of [stored, shown, page.body]) expect(text).not.toContain(secret);
});

test("runs that find an expired token share one refresh, whose rotated token is used for the next", async () => {
  const { stack, run, pass, refreshes } = await setUp();
  await using _ = stack;
  for (const count of [1, 2, 3]) {
    pass(3600);
    const runs = await Promise.all(Array.from({ length: 5 }, () => run()));
    expect(runs.map(({ status }) => status)).toEqual(Array(5).fill("completed"));
    expect(refreshes()).toBe(count);
  }
});

test("two processes on one database refresh a token once", async () => {
  const { stack, pass, refreshes, token, elsewhere, issuer } = await setUp();
  await using _ = stack;
  const other = elsewhere();
  const source = String(other.store.resolve(model, "live").connection.token_source);
  pass(3600);
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  issuer.before = async () => {
    asked.resolve();
    await answered.promise;
  };
  const first = token();
  await asked.promise;
  const second = other.store.tokenOf(source);
  answered.resolve();
  const tokens = await Promise.all([first, second]);
  expect(tokens[0]).toMatchObject({ status: "ready" });
  expect(tokens[1]).toEqual(tokens[0]);
  expect(refreshes()).toBe(1);
});

test("a process that died while it refreshed delays the next refresh by seconds, and does not prevent it", async () => {
  const { stack, server, pass, token, refreshes } = await setUp();
  await using _ = stack;
  pass(3600);
  server.db.sqlite.run("UPDATE model_connection_grants SET claimed_until_ms = expires_at_ms + 20000");
  pass(21);
  expect(await token()).toMatchObject({ status: "ready" });
  expect(refreshes()).toBe(1);
});

test("an issuer that does not repeat the refresh token or the lifetime keeps both", async () => {
  const { stack, issuer, pass, run, refreshes } = await setUp();
  await using _ = stack;
  issuer.rotates = false;
  issuer.faults.body = (body) => delete body.expires_in;
  for (const count of [1, 2]) {
    pass(3600);
    expect((await run()).status).toBe("completed");
    expect((await run()).status).toBe("completed");
    expect(refreshes()).toBe(count);
  }
});

test("a token that the model's server refuses is refreshed once, even before its end", async () => {
  const { stack, issuer, pass, run, refreshes } = await setUp();
  await using _ = stack;
  pass(60);
  issuer.forget("ada");
  expect((await run()).status).toBe("completed");
  expect(refreshes()).toBe(1);
});

test("a consent that was taken back ends the runs with words that say what to do, and a new one mends it", async () => {
  const { stack, issuer, pass, run, consent, connect, refreshes } = await setUp();
  await using _ = stack;
  issuer.takeBack("ada");
  pass(3600);
  const failed = await run();
  expect(failed).toMatchObject({ status: "failed", error: { code: "model_not_available" } });
  expect(failed.error.message).toContain("invalid_grant");
  expect(failed.error.message).toContain("runnel connections connect gw");
  expect(await consent()).toMatchObject({ status: "failed", error: { code: "grant_refused" }, expires_at: null });
  // Nothing is asked again and again for a consent that has ended.
  await run();
  expect(refreshes()).toBe(1);
  await connect();
  expect((await run()).status).toBe("completed");
  expect(await consent()).toMatchObject({ status: "active", error: null });
});

test("an issuer that is away ends no consent, and a token that is still valid is used meanwhile", async () => {
  const { stack, issuer, pass, consent, token } = await setUp();
  await using _ = stack;
  issuer.faults.token = () => new Response("busy", { status: 503 });
  pass(3600 - 30);
  expect(await token()).toMatchObject({ status: "ready" });
  pass(60);
  expect(await token()).toMatchObject({ status: "failed", retryable: true });
  expect(await consent()).toMatchObject({ status: "active" });
  issuer.faults = {};
  pass(10);
  expect(await token()).toMatchObject({ status: "ready" });
});

test("a token without a refresh token is used until its end, and is then shown as expired", async () => {
  const { stack, issuer, pass, consent, token, connect } = await setUp({ isConnected: false });
  await using _ = stack;
  issuer.faults.body = (body) => delete body.refresh_token;
  await connect();
  pass(3599);
  expect(await token()).toMatchObject({ status: "ready" });
  pass(2);
  expect(await token()).toMatchObject({ status: "failed", message: expect.stringContaining("expired") });
  expect(await consent()).toMatchObject({ status: "expired" });
});

test("a state works once, for ten minutes, and for no other connection's client", async () => {
  const { stack, issuer, owner, begin, comeBack, pass, consent } = await setUp({ isConnected: false });
  await using _ = stack;
  const path = issuer.consent(await begin(), "ada");
  const [one, two] = await Promise.all([comeBack(path), comeBack(path)]);
  expect([one.status, two.status].toSorted()).toEqual([200, 400]);
  const late = issuer.consent(await begin(), "ada");
  pass(601);
  expect((await comeBack(late)).body).toContain("does not work any more");
  const former = issuer.consent(await begin(), "ada");
  const other = { type: "oauth", grant: "authorization_code", issuer: issuer.url, client_id: "other" };
  const changed = await owner.send("PATCH", "/connections/gw", { auth: { ...other, client_secret: "x" } });
  expect(changed.status).toBe(200);
  expect(await consent()).toMatchObject({ status: "missing" });
  expect((await comeBack(former)).status).toBe(400);
  expect(await consent()).toMatchObject({ status: "missing" });
});

test("a link's page says what is connected for whom, and begins nothing until its button", async () => {
  const { stack, issuer, link, comeBack, consent } = await setUp({ isConnected: false });
  await using _ = stack;
  const url = await link();
  expect(url).toStartWith("https://localhost/oauth/consent/connection.");
  const { host } = new URL(issuer.url);
  const page = await comeBack(new URL(url).pathname);
  expect(page.status).toBe(200);
  expect(page.body).toContain("Connect gw?");
  expect(page.body).toContain(`Runs of all projects will use your account at ${host} through the model connection gw.`);
  expect(page.body).toContain(`Continue to ${host}<`);
  expect(page.body).not.toContain("connection.");
  // A way back that skips the button brings no cookie to which the request is tied.
  const state = url.split("/").at(-1)!;
  const answer = new URLSearchParams({ code: "c", state, iss: issuer.url });
  expect((await comeBack(`/oauth/callback?${answer}`)).status).toBe(400);
  expect([issuer.requests("authorization_code"), await consent()]).toMatchObject([0, { status: "missing" }]);
});

test("an address of the issuer that an owner sends on connects no other person's account", async () => {
  const { stack, issuer, server, link, begin, comeBack, consent } = await setUp({ isConnected: false });
  await using _ = stack;
  const another = () =>
    createConsentBrowser((path, init) => server.app.handle(new Request(`http://localhost${path}`, init)));
  const [ada, stranger] = [another(), another()];
  const back = issuer.consent(await begin(), "ada");
  // Also after Ada was at a page of her own.
  await ada.open(await link());
  for (const guest of [ada, stranger]) {
    const page = await guest.visit(back);
    expect([page.status, await page.text()]).toEqual([
      400,
      expect.stringContaining("Open the link again in this browser"),
    ]);
  }
  const denied = new URLSearchParams({ error: "access_denied", iss: issuer.url });
  denied.set("state", new URLSearchParams(back.split("?")[1]).get("state")!);
  expect((await ada.visit(`/oauth/callback?${denied}`)).status).toBe(400);
  expect([issuer.requests("authorization_code"), await consent()]).toMatchObject([0, { status: "missing" }]);
  // It stays for the browser in which it began.
  expect((await comeBack(back)).status).toBe(200);
  expect(await consent()).toMatchObject({ status: "active" });
});

test("a consent counts in the browser in which the button was pressed last", async () => {
  const { stack, issuer, server, link, consent } = await setUp({ isConnected: false });
  await using _ = stack;
  const another = () =>
    createConsentBrowser((path, init) => server.app.handle(new Request(`http://localhost${path}`, init)));
  const [first, second] = [another(), another()];
  const url = await link();
  const back = issuer.consent(await first.open(url), "ada");
  const later = issuer.consent(await second.open(url), "ada");
  expect((await first.visit(back)).status).toBe(400);
  expect((await second.visit(later)).status).toBe(200);
  expect(await consent()).toMatchObject({ status: "active" });
});

test("a form of another site, and a browser without cookies, begin no consent", async () => {
  const { stack, server, link } = await setUp({ isConnected: false });
  await using _ = stack;
  const path = new URL(await link()).pathname;
  const shown = await server.send("GET", path);
  const cookie = shown.headers.get("set-cookie")!.split(";")[0]!;
  const foreign: Record<string, string>[] = [{}, { cookie, "sec-fetch-site": "cross-site" }];
  for (const headers of foreign) {
    const page = await server.send("POST", path, undefined, headers);
    expect([page.status, page.body]).toEqual([400, expect.stringContaining("Open the link again")]);
  }
  expect((await server.send("POST", path, undefined, { cookie, "sec-fetch-site": "same-origin" })).status).toBe(303);
});

test("a link is not valid once it was used, its time is up, or its connection has another client", async () => {
  const { stack, issuer, owner, code, link, begin, comeBack, pass } = await setUp({ isConnected: false });
  await using _ = stack;
  const url = await link();
  const page = async (of: string) => (await comeBack(new URL(of).pathname)).status;
  expect([await page(url), await page(`${url}x`)]).toEqual([200, 404]);
  pass(601);
  expect(await page(url)).toBe(404);
  const address = await begin();
  expect((await comeBack(issuer.consent(address, "ada"))).status).toBe(200);
  expect(await page(`https://localhost/oauth/consent/${new URL(address).searchParams.get("state")}`)).toBe(404);
  const changed = await link();
  await owner.send("PATCH", "/connections/gw", { auth: { ...code, client_id: "other", client_secret: "x" } });
  expect(await page(changed)).toBe(404);
});

test("a refused consent is shown as such, and leaves the former one as it is", async () => {
  const { stack, issuer, begin, comeBack, run } = await setUp();
  await using _ = stack;
  const state = new URL(await begin()).searchParams.get("state")!;
  const refusal = new URLSearchParams({ error: "access_denied", state, iss: issuer.url });
  expect(await comeBack(`/oauth/callback?${refusal}`)).toMatchObject({
    status: 400,
    body: expect.stringContaining("You did not allow it"),
  });
  expect((await run()).status).toBe("completed");
});

test("a code of another issuer never reaches the token endpoint", async () => {
  const { stack, issuer, begin, comeBack, consent } = await setUp({ isConnected: false });
  await using _ = stack;
  const path = issuer.consent(await begin(), "ada").replace(/iss=[^&]*/, "iss=https%3A%2F%2Fevil.example");
  expect((await comeBack(path)).status).toBe(400);
  expect(issuer.requests("authorization_code")).toBe(0);
  expect(await consent()).toMatchObject({ status: "missing" });
});

test.each(["removal", "another client", "a key in its place"])("%s revokes the tokens at the issuer", async (kind) => {
  const { stack, issuer, owner, server, code, elsewhere } = await setUp();
  await using _ = stack;
  const tokens = issuer.issued();
  const secret = { client_secret: "x" };
  if (kind === "removal") await owner.send("DELETE", "/connections/gw");
  else if (kind === "a key in its place") await owner.send("PATCH", "/connections/gw", { api_key: "sk-1" });
  else await owner.send("PATCH", "/connections/gw", { auth: { ...code, client_id: "other", ...secret } });
  await elsewhere().revocations.idle();
  expect(new Set(issuer.revoked)).toEqual(new Set(tokens));
  const rows = server.db.sqlite.query("SELECT count(*) AS count FROM model_connection_grants").get();
  expect(rows).toEqual({ count: 0 });
});

test("a change of limits or of the name of a scope keeps the consent", async () => {
  const { stack, owner, code, consent, issuer } = await setUp();
  await using _ = stack;
  await owner.send("PATCH", "/connections/gw", { max_concurrent: 2 });
  await owner.send("PATCH", "/connections/gw", { auth: { ...code, scopes: ["models.read"] } });
  expect(await consent()).toMatchObject({ status: "active" });
  expect(issuer.revoked).toEqual([]);
});

test("the server sends a revocation again if the issuer does not answer", async () => {
  const { stack, issuer, owner, pass, elsewhere } = await setUp();
  await using _ = stack;
  issuer.faults.revoke = () => new Response(null, { status: 503 });
  await owner.send("DELETE", "/connections/gw");
  const { revocations } = elsewhere();
  await revocations.idle();
  expect(issuer.revoked).toEqual([]);
  issuer.faults = {};
  pass(11);
  await revocations.idle();
  expect(issuer.revoked.length).toBeGreaterThan(0);
});

test("a connection that was removed while its token was refreshed gets no token, and the new one is revoked", async () => {
  const { stack, issuer, owner, pass, token, elsewhere } = await setUp();
  await using _ = stack;
  pass(3600);
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  issuer.before = async () => {
    asked.resolve();
    await answered.promise;
  };
  const waiting = token();
  await asked.promise;
  await owner.send("DELETE", "/connections/gw");
  answered.resolve();
  expect(await waiting).toMatchObject({ status: "failed", retryable: false });
  await elsewhere().revocations.idle();
  expect(issuer.revoked).toContain(issuer.issued().findLast((each) => each.startsWith("at-"))!);
});

test("tokens that the storage does not take are used, and stored as soon as it does", async () => {
  const { stack, server, pass, token, refreshes, consent } = await setUp();
  await using _ = stack;
  pass(3600);
  server.db.sqlite.run(
    "CREATE TRIGGER full BEFORE UPDATE OF sealed ON model_connection_grants BEGIN SELECT RAISE(ABORT, 'full'); END",
  );
  expect(await token()).toMatchObject({ status: "ready" });
  server.db.sqlite.run("DROP TRIGGER full");
  expect(await token()).toMatchObject({ status: "ready" });
  expect(refreshes()).toBe(1);
  expect((await consent()).refreshed_at).not.toBeNull();
});

test("a copy of the connections in another cell follows the tokens that the first cell refreshes before their end", async () => {
  const { stack, pass, refreshes, elsewhere } = await setUp();
  await using _ = stack;
  const [first, copy] = [elsewhere(), elsewhere(false)];
  const token = () => copy.store.tokenOf(String(copy.store.resolve(model, "live").connection.token_source));
  const before = await token();
  pass(3600 - 200);
  first.consents.refreshAhead();
  await first.consents.stop();
  expect(refreshes()).toBe(0);
  pass(30);
  copy.consents.refreshAhead();
  await copy.consents.stop();
  expect([await token(), refreshes()]).toEqual([before, 0]);
  first.consents.refreshAhead();
  await first.consents.stop();
  const after = await token();
  expect([after.status, refreshes()]).toEqual(["ready", 1]);
  expect(after).not.toEqual(before);
  // The first cell is away: the calls are retried, or go to another model.
  pass(3601);
  expect(await token()).toMatchObject({ status: "failed", retryable: true });
  expect(refreshes()).toBe(1);
});

test("a client without a secret needs none", async () => {
  const { stack, issuer, gateway, owner, code, connect, run, pass } = await setUp({ isConnected: false });
  await using _ = stack;
  const registered = await fetch(`${issuer.url}/register`, { method: "POST", body: "{}" });
  const { client_id } = (await registered.json()) as { client_id: string };
  const { client_secret: __, ...auth } = { ...code, client_id };
  expect((await owner.send("DELETE", "/connections/gw")).status).toBe(200);
  pass(1);
  const made = await owner.send("POST", "/connections", { name: "gw", base_url: gateway.url, auth });
  expect([made.status, made.body.has_key]).toEqual([201, false]);
  expect((await connect()).status).toBe(200);
  expect(await run()).toMatchObject({ status: "completed", error: null });
});

test("consents are forgotten once their time is up", async () => {
  const { stack, begin, pass, server } = await setUp();
  await using _ = stack;
  await begin();
  const left = () => server.db.sqlite.query("SELECT count(*) AS count FROM model_connection_consents").get();
  await server.sweep();
  expect(left()).toEqual({ count: 2 });
  pass(601);
  await server.sweep();
  expect(left()).toEqual({ count: 0 });
});

test("a refresh that fails while its connection moves to another issuer gives no call the former issuer's token", async () => {
  const { stack, issuer, pass, token, hold, move } = await setUp();
  await using _ = stack;
  // The former token is still valid, so that a failed refresh would fall back to it.
  pass(3600 - 30);
  issuer.faults.token = () => new Response("busy", { status: 503 });
  const { asked, answer } = hold();
  const former = token();
  await asked;
  const { other, connectThere } = await move();
  const early = token();
  expect((await connectThere()).status).toBe(200);
  const later = token();
  answer();
  expect(await former).toMatchObject({ status: "failed", retryable: false });
  expect(await early).toMatchObject({ status: "failed", message: expect.stringContaining("connections connect gw") });
  const found = await later;
  expect(found.status === "ready" && other.issued()).toContain(found.status === "ready" && found.token);
});

test("refreshed tokens of a former issuer are revoked there, and never used or revoked at the next one", async () => {
  const { stack, issuer, pass, token, hold, move, elsewhere } = await setUp();
  await using _ = stack;
  pass(3600);
  const { asked, answer } = hold();
  const former = token();
  await asked;
  // The revocation of the former tokens is late, so that the refresh still succeeds.
  issuer.faults.revoke = () => new Response(null, { status: 503 });
  const { other, connectThere } = await move();
  await connectThere();
  answer();
  expect(await former).toMatchObject({ status: "failed" });
  expect(issuer.issued().filter((each) => each.startsWith("at-"))).toHaveLength(2);
  issuer.faults = {};
  pass(11);
  await elsewhere().revocations.idle();
  expect(issuer.revoked).toContain(issuer.issued().findLast((each) => each.startsWith("at-"))!);
  expect(other.revoked).toEqual([]);
});

test("tokens of a former issuer that the storage did not take are revoked there, and the next issuer's are used", async () => {
  const { stack, issuer, server, pass, token, move, elsewhere } = await setUp();
  await using _ = stack;
  pass(3600);
  server.db.sqlite.run(
    "CREATE TRIGGER full BEFORE UPDATE OF sealed ON model_connection_grants BEGIN SELECT RAISE(ABORT, 'full'); END",
  );
  const unstored = await token();
  server.db.sqlite.run("DROP TRIGGER full");
  const { other, connectThere } = await move();
  await connectThere();
  pass(3600);
  const found = await token();
  expect(found.status === "ready" && other.issued()).toContain(found.status === "ready" && found.token);
  await elsewhere().revocations.idle();
  expect(issuer.revoked).toContain(unstored.status === "ready" ? unstored.token : "");
  expect(other.revoked).toEqual([]);
});

test("calls that wait for a refresh get the token of a consent that was given meanwhile", async () => {
  const { stack, issuer, pass, token, hold, connect } = await setUp();
  await using _ = stack;
  for (const fault of [undefined, () => new Response("busy", { status: 503 })]) {
    pass(3600);
    const { asked, answer } = hold();
    const waiting = token();
    await asked;
    await connect();
    if (fault) issuer.faults.token = fault;
    answer();
    expect(await waiting).toMatchObject({ status: "ready" });
    issuer.faults = {};
    expect(await token()).toEqual(await waiting);
    expect(issuer.spentTwice()).toBe(0);
  }
});

test("a grant of another client than the connection's is not used, refreshed or sent anywhere", async () => {
  const { stack, issuer, server, token, move, pass, elsewhere, refreshes } = await setUp();
  await using _ = stack;
  const { db } = server;
  const former = db.sqlite
    .query<Record<string, string | number | null>, []>("SELECT * FROM model_connection_grants")
    .get()!;
  const { other } = await move();
  // As in a cell that has the connections already, and the grants not yet.
  const names = Object.keys(former);
  await db.write(() =>
    db.sqlite.run(
      `INSERT INTO model_connection_grants (${names}) VALUES (${names.map(() => "?")})`,
      Object.values(former),
    ),
  );
  const copy = elsewhere(false);
  const copied = () => copy.store.tokenOf(String(copy.store.resolve(model, "live").connection.token_source));
  for (const seconds of [0, 3600 - 120, 3600]) {
    pass(seconds);
    expect(await token()).toMatchObject({ status: "failed", retryable: false });
    expect(await copied()).toMatchObject({ status: "failed", retryable: true });
    const first = elsewhere();
    first.consents.refreshAhead();
    await first.consents.stop();
  }
  expect([refreshes(), other.requests("refresh_token")]).toEqual([0, 0]);
  expect(issuer.issued().filter((each) => each.startsWith("at-"))).toHaveLength(1);
});

test("a consent of a connection that was removed during the exchange is not stored, even if it is there again", async () => {
  const { stack, issuer, owner, save, begin, comeBack, hold, consent, elsewhere } = await setUp({ isConnected: false });
  await using _ = stack;
  const path = issuer.consent(await begin(), "ada");
  const { asked, answer } = hold();
  const back = comeBack(path);
  await asked;
  await owner.send("DELETE", "/connections/gw");
  expect((await save()).status).toBe(201);
  answer();
  expect((await back).status).toBe(400);
  expect(await consent()).toMatchObject({ status: "missing" });
  await elsewhere().revocations.idle();
  expect(new Set(issuer.revoked)).toEqual(new Set(issuer.issued()));
});

test("a consent whose time ends while its code is exchanged is stored", async () => {
  const { stack, issuer, server, begin, comeBack, hold, consent, pass } = await setUp({ isConnected: false });
  await using _ = stack;
  const path = issuer.consent(await begin(), "ada");
  pass(599);
  const { asked, answer } = hold();
  const back = comeBack(path);
  await asked;
  pass(2);
  await server.sweep();
  answer();
  expect((await back).status).toBe(200);
  expect(await consent()).toMatchObject({ status: "active" });
});

test("a refused token that nothing can refresh ends its consent, unless it was issued just now", async () => {
  const { stack, issuer, pass, consent, token, connect, elsewhere } = await setUp({ isConnected: false });
  await using _ = stack;
  issuer.faults.body = (body) => delete body.refresh_token;
  await connect();
  const found = await token();
  const text = found.status === "ready" ? found.token : "";
  expect(await token(text)).toEqual(found);
  pass(6);
  expect(await token("another")).toEqual(found);
  const copy = elsewhere(false);
  const source = String(copy.store.resolve(model, "live").connection.token_source);
  const refused = { status: "failed", retryable: false, message: expect.stringContaining("connections connect gw") };
  expect(await copy.store.tokenOf(source, text)).toMatchObject(refused);
  expect(await consent()).toMatchObject({ status: "active" });
  expect(await token(text)).toMatchObject(refused);
  expect(await consent()).toMatchObject({ status: "failed", error: { code: "token_rejected" } });
  expect(await token()).toMatchObject(refused);
  await connect();
  expect(await token(text)).toMatchObject({ status: "ready" });
});

test("a clock that was set back keeps neither a refused token, nor the pause of an issuer, nor the claim of a process", async () => {
  const { stack, issuer, server, pass, token, refreshes } = await setUp();
  await using _ = stack;
  const first = await token();
  pass(-7200);
  const second = await token(first.status === "ready" ? first.token : "");
  expect([second.status, refreshes()]).toEqual(["ready", 1]);
  expect(second).not.toEqual(first);
  pass(7200);
  issuer.faults.token = () => Response.json({ error: "invalid_client" }, { status: 401 });
  expect(await token()).toMatchObject({ status: "failed", message: expect.stringContaining("invalid_client") });
  issuer.faults = {};
  const { db } = server;
  const claimed = "claimed_until_ms = expires_at_ms + 7200000, expires_at_ms = 1";
  await db.write(() => db.sqlite.run(`UPDATE model_connection_grants SET ${claimed}`));
  pass(-7200);
  expect(await token()).toMatchObject({ status: "ready" });
  expect(refreshes()).toBe(3);
});

test("a refresh without an answer ends before the claim of its process, and the next call refreshes again", async () => {
  const { stack, issuer, server, pass, token, hold, refreshes } = await setUp();
  await using _ = stack;
  pass(3600);
  const { asked, answer } = hold();
  stack.defer(answer);
  const deadline = new AbortController();
  using timeout = spyOn(AbortSignal, "timeout").mockImplementation(() => deadline.signal);
  const waiting = token();
  await asked;
  const { until } = server.db.sqlite
    .query<{ until: number }, []>("SELECT claimed_until_ms AS until FROM model_connection_grants")
    .get()!;
  // The library has a time of its own for its request.
  expect(Math.min(...timeout.mock.calls.map(([ms]) => ms))).toBeLessThan(until - issuer.now());
  deadline.abort(new DOMException("", "TimeoutError"));
  expect(await waiting).toMatchObject({ status: "failed", retryable: true });
  timeout.mockRestore();
  issuer.rotates = false;
  answer();
  pass(2);
  expect(await token()).toMatchObject({ status: "ready" });
  expect(refreshes()).toBe(2);
});
