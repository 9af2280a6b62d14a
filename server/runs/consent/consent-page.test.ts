import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { browserAt, createConsentBrowser } from "../../testing/consent-browser.ts";
import { callsOnce, createConsentWorld, pathOf } from "../../testing/consents.ts";
import { type OAuthServer, startOAuthServer } from "../../testing/oauth-server.ts";
import { type TestApp, testApp } from "../../testing/test-app.ts";

// A link that is sent on would connect the account of the person who opens it (RFC 6749, 10.12; RFC 9700, 4.7).

let issuer: OAuthServer;
beforeAll(async () => {
  issuer = await startOAuthServer();
});
afterAll(() => issuer[Symbol.asyncDispose]());
beforeEach(() => {
  issuer.callers = [];
  issuer.asked = [];
  issuer.before = async () => {};
});

const another = ({ app }: TestApp) =>
  createConsentBrowser((path, init) => app.handle(new Request(`http://localhost${path}`, init)));

async function startWorld(options: Parameters<typeof testApp>[0] = {}) {
  const app = testApp(options);
  const client = await app.client();
  const world = createConsentWorld(app, client, issuer);
  const github = await world.oauthClient("GitHub");
  const who = await world.whoTool("who", github.id);
  const asker = await world.agent(callsOnce("who"), [who.id]);
  return {
    ...world,
    app,
    client,
    github,
    asker,
    grants: async () => (await client.get("/v1/oauth_grants")).body.data,
    requests: () => app.db.sqlite.query("SELECT 1 FROM oauth_authorizations").all().length,
    /** Returns a link of each kind: of a run that waits for Ada, and of a program that asks for her. */
    async links(): Promise<{ run: string; program: string }> {
      const run = await world.settled((await world.run(asker, "ada")).id);
      const asked = await client.post(`/v1/oauth_clients/${github.id}/authorize`, { user_id: "ada" });
      return { run: run.required_action.url, program: asked.body.url };
    },
    /** Returns the link of a program that asks for this user. */
    asked: async (user_id: string): Promise<string> =>
      (await client.post(`/v1/oauth_clients/${github.id}/authorize`, { user_id })).body.url,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const kinds = ["run", "program"] as const;

test.each(kinds)(
  "the link of a %s shows who is connected to what, and begins nothing until its button",
  async (kind) => {
    await using world = await startWorld();
    const path = pathOf((await world.links())[kind]);
    const before = world.requests();
    for (const method of ["HEAD", "GET", "GET"]) {
      const page = await browserAt(world.app).visit(path, method);
      expect(page.status).toBe(200);
      if (method === "HEAD") continue;
      const html = await page.text();
      for (const text of ["Connect GitHub?", "<bdi>ada</bdi>", "<bdi>default</bdi>", new URL(issuer.url).host])
        expect(html).toContain(text);
      expect(html).not.toContain("<script");
      expect(html).not.toContain(path.split("/").at(-1)!);
      const policy = page.headers.get("content-security-policy");
      expect(policy).toStartWith("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect([page.headers.get("referrer-policy"), page.headers.get("cache-control")]).toEqual([
        "no-referrer",
        "no-store",
      ]);
    }
    expect(world.requests()).toBe(before);
    expect((await world.client.get("/v1/oauth_grants")).body.data).toEqual([]);
  },
);

test("the page names the host to which its button leads, also where that is not the issuer's", async () => {
  await using other = await startOAuthServer();
  const endpoint = "http://localhost:9/consent";
  other.faults.metadata = (metadata) => {
    metadata.authorization_endpoint = endpoint;
  };
  await using app = testApp({ egress: ["localhost"] });
  const client = await app.client();
  const world = createConsentWorld(app, client, other);
  const github = await world.oauthClient("GitHub");
  const { body } = await client.post(`/v1/oauth_clients/${github.id}/authorize`, { user_id: "ada" });
  const html = await (await browserAt(app).visit(pathOf(body.url))).text();
  expect(html).toContain("Continue to localhost:9<");
  expect(html).not.toContain(new URL(other.url).host);
  expect(await browserAt(app).open(body.url)).toStartWith(endpoint);
});

test("the page of a client whose issuer does not answer says so, and has no button", async () => {
  const other = await startOAuthServer();
  let at = Date.now();
  await using app = testApp({ now: () => at });
  const world = createConsentWorld(app, await app.client(), other);
  const who = await world.whoTool("who", (await world.oauthClient("GitHub")).id);
  const run = await world.settled((await world.run(await world.agent(callsOnce("who"), [who.id]), "ada")).id);
  await other[Symbol.asyncDispose]();
  // The metadata that is known is too old.
  at += 3_601_000;
  const page = await browserAt(app).visit(pathOf(run.required_action.url));
  const html = await page.text();
  expect([page.status, html]).toEqual([502, expect.stringContaining("cannot be connected now")]);
  expect(html).not.toContain("<form");
});

test("the cookie is of this server alone, cannot be read by scripts, and is not sent with forms of other sites", async () => {
  await using world = await startWorld();
  const page = await world.app.send("GET", pathOf((await world.links()).run));
  expect(page.headers.get("set-cookie")).toMatch(
    /^__Host-runnel-oauth=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=600$/,
  );
});

test.each(kinds)(
  "a way back of a %s's link in another browser exchanges nothing, and leaves it to the right one",
  async (kind) => {
    await using world = await startWorld();
    const [eve, ada] = [another(world.app), another(world.app)];
    const links = await world.links();
    // Eve sends on where the button led her: the account of the person who consents there would be hers.
    const back = issuer.consent(await eve.open(links[kind]), "ada");
    for (const guest of [ada, another(world.app)]) {
      const page = await guest.visit(back);
      expect([page.status, await page.text()]).toEqual([
        400,
        expect.stringContaining("Open the link again in this browser"),
      ]);
    }
    const denied = new URLSearchParams({ error: "access_denied", iss: issuer.url });
    denied.set("state", new URLSearchParams(back.split("?")[1]).get("state")!);
    expect((await ada.visit(`/oauth/callback?${denied}`)).status).toBe(400);
    expect([issuer.asked, await world.grants()]).toEqual([[], []]);
    // Also after Ada was at a page of her own.
    await ada.open((await world.links()).program);
    expect((await ada.visit(back)).status).toBe(400);
    expect((await eve.visit(back)).status).toBe(200);
  },
);

test("a link that was pressed in two browsers is of the last one", async () => {
  await using world = await startWorld();
  const [first, last] = [another(world.app), another(world.app)];
  const program = await world.asked("ada");
  const back = issuer.consent(await first.open(program), "ada");
  const later = issuer.consent(await last.open(program), "ada");
  expect((await first.visit(back)).status).toBe(400);
  expect((await last.visit(later)).status).toBe(200);
});

test("two consents in two windows of one browser both come to their end", async () => {
  await using world = await startWorld();
  const browser = another(world.app);
  const { run, program } = await world.links();
  const [first, second] = [await browser.open(run), await browser.open(program)];
  expect((await browser.visit(issuer.consent(first, "ada"))).status).toBe(200);
  expect((await browser.visit(issuer.consent(second, "ada"))).status).toBe(200);
});

test("a button that another site presses begins nothing", async () => {
  await using world = await startWorld();
  const path = pathOf((await world.links()).run);
  const page = await world.app.send("GET", path);
  const [cookie = ""] = (page.headers.get("set-cookie") ?? "").split(";");
  const before = world.requests();
  const forged: Record<string, string>[] = [
    {},
    { cookie, "sec-fetch-site": "cross-site" },
    { cookie: "__Host-runnel-oauth=guessed" },
  ];
  for (const headers of forged) {
    const answer = await world.app.send("POST", path, undefined, headers);
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
    expect(answer.body).toContain("Open the link again");
  }
  expect(world.requests()).toBe(before);
  const pressed = await world.app.send("POST", path, undefined, { cookie, "sec-fetch-site": "same-origin" });
  expect(pressed.status).toBe(303);
  expect(pressed.headers.get("referrer-policy")).toBe("no-referrer");
});

test("names of clients and users are shown as text, whatever they contain", async () => {
  await using world = await startWorld();
  const name = '<img src=x onerror="alert(1)">';
  const made = await world.oauthClient(name);
  const { body } = await world.client.post(`/v1/oauth_clients/${made.id}/authorize`, { user_id: "<b>\u202eada" });
  const page = await world.app.send("GET", pathOf(body.url));
  expect(page.status).toBe(200);
  expect(page.body).not.toMatch(/<img|<b>/);
});

test("the account of a project says so on its page", async () => {
  await using world = await startWorld();
  const shared = await world.oauthClient("Team", { per_user: false });
  const { body } = await world.client.post(`/v1/oauth_clients/${shared.id}/authorize`, {});
  expect((await world.app.send("GET", pathOf(body.url))).body).toContain("the whole project");
});

test("a request that was completed, is old, or whose client was deleted leads to a page that says so", async () => {
  let at = Date.now();
  await using world = await startWorld({ now: () => at });
  const program = await world.asked("ada");
  const browser = browserAt(world.app);
  await browser.visit(issuer.consent(await browser.open(program), "ada"));
  const old = await world.asked("ada");
  at += 601_000;
  const deleted = await world.asked("ada");
  await world.client.delete(`/v1/oauth_clients/${world.github.id}`);
  for (const url of [program, old, deleted])
    for (const method of ["GET", "POST"]) {
      const page = await browser.visit(pathOf(url), method);
      expect([page.status, await page.text()]).toEqual([404, expect.stringContaining("This link is not valid")]);
    }
});

test("a user who is erased while the code is exchanged gets no grant, and the tokens are revoked", async () => {
  await using world = await startWorld();
  const browser = browserAt(world.app);
  const back = issuer.consent(await browser.open(await world.asked("ada")), "ada");
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  issuer.before = async () => {
    asked.resolve();
    await answer.promise;
  };
  const coming = browser.visit(back);
  await asked.promise;
  expect((await world.client.delete("/v1/users/ada/data?wait=60")).status).toBe(200);
  answer.resolve();
  expect((await coming).status).toBe(400);
  expect(await world.grants()).toEqual([]);
  await world.app.oauthRevocations.idle();
  expect(issuer.revoked.length).toBeGreaterThan(0);
  expect(world.requests()).toBe(0);
});

test("what an issuer says is quoted with one full stop", async () => {
  await using world = await startWorld();
  const browser = browserAt(world.app);
  const back = issuer.consent(await browser.open(await world.asked("ada")), "ada");
  issuer.faults.token = () =>
    Response.json({ error: "invalid_grant", error_description: "It is over." }, { status: 400 });
  const page = await (await browser.visit(back)).text();
  issuer.faults = {};
  expect(page).toContain("It is over.");
  expect(page).not.toContain("..");
});
