import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { type Client, testApp } from "../../testing/test-app.ts";

// Habits of real senders of events, which receivers elsewhere met.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());
let client: Client;
let agent_id: string;
beforeAll(async () => {
  client = await server.client();
  const agent = await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
  agent_id = agent.body.id;
});

const hmac = (secret: string, text: string | Uint8Array): string =>
  createHmac("sha256", secret).update(text).digest("hex");

async function newTrigger(more: object) {
  const { status, body } = await client.post("/v1/triggers", { name: "t", agent_id, ...more });
  expect([status, body.error]).toEqual([201, undefined]);
  return body;
}

async function post(url: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>, suffix = "") {
  const { pathname } = new URL(url);
  const request = new Request(`http://localhost${pathname}${suffix}`, { method: "POST", headers, body });
  const response = await server.app.handle(request);
  const text = await response.text();
  return { status: response.status, text, body: text.startsWith("{") ? JSON.parse(text) : null };
}

/** Sends a body to a new trigger with a shared secret. Returns the input of its run, or the status and the code. */
async function inputOf(
  input: string | null,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
  more: object = {},
) {
  const { url, secret } = await newTrigger({ verification: "shared_secret", input, ...more });
  const answer = await post(url, body, { authorization: `Bearer ${secret}`, ...headers });
  if (!answer.body.run_id) return [answer.status, answer.body.error.code];
  return (await client.get(`/v1/runs/${answer.body.run_id}`)).body.input;
}

const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };

test("JSON that is sent as a plain text is named like any other, and a text that is no JSON stays a text", async () => {
  const notification = '{"Type": "Notification", "Message": "Disk full"}';
  const plain = { "content-type": "text/plain; charset=UTF-8" };
  expect(await inputOf("{{body.Message}}", notification, plain)).toBe("Disk full");
  expect(await inputOf("{{body[0].a}}", '[{"a": 1}]', { "content-type": "text/plain" })).toBe("1");
  for (const text of ["{not json", "[ERROR] disk full", "{{body.x}}", "123", '"quoted"', "true"])
    expect(await inputOf("{{body}}", text, plain)).toBe(text);
});

test("a list at the top is an event with places", async () => {
  const events = JSON.stringify([{ email: "a@example.com", event: "bounce" }, { event: "open" }]);
  expect(await inputOf("{{body[0].event}} {{body[1].event}}", events, json)).toBe("bounce open");
});

test("a byte order mark is no part of the first name of a form", async () => {
  expect(await inputOf("{{body.a}}", "\ufeffa=1&b=2", form)).toBe("1");
});

test("an emoji that was cut in half arrives, and no run is lost", async () => {
  expect(await inputOf("Said: {{body.text}}", '{"text": "Hi \\ud83d"}', json)).toBe("Said: Hi \ufffd");
  expect(await inputOf(null, '{"text": "Hi \\ud83d"}', json)).toContain("Hi ");
});

test("a NUL character and other control characters arrive", async () => {
  const said = await inputOf("Said: {{body.text}}", '{"text": "a\\u0000b\\u0007"}', json);
  expect(said).toStartWith("Said: a");
});

test("names that every object has are only names in an event, and one that could reach a prototype is refused by its name", async () => {
  const event = '{"toString": "x", "hasOwnProperty": 1, "length": 2, "valueOf": null}';
  expect(await inputOf("{{body.toString}} {{body.length}}", event, json)).toBe("x 2");
  const { id, url, secret } = await newTrigger({ verification: "shared_secret", input: "Go" });
  for (const [body, reason] of [
    ['{"a": {"constructor": "ArrayList"}}', "validation_failed: a.constructor: this key is not allowed."],
    ['{"a": [{"__proto__": {"isAdmin": true}}]}', "validation_failed: a[0].__proto__: this key is not allowed."],
  ] as const) {
    expect((await post(url, body, { ...json, authorization: `Bearer ${secret}` })).status).toBe(400);
    const [delivery] = (await client.get(`/v1/triggers/${id}/deliveries`)).body.data;
    expect(delivery).toMatchObject({ outcome: "failed", reason });
  }
  expect(Object.hasOwn(Object.prototype, "isAdmin")).toBe(false);
});

test("an address with a slash at its end or a query is the same address", async () => {
  const { url, secret } = await newTrigger({ verification: "github", input: "Go" });
  for (const suffix of ["", "/", "?source=github", "/?a=b"]) {
    const body = JSON.stringify({ suffix });
    const headers = { ...json, "x-hub-signature-256": `sha256=${hmac(secret, body)}`, "x-github-delivery": suffix };
    expect([suffix, (await post(url, body, headers, suffix)).status]).toEqual([suffix, 202]);
  }
});

const slackHeaders = (secret: string, body: string) => {
  const at = String(Math.floor(Date.now() / 1000));
  return { "x-slack-request-timestamp": at, "x-slack-signature": `v0=${hmac(secret, `v0:${at}:${body}`)}` };
};

test("Slack's check of the address is answered also while the trigger is off, filters, or its agent is gone", async () => {
  const { id, url } = await newTrigger({
    verification: "slack",
    enabled: false,
    input: "{{body.event.text}}",
    on_missing: "reject",
    filter: [{ path: "body.type", in: ["event_callback"] }],
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
  });
  const body =
    '{"token":"x","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}';
  const secret = "8f742231b10e8888abcd99yyyzzz85a5";
  const answer = await post(url, body, { ...json, ...slackHeaders(secret, body) });
  expect([answer.status, answer.text]).toEqual([200, "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"]);
  expect((await client.get(`/v1/triggers/${id}`)).body.last_run_id).toBeNull();
});

test("an interactive message of Slack is JSON in a form, and its spaces are pluses or percents", async () => {
  const secret = "8f742231b10e8888abcd99yyyzzz85a5";
  const payload = { type: "block_actions", user: { id: "U1" }, actions: [{ value: "yes + no 100%" }] };
  const bodies = [
    `payload=${encodeURIComponent(JSON.stringify(payload))}`,
    new URLSearchParams({ payload: JSON.stringify(payload) }).toString(),
  ];
  for (const body of bodies) {
    const { url, id } = await newTrigger({
      verification: "slack",
      secret,
      input: "{{body.payload.user.id}}: {{body.payload.actions[0].value}}",
    });
    expect((await post(url, body, { ...form, ...slackHeaders(secret, body) })).status).toBe(200);
    const [{ run_id }] = (await client.get(`/v1/triggers/${id}/deliveries`)).body.data;
    expect((await client.get(`/v1/runs/${run_id}`)).body.input).toBe("U1: yes + no 100%");
  }
});

test("GitHub's older signature alone is refused, and beside the newer one it is ignored", async () => {
  const { url, secret } = await newTrigger({ verification: "github", input: "Go" });
  const sha1 = `sha1=${createHmac("sha1", secret).update("{}").digest("hex")}`;
  const sha256 = `sha256=${hmac(secret, "{}")}`;
  expect((await post(url, "{}", { ...json, "x-hub-signature": sha1 })).status).toBe(401);
  const both = { ...json, "x-hub-signature": "sha1=0", "x-hub-signature-256": sha256 };
  expect((await post(url, "{}", both)).status).toBe(202);
});

test("the signature is of the bytes as they came: spaces, line ends and escapes stay", async () => {
  const { url, secret } = await newTrigger({ verification: "github", input: "{{body.a}}" });
  for (const body of ['{ "a" : "\\u00fc\\/" }\r\n', '{"a":"ü/"}', '{"a": 1.0}', '\ufeff{"a":"x"}']) {
    const headers = {
      ...json,
      "x-hub-signature-256": `sha256=${hmac(secret, body)}`,
      "x-github-delivery": encodeURIComponent(body),
    };
    expect([body, (await post(url, body, headers)).status]).toEqual([body, 202]);
    const written = JSON.stringify(JSON.parse(body.replace("\ufeff", "")));
    if (written !== body) expect((await post(url, `${written} `, headers)).status).toBe(401);
  }
});
