import { expect, test } from "bun:test";
import { createConsentBrowser } from "../../testing/consent-browser.ts";
import { copyDatabase } from "../../testing/copy-database.ts";
import { type OAuthServer, oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { type TestApp, testApp } from "../../testing/test-app.ts";

// A copy of the database at a moment is what a process finds that was killed then.

const tables = ["projects", "oauth_clients", "oauth_grants", "oauth_authorizations", "oauth_revocations"];
const masterKey = new Uint8Array(32).fill(7);
/** The user has one browser, also when the server starts again. */
let reached: TestApp;
const browser = createConsentBrowser((path, init) => reached.app.handle(new Request(`http://localhost${path}`, init)));
const visit = (server: TestApp, path: string) => {
  reached = server;
  return browser.visit(path);
};

async function setUp() {
  const stack = new AsyncDisposableStack();
  const issuer = stack.use(await startOAuthServer());
  let now = Date.now();
  issuer.now = () => now;
  const start = (db?: TestApp["db"]) => stack.use(testApp({ masterKey, now: () => now, ...(db && { db }) }));
  const server = start();
  /** Starts the next process on the database of the one that stopped, which closes it at the end. */
  const startAgain = () => {
    const next = testApp({ masterKey, now: () => now, db: server.db });
    stack.defer(next.stop);
    return next;
  };
  const client = await server.client();
  const { body } = await client.post("/v1/oauth_clients", {
    name: "c",
    grant: "authorization_code",
    issuer: issuer.url,
    client_id: oauthClientId,
    client_secret: oauthClientSecret,
  });
  /** Returns the way back of a user who consents at a server. */
  const consentAt = async (of: TestApp) => {
    reached = of;
    const { state } = await of.oauth.authorize(client.scope, body.id, { userId: null });
    return issuer.consent(await browser.open(`https://localhost/oauth/consent/${state}`), "project");
  };
  const tokenAt = (of: TestApp) => of.oauth.get(client.scope, body.id, null);
  const pass = (seconds: number) => {
    now += seconds * 1000;
  };
  return { stack, issuer, server, client, id: body.id as string, start, startAgain, consentAt, tokenAt, pass };
}

test("a process killed between the exchange of a code and its store uses the code no second time, and asks again", async () => {
  const { stack, issuer, server, start, consentAt, tokenAt } = await setUp();
  await using _ = stack;
  const back = await consentAt(server);
  let copy: TestApp["db"] | undefined;
  issuer.before = async () => {
    copy ??= copyDatabase(server.db, tables);
  };
  expect((await visit(server, back)).status).toBe(200);
  const next = start(copy);
  expect((await visit(next, back)).status).toBe(400);
  expect(issuer.requests("authorization_code")).toBe(1);
  expect(await tokenAt(next)).toMatchObject({ status: "authorization_required" });
  expect((await visit(next, await consentAt(next))).status).toBe(200);
  expect(await tokenAt(next)).toMatchObject({ status: "ready" });
});

test("a process killed between a refresh and its store loses at most the grant, whose user is asked again", async () => {
  const { stack, issuer, server, start, consentAt, tokenAt, pass } = await setUp();
  await using _ = stack;
  await visit(server, await consentAt(server));
  pass(3600);
  let copy: TestApp["db"] | undefined;
  issuer.before = async () => {
    copy ??= copyDatabase(server.db, tables);
  };
  expect(await tokenAt(server)).toMatchObject({ status: "ready" });
  const next = start(copy);
  // The issuer rotated the refresh token, and takes its second use for a theft.
  expect(await tokenAt(next)).toMatchObject({ status: "authorization_required" });
  expect((await visit(next, await consentAt(next))).status).toBe(200);
  expect(await tokenAt(next)).toMatchObject({ status: "ready" });
});

test("a process killed before it revoked a deleted grant's tokens revokes them when it starts again", async () => {
  const { stack, issuer, server, client, id, start, consentAt, tokenAt } = await setUp();
  await using _ = stack;
  await visit(server, await consentAt(server));
  const { token } = (await tokenAt(server)) as { token: string };
  let copy: TestApp["db"] | undefined;
  issuer.faults.revoke = () => {
    copy ??= copyDatabase(server.db, tables);
    return new Response(null, { status: 503 });
  };
  await client.delete(`/v1/oauth_clients/${id}`);
  await server.oauthRevocations.idle();
  issuer.faults.revoke = undefined;
  expect(issuer.revoked).toEqual([]);
  const next = start(copy);
  await next.recover();
  await next.oauthRevocations.idle();
  expect(issuer.revoked).toContain(token);
});

/** Stops a server while the issuer works on a request for tokens, which it answers once the stop has begun. */
async function stopDuring(issuer: OAuthServer, server: TestApp, work: () => void): Promise<void> {
  const [asked, stopping] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  issuer.before = async () => {
    asked.resolve();
    await stopping.promise;
  };
  work();
  await asked.promise;
  const stopped = server.stop();
  issuer.before = async () => {};
  stopping.resolve();
  await stopped;
}

test("a refresh during a stop is awaited: the next start has the rotated token", async () => {
  const { stack, issuer, server, startAgain, consentAt, tokenAt, pass } = await setUp();
  await using _ = stack;
  await visit(server, await consentAt(server));
  pass(3600);
  let fresh: ReturnType<typeof tokenAt> | undefined;
  await stopDuring(issuer, server, () => {
    fresh = tokenAt(server);
  });
  const next = startAgain();
  expect(await tokenAt(next)).toMatchObject({ status: "ready" });
  expect(await fresh).toEqual(await tokenAt(next));
  expect([issuer.requests("refresh_token"), issuer.spentTwice()]).toEqual([1, 0]);
});

test("a user who comes back during a stop is connected, and the next start has the token", async () => {
  const { stack, issuer, server, startAgain, consentAt, tokenAt } = await setUp();
  await using _ = stack;
  const back = await consentAt(server);
  let page: Promise<Response> | undefined;
  await stopDuring(issuer, server, () => {
    page = visit(server, back);
  });
  expect(server.db.sqlite.query("SELECT count(*) AS count FROM oauth_grants").get()).toEqual({ count: 1 });
  expect(await tokenAt(startAgain())).toMatchObject({ status: "ready" });
  expect((await page)?.status).toBe(200);
});

test("a server that stops asks for no token, and takes no code: the same address works at the next start", async () => {
  const { stack, issuer, server, startAgain, consentAt, tokenAt, pass } = await setUp();
  await using _ = stack;
  await visit(server, await consentAt(server));
  const back = await consentAt(server);
  await server.stop();
  const asked = issuer.asked.length;
  const page = await visit(server, back);
  expect([page.status, await page.text()]).toEqual([503, expect.stringContaining("Load this page again")]);
  pass(3600);
  expect(await tokenAt(server)).toMatchObject({ status: "failed", retryable: true });
  expect(issuer.asked.length).toBe(asked);
  pass(-3600);
  expect((await visit(startAgain(), back)).status).toBe(200);
});
