import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createAudit } from "../storage/db/audit.ts";
import { createAuthenticator, type Wrong } from "../testing/authenticator.ts";
import {
  asPage,
  type ConsoleVisitor,
  cookieOf,
  visitorPassword as password,
  visitorOf,
} from "../testing/console-visitor.ts";
import { testActor } from "../testing/test-actor.ts";
import { type TestApp, testApp } from "../testing/test-app.ts";
import { base32, codeOf, removeFactors, stepAt, stepOf } from "./second-factor.ts";

let at: number;
let server: TestApp;
let ada: ConsoleVisitor;
beforeEach(async () => {
  at = Date.parse("2026-11-23T12:00:00Z");
  server = testApp({ dashboard: true, now: () => at });
  ada = await visitorOf(server, "member", "ada@example.com");
});
afterEach(() => server[Symbol.asyncDispose]());

const login = (code?: string, email = "ada@example.com") => asPage(server)("POST", "/login", { email, password, code });
const errorOf = ({ body }: { body: { error?: { code: string } } }) => body.error?.code;
const actions = () =>
  server.db.sqlite
    .query<{ action: string }, []>("SELECT action FROM audit_log ORDER BY id")
    .all()
    .map(({ action }) => action);

/** Adds an authenticator app and returns a function for its codes. */
async function addApp() {
  const { secret, uri } = (await ada.send("POST", "/account/totp", { password })).body;
  expect(uri).toBe(`otpauth://totp/runnel%3Aada%40example.com?secret=${secret}&issuer=runnel`);
  const row = server.db.sqlite.query<{ sealed: string }, []>("SELECT sealed FROM totp").get()!;
  expect(row.sealed).not.toContain(secret);
  const bytes = fromBase32(secret);
  const shows = (ms = at) => codeOf(bytes, stepAt(ms));
  const confirmed = await ada.send("POST", "/account/totp/confirm", { code: shows() });
  at += 60_000;
  return { shows, codes: confirmed.body.recovery_codes as string[] };
}

function fromBase32(text: string): Uint8Array {
  const bits = [...text]
    .map((one) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(one).toString(2).padStart(5, "0"))
    .join("");
  return Uint8Array.from(bits.match(/.{8}/g)!, (eight) => Number.parseInt(eight, 2));
}

describe("a code", () => {
  // RFC 6238, appendix B: the last six of its eight digits.
  test.each([
    [59, "287082"],
    [1_111_111_109, "081804"],
    [1_234_567_890, "005924"],
    [20_000_000_000, "353130"],
  ])("at %p s the code is %p, as in the standard", (seconds, code) =>
    expect(codeOf(Buffer.from("12345678901234567890"), stepAt(seconds * 1000))).toBe(code),
  );

  test("counts for half a minute on either side, and never again once it was taken", () => {
    const secret = Buffer.from("12345678901234567890");
    const step = stepAt(at);
    for (const off of [-1, 0, 1]) expect(stepOf(secret, codeOf(secret, step + off), at, 0)).toBe(step + off);
    for (const off of [-2, 2]) expect(stepOf(secret, codeOf(secret, step + off), at, 0)).toBeNull();
    expect(stepOf(secret, codeOf(secret, step), at, step)).toBeNull();
    expect(base32(Buffer.from("foobar"))).toBe("MZXW6YTBOI");
  });
});

describe("an account with an authenticator app", () => {
  test("opens by the password and a code, each code once", async () => {
    const { shows } = await addApp();
    expect(errorOf(await login())).toBe("second_factor_required");
    expect(
      errorOf(await asPage(server)("POST", "/login", { email: "ada@example.com", password: "wrong", code: shows() })),
    ).toBe("invalid_login");
    expect((await login(`${shows().slice(0, 3)} ${shows().slice(3)}`)).status).toBe(200);
    expect(errorOf(await login(shows()))).toBe("invalid_code");
    at += 30_000;
    expect((await login(shows())).status).toBe(200);
  });

  test("admits one of many concurrent sign-ins with the same code", async () => {
    const { shows } = await addApp();
    const answers = await Promise.all([1, 2, 3, 4].map(() => login(shows())));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  test("takes no code before the first one was given, and a wrong first one turns nothing on", async () => {
    await ada.send("POST", "/account/totp", { password });
    expect((await ada.send("POST", "/account/totp/confirm", { code: "000000" })).status).toBe(400);
    expect((await login()).status).toBe(200);
    expect((await ada.send("GET", "/account/factors")).body).toMatchObject({ password: true, totp: false });
  });

  test("allows five guesses in 15 minutes from all addresses together, even with the password", async () => {
    const { shows } = await addApp();
    for (let guess = 0; guess < 5; guess++) {
      expect(errorOf(await login("000000"))).toBe("invalid_code");
      expect(errorOf(await login())).toBe("second_factor_required"); // This must not reset the count of guesses.
    }
    expect(errorOf(await login(shows()))).toBe("rate_limited");
    at += 15 * 60_000;
    expect((await login(shows())).status).toBe(200);
  });

  test("opens by a recovery code where the app is lost, each once, and new ones make the old ones void", async () => {
    const { codes } = await addApp();
    expect(codes).toHaveLength(10);
    expect((await login(codes[0]!.toUpperCase())).status).toBe(200);
    expect(errorOf(await login(codes[0]))).toBe("invalid_code");
    expect((await ada.send("GET", "/account/factors")).body).toMatchObject({ totp: true, recovery_codes: 9 });
    const renewed = (await ada.send("POST", "/account/recovery_codes", { password })).body.recovery_codes;
    expect(errorOf(await login(codes[1]))).toBe("invalid_code");
    expect((await login(renewed[1])).status).toBe(200);
    expect(server.db.sqlite.serialize().includes(renewed[2]!.replaceAll("-", "").toUpperCase())).toBe(false);
  });

  test("changes its own factors only with its password, and not those of others", async () => {
    await addApp();
    for (const path of ["/account/totp", "/account/totp/remove", "/account/recovery_codes", "/account/passkeys/begin"])
      expect((await ada.send("POST", path, { password: "not the password" })).body.error.param).toBe("password");
    const bob = await visitorOf(server, "owner", "bob@example.com");
    expect((await bob.send("POST", "/account/totp/remove", { password })).status).toBe(200);
    expect(errorOf(await login())).toBe("second_factor_required");
    await ada.send("POST", "/account/totp/remove", { password });
    expect((await login()).status).toBe(200);
    expect(actions()).toEqual(expect.arrayContaining(["user.totp_added", "user.totp_removed"]));
  });

  test("is reset by the operator, who removes it entirely", async () => {
    await addApp();
    const gone = await removeFactors(
      { db: server.db, audit: createAudit({ db: server.db }) },
      "ADA@example.com",
      testActor,
    );
    expect(gone).toMatchObject({ email: "ada@example.com", totp: true, passkeys: 0 });
    expect((await ada.send("GET", "/session")).status).toBe(401);
    expect((await login()).status).toBe(200);
    expect(actions()).toContain("user.second_factor_removed");
  });
});

describe("a passkey", () => {
  const page = "http://localhost";
  async function addKey(wrong: Wrong = {}) {
    const device = await createAuthenticator(page);
    const { options } = (await ada.send("POST", "/account/passkeys/begin", { password })).body;
    const response = device.make(options, wrong);
    const added = await ada.send("POST", "/account/passkeys", { name: "laptop", response });
    return { device, added, response };
  }
  const begin = async () => (await asPage(server)("POST", "/passkeys/begin", {})).body.options;
  const signIn = (response: object) => asPage(server)("POST", "/passkeys/sign_in", { response });

  test("signs in by itself, also where the password asks for a code", async () => {
    const { device, added } = await addKey();
    expect(added).toMatchObject({ status: 201, body: { name: "laptop", last_used_at: null } });
    await addApp();
    const answer = await signIn(await device.sign(await begin()));
    expect([answer.status, answer.body.user]).toEqual([200, expect.objectContaining({ email: "ada@example.com" })]);
    expect((await asPage(server, cookieOf(answer))("GET", "/session")).status).toBe(200);
    expect((await ada.send("GET", "/account/factors")).body.passkeys).toMatchObject([
      { last_used_at: expect.any(String) },
    ]);
  });

  const wrongs: [string, Wrong][] = [
    ["another page", { origin: "https://evil.example" }],
    ["another server's name", { rpId: "evil.example" }],
    ["a challenge that nobody gave", { challenge: "AAAA" }],
    ["nobody who was verified", { verified: false }],
    ["something else", { type: "webauthn.other" }],
  ];
  test.each(wrongs)("is not taken for %s", async (_, wrong) => {
    expect((await addKey(wrong)).added.status).toBe(400);
    const { device } = await addKey();
    expect(errorOf(await signIn(await device.sign(await begin(), wrong)))).toBe("invalid_login");
  });

  test("opens nothing by another key, an answer that was seen, or a counter that does not grow", async () => {
    const { device } = await addKey();
    expect(errorOf(await signIn(await device.sign(await begin(), { foreign: true })))).toBe("invalid_login");
    const answer = await device.sign(await begin());
    expect((await signIn(answer)).status).toBe(200);
    expect(errorOf(await signIn(answer))).toBe("invalid_login");
    expect(errorOf(await signIn(await device.sign(await begin(), { counter: 1 })))).toBe("invalid_login");
    expect(errorOf(await signIn({ ...(await device.sign(await begin())), id: "other" }))).toBe("invalid_login");
    const late = await device.sign(await begin());
    at += 5 * 60_000;
    expect(errorOf(await signIn(late))).toBe("invalid_login");
  });

  test("is added once, by the account that got the challenge, and is useless once removed", async () => {
    const { device, added, response } = await addKey();
    expect((await ada.send("POST", "/account/passkeys", { name: "again", response })).status).toBe(400);
    const bob = await visitorOf(server, "owner", "bob@example.com");
    const { options } = (await ada.send("POST", "/account/passkeys/begin", { password })).body;
    const made = (await createAuthenticator(page)).make(options);
    expect((await bob.send("POST", "/account/passkeys", { name: "mine", response: made })).status).toBe(400);
    expect((await bob.send("DELETE", `/account/passkeys/${added.body.id}`)).status).toBe(404);
    expect((await ada.send("DELETE", `/account/passkeys/${added.body.id}`)).status).toBe(200);
    expect(errorOf(await signIn(await device.sign(await begin())))).toBe("invalid_login");
    expect(actions()).toEqual(expect.arrayContaining(["user.passkey_added", "user.passkey_removed"]));
  });
});
