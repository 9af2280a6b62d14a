import { afterEach, beforeEach, expect, test } from "bun:test";
import { asPage, type ConsoleVisitor, visitorOf, visitorPassword } from "../testing/console-visitor.ts";
import { startMailReceiver } from "../testing/mail-receiver.ts";
import { type TestApp, testApp } from "../testing/test-app.ts";

let receiver: Awaited<ReturnType<typeof startMailReceiver>>;
let server: TestApp;
let owner: ConsoleVisitor;
let at: number;
beforeEach(async () => {
  at = Date.parse("2026-11-23T12:00:00Z");
  receiver = await startMailReceiver();
  server = testApp({ dashboard: true, mail: receiver.settings, now: () => at });
  owner = await visitorOf(server, "owner");
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const password = "another long password";
const ask = (email: string) => asPage(server)("POST", "/password_resets", { email });
const accept = (token: string) => asPage(server)("POST", "/password_resets/accept", { token, password });
const login = (email: string, secret: string) => asPage(server)("POST", "/login", { email, password: secret });
const linkIn = (text: string, page: string): string =>
  new RegExp(`https://localhost/dashboard/${page}#([\\w-]{43})`).exec(text.replaceAll("=\r\n", ""))?.[1] ?? "";

test("an invitation goes to whom it is for, and its link makes the account", async () => {
  const { body } = await owner.send("POST", "/invitations", { email: "bob@example.com", role: "member" });
  expect(body.mailed).toBe(true);
  const { to, text } = await receiver.next();
  expect(to).toEqual(["bob@example.com"]);
  expect(text).toContain("From: runnel <runnel@example.com>");
  const token = linkIn(text, "invite");
  expect(token).toBe(body.token);
  expect((await asPage(server)("POST", "/invitations/accept", { token, password })).status).toBe(201);
});

test("an invitation is created even if the mail server rejects the mail, and its link is shown", async () => {
  receiver.refuse(true);
  const { status, body } = await owner.send("POST", "/invitations", { email: "bob@example.com", role: "member" });
  expect([status, body]).toEqual([201, expect.objectContaining({ mailed: false, token: expect.any(String) })]);
});

test("a forgotten password is reset by a link, once, which ends all sessions and keeps the second factor", async () => {
  const asked = await ask(" Owner@example.com");
  expect([asked.status, asked.body.sent]).toEqual([200, true]);
  const { to, text } = await receiver.next();
  expect(to).toEqual(["owner@example.com"]);
  const token = linkIn(text, "reset");
  expect(server.db.sqlite.serialize().includes(token)).toBe(false);
  expect((await asPage(server)("POST", "/password_resets/accept", { token, password: "short" })).status).toBe(400);
  const answer = await accept(token);
  expect([answer.status, answer.headers.get("set-cookie")]).toEqual([200, null]);
  expect((await owner.send("GET", "/session")).status).toBe(401);
  expect((await login("owner@example.com", visitorPassword)).status).toBe(401);
  expect((await login("owner@example.com", password)).status).toBe(200);
  expect((await accept(token)).body.error.code).toBe("reset_invalid");
});

test("a password reset does not reveal whether an account exists, and cannot flood a mailbox", async () => {
  const [known, unknown] = [await ask("owner@example.com"), await ask("nobody@example.com")];
  expect(unknown.body).toEqual({ ...known.body, request_id: unknown.body.request_id });
  expect((await receiver.next()).to).toEqual(["owner@example.com"]);
  for (let more = 0; more < 4; more++) await ask("owner@example.com");
  expect((await ask("owner@example.com")).status).toBe(429);
});

test("a link is valid for an hour, and void once there is a newer one", async () => {
  await ask("owner@example.com");
  const first = linkIn((await receiver.next()).text, "reset");
  await ask("owner@example.com");
  const second = linkIn((await receiver.next()).text, "reset");
  expect((await accept(first)).body.error.code).toBe("reset_invalid");
  at += 3_600_000;
  expect((await accept(second)).body.error.code).toBe("reset_invalid");
});

test("without a mail server no mail is sent, and the page is told so", async () => {
  expect((await asPage(server)("GET", "/sign_in")).body.mail).toBe(true);
  await using other = testApp({ dashboard: true });
  expect((await asPage(other)("GET", "/sign_in")).body.mail).toBe(false);
  expect((await asPage(other)("POST", "/password_resets", { email: "owner@example.com" })).status).toBe(404);
});
