import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { TriggerVerification } from "../../domain/api-types/enums.ts";
import { verify } from "./verify.ts";

const check = (
  verification: TriggerVerification,
  secrets: string[],
  headers: Record<string, string>,
  body: string | Uint8Array,
  now = Date.now(),
  secret_header: string | null = null,
) => verify({ verification, secret_header }, secrets, { headers: new Headers(headers), body: Buffer.from(body) }, now);

const isRight = (verdict: ReturnType<typeof check>) => "signed" in verdict;
const hmac = (secret: string, text: string | Buffer) => createHmac("sha256", secret).update(text).digest("hex");

describe("the senders' own examples", () => {
  const github = {
    "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
  };
  const secret = "It's a Secret to Everybody";

  test("GitHub's is right, and wrong with another body or secret", () => {
    expect(isRight(check("github", [secret], github, "Hello, World!"))).toBe(true);
    expect(isRight(check("github", [secret], github, "Hello, World"))).toBe(false);
    expect(isRight(check("github", ["It's another secret"], github, "Hello, World!"))).toBe(false);
  });

  test("Slack's is right within five minutes", () => {
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = {
      "X-Slack-Request-Timestamp": "1531420618",
      "X-Slack-Signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    const at = 1_531_420_618_000;
    const key = "8f742231b10e8888abcd99yyyzzz85a5";
    expect(isRight(check("slack", [key], headers, body, at))).toBe(true);
    expect(check("slack", [key], headers, body, at + 301_000)).toEqual({
      refusal: "The signature is older or newer than five minutes.",
    });
    expect(isRight(check("slack", [key], { ...headers, "X-Slack-Request-Timestamp": "1531420619" }, body, at))).toBe(
      false,
    );
  });

  test("that of Standard Webhooks is right, also with the older header names", () => {
    const key = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const fields = {
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      timestamp: "1614265330",
      signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    const named = (prefix: string) =>
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${prefix}-${name}`, value]));
    const body = '{"test": 2432232314}';
    for (const prefix of ["webhook", "svix"])
      expect(isRight(check("standard_webhooks", [key], named(prefix), body, 1_614_265_330_000))).toBe(true);
    expect(isRight(check("standard_webhooks", [key], named("webhook"), body))).toBe(false);
  });
});

test("a signature of the library of Standard Webhooks is right among several", () => {
  const key = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const at = new Date(1_700_000_000_000);
  const signature = new Webhook(key).sign("msg_1", at, "{}");
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": "1700000000",
    "webhook-signature": `v1a,c2ln v1,${Buffer.alloc(32).toString("base64")} ${signature}`,
  };
  expect(isRight(check("standard_webhooks", [key], headers, "{}", at.getTime()))).toBe(true);
});

describe("Stripe", () => {
  // The key is the whole text of the secret, unlike that of Standard Webhooks with the same prefix.
  const secret = "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH";
  const body = '{\n  "id": "evt_1",\n  "object": "event"\n}';
  const at = 1_700_000_000;
  const right = hmac(secret, `${at}.${body}`);

  test("is right with several signatures, in any order and with spaces", () => {
    const wrong = "0".repeat(64);
    for (const header of [`t=${at},v1=${right}`, `t=${at},v1=${wrong},v1=${right},v0=${wrong}`, `v1=${right}, t=${at}`])
      expect(isRight(check("stripe", [secret], { "stripe-signature": header }, body, at * 1000))).toBe(true);
  });

  test("is wrong with v0 only, without a time, and with a time that is none", () => {
    for (const header of [`t=${at},v0=${right}`, `v1=${right}`, `t=NaN,v1=${right}`, `t=${at}.5,v1=${right}`, `t=,v1=`])
      expect(isRight(check("stripe", [secret], { "stripe-signature": header }, body, at * 1000))).toBe(false);
  });

  test("a clock that is off by five minutes is tolerated in both directions, and by more in neither", () => {
    const verdictAt = (seconds: number) =>
      isRight(check("stripe", [secret], { "stripe-signature": `t=${at},v1=${right}` }, body, (at + seconds) * 1000));
    expect([-301, -300, 300, 301].map(verdictAt)).toEqual([false, true, true, false]);
  });
});

describe("reports of other receivers", () => {
  const secret = "a secret of the sender";
  const signed = (body: string | Buffer) => ({ "X-Hub-Signature-256": `sha256=${hmac(secret, body)}` });

  test("the bytes are verified, so that spaces and the order of keys count", () => {
    const body = '{"b":1.0, "a":"\\u00e9"}';
    expect(isRight(check("github", [secret], signed(body), body))).toBe(true);
    expect(isRight(check("github", [secret], signed(body), JSON.stringify(JSON.parse(body))))).toBe(false);
  });

  test("emoji and bytes that are no UTF-8 have a right signature", () => {
    for (const body of [Buffer.from('{"a":"🚒 ’ –"}'), Buffer.from([0xff, 0xfe, 0x00, 0xe9])])
      expect(isRight(check("github", [secret], signed(body), body))).toBe(true);
  });

  test("a signature of another length is wrong, and no error", () => {
    for (const header of ["", "sha256=", "sha256=abc", `sha256=${"a".repeat(65)}`, `sha1=${"a".repeat(40)}`, "é"])
      expect(isRight(check("github", [secret], { "x-hub-signature-256": header }, "x"))).toBe(false);
  });

  test("a signature in capitals is right, and an empty body has one too", () => {
    const header = { "x-hub-signature-256": `sha256=${hmac(secret, "").toUpperCase()}` };
    expect(isRight(check("github", [secret], header, ""))).toBe(true);
  });

  test("without a secret nothing is right, not even what was signed with an empty one", () => {
    const header = { "x-hub-signature-256": `sha256=${hmac("", "x")}` };
    expect(isRight(check("github", [], header, "x"))).toBe(false);
    expect(isRight(check("shared_secret", [], { authorization: "Bearer " }, "x"))).toBe(false);
  });

  test("an id with a dot cannot move the border between the signed fields", () => {
    const key = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const at = new Date(1_700_000_000_000);
    const signature = new Webhook(key).sign("msg_1", at, "1700000000.{}");
    const headers = {
      "webhook-id": "msg_1.1700000000",
      "webhook-timestamp": "1700000000",
      "webhook-signature": signature,
    };
    expect(isRight(check("standard_webhooks", [key], headers, "{}", at.getTime()))).toBe(false);
  });
});

test("during a rotation both secrets are right", () => {
  const header = { "x-hub-signature-256": `sha256=${hmac("the former secret", "x")}` };
  expect(isRight(check("github", ["the new secret", "the former secret"], header, "x"))).toBe(true);
  expect(isRight(check("github", ["the new secret"], header, "x"))).toBe(false);
});

test("a shared secret is a bearer token, a password, or in a header of your choice", () => {
  const secret = "sixteen characters";
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
  expect(isRight(check("shared_secret", ["tokentokentoken1"], { authorization: "bearer tokentokentoken1" }, ""))).toBe(
    true,
  );
  expect(isRight(check("shared_secret", [secret], basic(`mail:${secret}`), ""))).toBe(true);
  expect(isRight(check("shared_secret", ["a:b:c:d"], basic("mail:a:b:c:d"), ""))).toBe(true);
  expect(isRight(check("shared_secret", [secret], basic(`${secret}:`), ""))).toBe(true);
  expect(isRight(check("shared_secret", [secret], basic("mail:wrong"), ""))).toBe(false);
  expect(isRight(check("shared_secret", [secret], {}, ""))).toBe(false);
  expect(isRight(check("shared_secret", [secret], { "X-Token": secret }, "", 0, "x-token"))).toBe(true);
  expect(isRight(check("shared_secret", [secret], { authorization: `Bearer ${secret}` }, "", 0, "x-token"))).toBe(
    false,
  );
});
