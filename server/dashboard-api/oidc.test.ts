import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { asPage, type ConsoleVisitor, visitorOf, visitorPassword } from "../testing/console-visitor.ts";
import { type IssuerClaims, oidcClient, startIssuer } from "../testing/oidc-issuer.ts";
import { type TestApp, type TestAppOptions, testApp } from "../testing/test-app.ts";
import { highestRole, type OidcSettings } from "./oidc.ts";

let issuer: Awaited<ReturnType<typeof startIssuer>>;
beforeAll(async () => {
  issuer = await startIssuer();
});
afterAll(() => issuer[Symbol.asyncDispose]());

let server: TestApp;
function start(settings: Partial<OidcSettings> = {}, more: TestAppOptions = {}): void {
  const oidc: OidcSettings = {
    issuer: issuer.url,
    ...oidcClient,
    name: "Example",
    roleClaim: "roles",
    domains: [],
    trustEmail: false,
    ...settings,
  };
  server = testApp({ dashboard: true, publicUrl: "http://localhost", oidc, ...more });
}
beforeEach(() => start());
afterEach(() => server[Symbol.asyncDispose]());

const ada = { sub: "ada-1", email: "ada@example.com", email_verified: true, roles: ["owner"] };

/** The cookies of a browser, as far as a sign-in needs them. */
async function begin(to = "/runs") {
  const answer = await asPage(server)("POST", "/oidc/begin", { to });
  return { answer, url: answer.body.url as string, cookie: cookiesOf(answer.headers)["__Host-runnel-oidc"] ?? "" };
}
const comeBack = (search: string, cookie: string) =>
  server.send("GET", `/console/api/oidc/callback${search}`, undefined, {
    host: "localhost",
    cookie: `__Host-runnel-oidc=${cookie}`,
    "sec-fetch-site": "cross-site",
  });
const cookiesOf = (headers: Headers): Record<string, string> =>
  Object.fromEntries(headers.getSetCookie().map((text) => text.split(";")[0]!.split(/=(.*)/).slice(0, 2)));

/** A whole sign-in: returns the target address, and a visitor with the new session. */
async function signIn(told: IssuerClaims | Record<string, unknown> = ada) {
  const { url, cookie } = await begin();
  const { headers } = await comeBack(
    issuer.answer(url, "claims" in told ? (told as IssuerClaims) : { claims: told }),
    cookie,
  );
  const session = cookiesOf(headers)["__Host-runnel"];
  const send: ConsoleVisitor["send"] = asPage(server, `__Host-runnel=${session}`);
  return { location: headers.get("location"), session, send };
}
const refusedBy = (reason: string) => `/dashboard/login?refused=${reason}`;
const actions = (): string[] =>
  server.db.sqlite
    .query<{ action: string }, []>("SELECT action FROM audit_log ORDER BY id")
    .all()
    .map(({ action }) => action);
const reasons = (): unknown[] =>
  server.db.sqlite
    .query<{ details: string }, []>("SELECT details FROM audit_log WHERE action = 'user.sign_in_failed'")
    .all()
    .map(({ details }) => JSON.parse(details).reason);

describe("a person whom the issuer proves", () => {
  test("is signed in where they were going, with the role of the claim, and found again by their subject", async () => {
    const first = await signIn();
    expect(first.location).toBe("/dashboard/runs");
    const { user } = (await first.send("GET", "/session")).body;
    expect(user).toMatchObject({ email: "ada@example.com", role: "owner" });
    const again = await signIn({ ...ada, email: "ada.l@example.com", roles: "viewer" });
    expect((await again.send("GET", "/session")).body.user).toEqual({ ...user, role: "viewer" });
    expect(actions()).toEqual(["user.created", "user.signed_in", "user.role_changed", "user.signed_in"]);
  });

  test("has the account with the same verified address, whose password and sessions end", async () => {
    const owner = await visitorOf(server, "owner", "Ada@example.com");
    const { send } = await signIn();
    expect((await send("GET", "/session")).body.user.id).toBe(owner.id);
    expect((await owner.send("GET", "/session")).status).toBe(401);
    const login = await asPage(server)("POST", "/login", { email: "ada@example.com", password: visitorPassword });
    expect(login.body.error.code).toBe("invalid_login");
    expect(actions()).toContain("user.linked");
  });

  test("does not get the account of another person with the same address at the issuer", async () => {
    await signIn();
    expect((await signIn({ ...ada, sub: "ada-2" })).location).toBe(refusedBy("taken"));
  });

  test("loses the role with the claim: new requests are refused, and open streams end", async () => {
    const { send } = await signIn();
    expect((await signIn({ ...ada, roles: ["something"] })).location).toBe(refusedBy("role"));
    expect((await send("GET", "/session")).status).toBe(401);
  });

  test("without a claim for roles comes in by an invitation with its role, by a domain as a viewer, else not", async () => {
    await server[Symbol.asyncDispose]();
    start({ roleClaim: null });
    expect((await signIn()).location).toBe(refusedBy("unknown"));
    const owner = await visitorOf(server, "owner");
    await owner.send("POST", "/invitations", { email: "ADA@example.com", role: "member" });
    expect((await (await signIn()).send("GET", "/session")).body.user.role).toBe("member");
    expect((await owner.send("GET", "/invitations")).body.data).toEqual([]);
    await server[Symbol.asyncDispose]();
    start({ roleClaim: null, domains: ["example.com"] });
    expect((await (await signIn()).send("GET", "/session")).body.user.role).toBe("viewer");
  });

  test("of a domain that may not sign in is refused, whatever the claim", async () => {
    await server[Symbol.asyncDispose]();
    start({ domains: ["example.com"] });
    for (const email of ["ada@example.org", "ada@sub.example.com", "ada@evil.org@example.org"])
      expect((await signIn({ ...ada, email })).location).not.toBe("/dashboard/runs");
    expect((await signIn({ ...ada, email: "ada@example.org" })).location).toBe(refusedBy("domain"));
  });
});

describe("a sign-in is refused", () => {
  const seconds = Math.floor(Date.now() / 1000);
  const wrong: [string, Omit<IssuerClaims, "claims">][] = [
    ["signed by another key", { signed: "foreign" }],
    ["not signed (alg none)", { signed: "none" }],
    ["signed with the client's secret", { signed: "hmac" }],
    ["for another nonce", { tamper: (claims) => (claims.nonce = "other") }],
    ["without a nonce", { tamper: (claims) => delete claims.nonce }],
    ["for another client", { tamper: (claims) => (claims.aud = "somebody-else") }],
    [
      "for several clients, and asked for by another",
      { tamper: (c) => Object.assign(c, { aud: ["runnel", "x"], azp: "x" }) },
    ],
    ["of another issuer", { tamper: (claims) => (claims.iss = "https://evil.example") }],
    ["that has expired", { tamper: (claims) => (claims.exp = seconds - 3600) }],
    ["without a subject", { tamper: (claims) => delete claims.sub }],
  ];
  test.each(wrong)("by an id token %s", async (_, how) => {
    const { location, session } = await signIn({ claims: ada, ...how });
    expect([location, session]).toEqual([refusedBy("issuer"), undefined]);
    expect(actions()).toEqual(["user.sign_in_failed"]);
  });

  test.each([false, undefined, "true"])("by an address whose `email_verified` is %p", async (email_verified) => {
    expect((await signIn({ ...ada, email_verified })).location).toBe(refusedBy("unverified"));
  });

  test("by an address that the issuer marks unverified, even if addresses without a mark are accepted", async () => {
    await server[Symbol.asyncDispose]();
    start({ domains: ["example.com"], trustEmail: true });
    for (const email_verified of [false, "true"])
      expect((await signIn({ ...ada, email_verified })).location).toBe(refusedBy("unverified"));
    expect((await signIn({ ...ada, email_verified: undefined })).location).toBe("/dashboard/runs");
    const elsewhere = { ...ada, sub: "eve-1", email: "eve@example.org", email_verified: undefined };
    expect((await signIn(elsewhere)).location).toBe(refusedBy("domain"));
  });

  test("by a way back that this browser did not begin, is too old, was ended before, or says another state", async () => {
    const { url, cookie } = await begin();
    const search = issuer.answer(url, { claims: ada });
    expect((await comeBack(search, "")).headers.get("location")).toBe(refusedBy("stale"));
    expect((await comeBack(search, (await begin()).cookie)).headers.get("location")).toBe(refusedBy("stale"));
    expect((await comeBack(search, `${cookie.slice(0, -4)}AAAA`)).headers.get("location")).toBe(refusedBy("stale"));
    const other = issuer.answer(url, { claims: ada }).replace(/state=[^&]+/, "state=other");
    expect((await comeBack(other, cookie)).headers.get("location")).toBe(refusedBy("stale"));
    expect((await comeBack(search, cookie)).headers.get("location")).toBe("/dashboard/runs");
    expect((await comeBack(search, cookie)).headers.get("location")).toBe(refusedBy("issuer"));
  });

  test("ten minutes after it was begun", async () => {
    await server[Symbol.asyncDispose]();
    let at = Date.now();
    start({}, { now: () => at });
    const { url, cookie } = await begin();
    at += 10 * 60_000;
    expect((await comeBack(issuer.answer(url, { claims: ada }), cookie)).headers.get("location")).toBe(
      refusedBy("stale"),
    );
  });

  test("if the person declines at the issuer", async () => {
    const { url, cookie } = await begin();
    const state = new URL(url).searchParams.get("state");
    const { headers } = await comeBack(`?error=access_denied&state=${state}`, cookie);
    expect(headers.get("location")).toBe(refusedBy("cancelled"));
  });

  test("by a code that another client asked for with its own verifier", async () => {
    const [mine, theirs] = [await begin(), await begin()];
    const search = issuer.answer(theirs.url, { claims: ada });
    const state = new URL(mine.url).searchParams.get("state")!;
    const stolen = search.replace(/state=[^&]+/, `state=${encodeURIComponent(state)}`);
    expect((await comeBack(stolen, mine.cookie)).headers.get("location")).toBe(refusedBy("issuer"));
  });
});

describe("a sign-in that fails leads back to the sign-in page with its reason, never to raw JSON", () => {
  const failed = (answer: { status: number; headers: Headers }) => [answer.status, answer.headers.get("location")];

  test.each([
    ["without a domain", "ada"],
    ["with two names", "ada@evil.org@example.com"],
    ["in brackets", "Ada <ada@example.com>"],
    ["with a blank", "ada lovelace@example.com"],
    ["that is empty", ""],
    ["longer than addresses are", `${"a".repeat(250)}@example.com`],
    ["that is a list", ["ada@example.com"]],
    ["that is null", null],
    ["that is not there", undefined],
  ])("an address %s", async (_, email) => {
    const { url, cookie } = await begin();
    const answer = await comeBack(issuer.answer(url, { claims: { ...ada, email } }), cookie);
    expect(failed(answer)).toEqual([303, refusedBy("email")]);
    expect(cookiesOf(answer.headers)["__Host-runnel"]).toBeUndefined();
    expect(reasons()).toEqual(["email"]);
  });

  test("the address of an account that is there, once it is malformed", async () => {
    const first = await signIn();
    expect((await signIn({ ...ada, email: "ada" })).location).toBe(refusedBy("email"));
    expect((await first.send("GET", "/session")).status).toBe(200);
  });

  test.each(["server_error", "temporarily_unavailable", "login_required", "invalid_scope", "", "<b>"])(
    "the issuer's error %j",
    async (error) => {
      const { url, cookie } = await begin();
      const search = new URLSearchParams({ error, state: new URL(url).searchParams.get("state")! });
      expect(failed(await comeBack(`?${search}`, cookie))).toEqual([303, refusedBy("issuer")]);
    },
  );

  test.each(["", "?", "?error=server_error", "?code=x", "?state=", "?code=%00&state=%ff&state=x"])(
    "a way back with %j alone",
    async (search) => {
      const { cookie } = await begin();
      for (const kept of [cookie, "", "nonsense"])
        expect(failed(await comeBack(search, kept))).toEqual([303, refusedBy("stale")]);
    },
  );

  test("an issuer that is not reached any more", async () => {
    const gone = await startIssuer();
    await server[Symbol.asyncDispose]();
    start({ issuer: gone.url });
    const { url, cookie } = await begin();
    const search = gone.answer(url, { claims: ada });
    await gone[Symbol.asyncDispose]();
    expect(failed(await comeBack(search, cookie))).toEqual([303, refusedBy("unreachable")]);
  });

  test("a code that the issuer does not know", async () => {
    const { url, cookie } = await begin();
    const state = new URL(url).searchParams.get("state")!;
    expect(failed(await comeBack(`?code=x&state=${state}`, cookie))).toEqual([303, refusedBy("issuer")]);
  });

  test.each(["INSERT ON users", "INSERT ON sessions", "INSERT ON audit_log"])(
    "storage that takes no %s",
    async (what) => {
      const { url, cookie } = await begin();
      const search = issuer.answer(url, { claims: ada });
      server.db.sqlite.run(`CREATE TRIGGER refuse BEFORE ${what} BEGIN SELECT raise(ABORT, 'full'); END`);
      expect(failed(await comeBack(search, cookie))).toEqual([303, refusedBy("server")]);
    },
  );

  test("a server without an issuer", async () => {
    await server[Symbol.asyncDispose]();
    server = testApp({ dashboard: true });
    expect(failed(await comeBack("?code=x&state=y", ""))).toEqual([303, refusedBy("off")]);
  });
});

test.each(["//evil.example", "/\\evil.example", "https://evil.example", "/ok\r\nx: y", ""])(
  "a sign-in leads to no other place than one of the dashboard: %p",
  async (to) => expect((await begin(to)).answer.status).toBe(400),
);

test("the page gets the sign-in methods, and the address it must be opened at for the issuer's redirect", async () => {
  const ways = await asPage(server)("GET", "/sign_in");
  expect(ways.body).toMatchObject({ local: true, oidc: { name: "Example" } });
  await server[Symbol.asyncDispose]();
  start({}, { publicUrl: "https://runnel.example.com" });
  const { answer } = await begin();
  expect([answer.status, answer.body.error.message]).toEqual([
    403,
    expect.stringContaining("https://runnel.example.com"),
  ]);
});

test("an unreachable issuer, or one with another identity, is reported as such", async () => {
  await server[Symbol.asyncDispose]();
  start({ issuer: `${issuer.url}/other` });
  expect((await begin()).answer.body.error.code).toBe("issuer_failed");
});

test("without local accounts passwords and set-up are refused, and the issuer still works", async () => {
  await server[Symbol.asyncDispose]();
  start({}, { localAccounts: false });
  const page = asPage(server);
  expect((await page("GET", "/session")).body.error.details).toEqual({ setup_required: false });
  expect((await page("GET", "/sign_in")).body.local).toBe(false);
  const credentials = { email: "ada@example.com", password: visitorPassword };
  for (const [path, body] of [
    ["/login", credentials],
    ["/setup", { token: "x", ...credentials }],
    ["/invitations/accept", { token: "x", password: visitorPassword }],
  ] as const)
    expect((await page("POST", path, body)).body.error.code).toBe("local_accounts_off");
  expect((await signIn()).location).toBe("/dashboard/runs");
});

test.each([
  ["owner", "owner"],
  [["viewer", "runnel-member"], "member"],
  [["Owner", "admin", 7], null],
  [undefined, null],
])("of %p as a claim the role is %p", (claim, role) => expect(highestRole(claim)).toBe(role as never));
