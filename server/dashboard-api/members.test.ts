import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  asPage,
  type ConsoleVisitor,
  cookieOf,
  signIn,
  visitorOf,
  visitorPassword,
} from "../testing/console-visitor.ts";
import { type TestApp, testApp } from "../testing/test-app.ts";

const day = 24 * 3_600_000;
const password = "another long password";
let at: number;
let server: TestApp;
let owner: ConsoleVisitor;
beforeEach(async () => {
  at = Date.parse("2026-11-21T00:00:00Z");
  server = testApp({ dashboard: true, now: () => at });
  owner = await visitorOf(server, "owner");
});
afterEach(() => server[Symbol.asyncDispose]());

const invite = async (email: string, role = "member") => await owner.send("POST", "/invitations", { email, role });
const accept = (token: string) => asPage(server)("POST", "/invitations/accept", { token, password });
const actions = () =>
  server.db.sqlite
    .query<{ action: string; details: string }, []>("SELECT action, details FROM audit_log ORDER BY id")
    .all();

describe("an invitation", () => {
  test("is a link that makes one account with its role, and signs it in", async () => {
    const { status, body } = await invite(" bob@example.com ");
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^inv_/),
        email: "bob@example.com",
        role: "member",
        token: expect.stringMatching(/^[\w-]{43}$/),
        request_id: expect.any(String),
        created_at: "2026-11-21T00:00:00.000Z",
        expires_at: "2026-11-28T00:00:00.000Z",
      },
    ]);
    const read = await asPage(server)("POST", "/invitations/read", { token: body.token });
    expect(read.body).toMatchObject({ email: "bob@example.com", role: "member" });
    const joined = await accept(body.token);
    expect([joined.status, joined.body.user]).toMatchObject([201, { email: "bob@example.com", role: "member" }]);
    expect((await asPage(server, cookieOf(joined))("GET", "/session")).body.user.role).toBe("member");
    expect((await owner.send("GET", "/people")).body.data).toMatchObject([
      { email: "bob@example.com", role: "member", last_seen_at: expect.any(String) },
      { email: "owner@example.com", role: "owner" },
    ]);
    expect((await owner.send("GET", "/invitations")).body.data).toEqual([]);
    expect((await accept(body.token)).body.error.code).toBe("invitation_invalid");
    expect(JSON.stringify(actions())).not.toContain(body.token);
    expect(server.db.sqlite.serialize().includes(body.token)).toBe(false);
  });

  test("makes one account if it is accepted 10 times at once", async () => {
    const { token } = (await invite("bob@example.com")).body;
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(token)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect((await owner.send("GET", "/people")).body.data).toHaveLength(2);
  });

  test("is void once it is withdrawn, replaced, a week old, or its inviter may no longer invite", async () => {
    const [first, second] = [await invite("bob@example.com"), await invite("BOB@example.com")];
    expect((await accept(first.body.token)).status).toBe(403);
    await owner.send("DELETE", `/invitations/${second.body.id}`);
    expect((await accept(second.body.token)).status).toBe(403);
    const third = await invite("bob@example.com");
    at += 7 * day;
    owner = await signIn(server, owner.email);
    expect((await accept(third.body.token)).body.error.code).toBe("invitation_invalid");
    expect((await owner.send("GET", "/invitations")).body.data).toEqual([]);
    const fourth = await invite("bob@example.com");
    const other = await visitorOf(server, "owner", "other@example.com");
    await other.send("PATCH", `/people/${owner.id}`, { role: "member" });
    expect((await accept(fourth.body.token)).status).toBe(403);
  });

  test("is refused for an address that has an account, or that is none", async () => {
    expect((await invite("OWNER@example.com")).body.error).toMatchObject({ code: "name_taken", param: "email" });
    expect((await invite("owner")).body.error).toMatchObject({ param: "email" });
    expect((await invite("x@example.com", "admin")).body.error).toMatchObject({ param: "role" });
  });
});

describe("people", () => {
  test("get another role or go, which ends their sessions, and the log tells of it", async () => {
    const bob = await visitorOf(server, "viewer", "bob@example.com");
    expect((await owner.send("PATCH", `/people/${bob.id}`, { role: "owner" })).body.role).toBe("owner");
    expect((await owner.send("DELETE", `/people/${bob.id}`)).body).toMatchObject({ id: bob.id, deleted: true });
    expect((await bob.send("GET", "/session")).status).toBe(401);
    expect((await owner.send("DELETE", `/people/${bob.id}`)).status).toBe(404);
    expect(actions().slice(-2)).toEqual([
      {
        action: "user.role_changed",
        details: JSON.stringify({ email: "bob@example.com", from: "viewer", to: "owner" }),
      },
      { action: "user.removed", details: JSON.stringify({ email: "bob@example.com" }) },
    ]);
  });

  test("always have an owner among them, also when two go at once", async () => {
    for (const attempt of [
      () => owner.send("DELETE", `/people/${owner.id}`),
      () => owner.send("PATCH", `/people/${owner.id}`, { role: "member" }),
    ])
      expect((await attempt()).body.error.code).toBe("last_owner");
    const other = await visitorOf(server, "owner", "other@example.com");
    await Promise.all([
      owner.send("PATCH", `/people/${owner.id}`, { role: "viewer" }),
      other.send("PATCH", `/people/${other.id}`, { role: "viewer" }),
    ]);
    const owners = server.db.sqlite.query("SELECT email FROM users WHERE role = 'owner'").all();
    expect(owners).toHaveLength(1);
  });
});

describe("the own account", () => {
  test("changes its password by the old one, which ends every other session", async () => {
    const elsewhere = await signIn(server, owner.email);
    const change = (current_password: string, next = password) =>
      owner.send("POST", "/account/password", { current_password, password: next });
    expect((await change("not the password")).body.error).toMatchObject({
      code: "validation_failed",
      param: "current_password",
    });
    expect((await change(visitorPassword, "short")).body.error.param).toBe("password");
    expect((await change(visitorPassword)).body).toMatchObject({ changed: true });
    expect((await owner.send("GET", "/session")).status).toBe(200);
    expect((await elsewhere.send("GET", "/session")).status).toBe(401);
    expect((await asPage(server)("POST", "/login", { email: owner.email, password: visitorPassword })).status).toBe(
      401,
    );
    await signIn(server, owner.email, password);
  });

  test("gets five guesses at the old password", async () => {
    const guess = () => owner.send("POST", "/account/password", { current_password: "guess guess", password });
    for (let i = 0; i < 5; i++) expect((await guess()).status).toBe(400);
    const refused = await guess();
    expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limited"]);
  });

  test("lists its own sessions and ends one or all others, but none of other accounts", async () => {
    const [phone, tablet] = [await signIn(server, owner.email), await signIn(server, owner.email)];
    const bob = await visitorOf(server, "member", "bob@example.com");
    const { data } = (await phone.send("GET", "/account/sessions")).body;
    expect(data).toHaveLength(3);
    expect(data.filter(({ current }: { current: boolean }) => current)).toEqual([
      {
        id: expect.stringMatching(/^ses_\w{26}$/),
        user_agent: "test browser",
        ip: null,
        current: true,
        created_at: expect.any(String),
        last_seen_at: expect.any(String),
      },
    ]);
    const own = data.find(({ current }: { current: boolean }) => current).id;
    expect((await bob.send("DELETE", `/account/sessions/${own}`)).status).toBe(404);
    expect((await tablet.send("DELETE", `/account/sessions/${own}`)).status).toBe(200);
    expect((await phone.send("GET", "/session")).status).toBe(401);
    expect((await tablet.send("DELETE", "/account/sessions")).body.ended).toBe(1);
    expect((await owner.send("GET", "/session")).status).toBe(401);
    expect((await tablet.send("GET", "/session")).status).toBe(200);
    expect((await bob.send("GET", "/session")).status).toBe(200);
  });
});
