import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, testApp } from "../../testing/test-app.ts";

// E-mails as Postmark, Mailgun and SendGrid post them, with the credentials of the address that they were given.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());
let client: Client;
let agent_id: string;
beforeAll(async () => {
  client = await server.client();
  const agent = await client.post("/v1/agents", { name: "desk", instructions: "", model: "test/echo" });
  agent_id = agent.body.id;
});

async function newAddress(input: string, more: object = {}) {
  const verification = "shared_secret";
  const { body } = await client.post("/v1/triggers", { name: "mail", agent_id, verification, input, ...more });
  const authorization = `Basic ${Buffer.from(`mail:${body.secret}`).toString("base64")}`;
  return async (
    payload: string | FormData | URLSearchParams | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ) => {
    const { pathname } = new URL(body.url);
    const request = new Request(`http://localhost${pathname}`, {
      method: "POST",
      headers: { authorization, ...headers },
      body: payload,
    });
    const response = await server.app.handle(request);
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
}
const inputOf = async ({ body }: { body: { run_id: string } }) =>
  (await client.get(`/v1/runs/${body.run_id}`)).body.input;

test("an e-mail of Postmark is JSON, and is answered with 200, because it repeats everything else", async () => {
  const post = await newAddress("{{body.FromFull.Email}}: {{body.Subject}}\n{{body.StrippedTextReply}}", {
    dedupe: "body.MessageID",
  });
  const mail = JSON.stringify({
    FromName: "Postmarkapp Support",
    MessageStream: "inbound",
    From: "support@postmarkapp.com",
    FromFull: { Email: "support@postmarkapp.com", Name: "Postmarkapp Support", MailboxHash: "" },
    Subject: "Test subject",
    MessageID: "73e6d360-66eb-11e1-8e72-a8904824019b",
    TextBody: "This is a test text body.",
    StrippedTextReply: "This is the reply text",
    Headers: [{ Name: "X-Header-Test", Value: "" }],
    Attachments: [{ Name: "test.txt", Content: "VGhpcw==", ContentType: "text/plain", ContentLength: 45 }],
  });
  const type = { "content-type": "application/json; charset=utf-8" };
  const sent = await post(mail, type);
  expect(sent.status).toBe(200);
  expect(await inputOf(sent)).toBe("support@postmarkapp.com: Test subject\nThis is the reply text");
  expect((await post(mail, type)).body).toMatchObject({ outcome: "duplicate", run_id: sent.body.run_id });
});

test("an e-mail of Mailgun is a form, and a multipart form if it has attachments", async () => {
  const post = await newAddress("{{body.from}}: {{body.subject}}\n{{body.stripped-text}}{{body.attachment-1}}");
  const fields = {
    recipient: "desk@mail.example.com",
    sender: "bob@example.com",
    from: "Bob <bob@example.com>",
    subject: "Größe & Farbe?",
    "body-plain": "Which size?\n\n> quoted",
    "stripped-text": "Which size?",
    timestamp: "1763715600",
    token: "c5b8e7f1a9",
    signature: "f".repeat(64),
    "message-headers": '[["Subject", "x"]]',
  };
  const expected = "Bob <bob@example.com>: Größe & Farbe?\nWhich size?";
  expect(await inputOf(await post(new URLSearchParams(fields)))).toBe(expected);
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set("attachment-count", "1");
  form.set(
    "attachment-1",
    new File([new Uint8Array([0, 1, 2, 255])], "größe.bin", { type: "application/octet-stream" }),
  );
  expect(await inputOf(await post(form))).toBe(
    `${expected}{"filename":"größe.bin","content_type":"application/octet-stream","size_bytes":4}`,
  );
});

test("an e-mail of SendGrid is a multipart form whose fields have charsets of their own", async () => {
  const post = await newAddress("{{body.subject}}\n{{body.text}}\n{{body.html}}");
  const boundary = "xYzZY";
  const field = (name: string, value: Uint8Array | string) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
    Buffer.from(value),
    Buffer.from("\r\n"),
  ];
  const mail = Buffer.concat([
    ...field(
      "charsets",
      '{"to":"UTF-8","subject":"UTF-8","text":"iso-2022-jp","html":"iso-8859-1","from":"x-unknown"}',
    ),
    ...field("from", "Ann <ann@example.com>"),
    ...field("subject", "日本語です"),
    ...field("text", Buffer.from("\x1B$BF|K\\8l$G$9\x1B(B", "latin1")),
    ...field("html", Buffer.from("<p>Café</p>", "latin1")),
    ...field("envelope", '{"to":["desk@example.com"],"from":"ann@example.com"}'),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  const sent = await post(mail, { "content-type": `multipart/form-data; boundary=${boundary}` });
  expect(await inputOf(sent)).toBe("日本語です\n日本語です\n<p>Café</p>");
});

test("fields that come twice are a list, and names such as __proto__ are only names", async () => {
  const post = await newAddress("{{body.to}} {{body.__proto__}}{{body.constructor}}");
  const sent = await post(new URLSearchParams("to=a&to=b&__proto__=x"));
  expect(await inputOf(sent)).toBe('["a","b"] x');
});
