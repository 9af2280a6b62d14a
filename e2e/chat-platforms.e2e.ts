import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { createExampleRunner, nodeForTypeScript, programOf, pythonForExamples, type Runtime } from "./doc-examples.ts";
import { createScripted, createTool } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { waitUntil } from "./until.ts";

// Programs of the chat platform guides, in both languages, against stand-ins of the platforms. Requests and responses
// have the documented form.

const python = await pythonForExamples();
const node = await nodeForTypeScript();

let server: Runnel;
let runner: Awaited<ReturnType<typeof createExampleRunner>>;
beforeAll(async () => {
  server = await startRunnel();
  runner = await createExampleRunner(server, { python, node });
});
afterAll(async () => {
  runner[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

/** A message on a platform. */
interface Said {
  id: number;
  text: string;
  conversation: number;
  /** Number of earlier messages in this conversation. */
  before: number;
}

interface Sent {
  headers: Record<string, string>;
  body: string;
}

interface Posted {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Json;
}

interface Platform {
  environment(api: string): Record<string, string>;
  /** Returns the platform's request for a message. */
  tell(said: Said): Sent;
  /** Returns the same request from a sender that is not the platform. */
  forge(sent: Sent): Sent;
  /** Verification request of the platform, and the expected response. */
  handshake?: { sent: () => Sent; answer: string };
  /** Response of the platform to an accepted post. */
  taken: Json;
  /** The expected post that answers a message. */
  expected(said: Said, text: string): Partial<Posted>;
}

const json = { "content-type": "application/json" };

const slackSecret = "8f742231b10e8888abcd99yyyzzz85a5";
function signedBySlack(value: object): Sent {
  const [body, time] = [JSON.stringify(value), String(Math.floor(Date.now() / 1000))];
  const mac = createHmac("sha256", slackSecret).update(`v0:${time}:${body}`).digest("hex");
  return { body, headers: { ...json, "x-slack-request-timestamp": time, "x-slack-signature": `v0=${mac}` } };
}

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const discordKey = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
function signedByDiscord(value: object): Sent {
  const [body, time] = [JSON.stringify(value), String(Math.floor(Date.now() / 1000))];
  const signature = sign(null, Buffer.from(time + body), privateKey).toString("hex");
  return { body, headers: { ...json, "x-signature-timestamp": time, "x-signature-ed25519": signature } };
}

const longAgo = String(Math.floor(Date.now() / 1000) - 3600);
const ts = (conversation: number, at = 0): string => `${1_700_000_000 + conversation}.${String(at).padStart(6, "0")}`;
const mail = (conversation: number, at = 0): string => `<${conversation}.${at}@mail.example.com>`;

const platforms: Record<string, Platform> = {
  slack: {
    environment: (api) => ({ SLACK_API: api, SLACK_SIGNING_SECRET: slackSecret, SLACK_BOT_TOKEN: "xoxb-1" }),
    tell: ({ id, text, conversation, before }) =>
      signedBySlack({
        token: "unused",
        team_id: "T061EG9R6",
        api_app_id: "A0MDYCDME",
        type: "event_callback",
        event_id: `Ev${id}`,
        event: {
          type: "app_mention",
          user: "U061F7AUR",
          text: `<@U0LAN0Z89> ${text}`,
          channel: "C0LAN2Q65",
          ts: ts(conversation, before),
          ...(before > 0 && { thread_ts: ts(conversation) }),
        },
      }),
    forge: ({ headers, body }) => ({ body, headers: { ...headers, "x-slack-request-timestamp": longAgo } }),
    handshake: {
      sent: () =>
        signedBySlack({ type: "url_verification", token: "unused", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY" }),
      answer: "3eZbrw1aBm2rZgRNFdxV2595E9CY",
    },
    taken: { ok: true },
    expected: ({ conversation }, text) => ({
      method: "POST",
      path: "/chat.postMessage",
      headers: expect.objectContaining({ authorization: "Bearer xoxb-1" }),
      body: { channel: "C0LAN2Q65", thread_ts: ts(conversation), text },
    }),
  },
  discord: {
    environment: (api) => ({ DISCORD_API: api, DISCORD_PUBLIC_KEY: discordKey }),
    tell: ({ id, text, conversation }) =>
      signedByDiscord({
        id: String(id),
        application_id: "775799577604522054",
        type: 2,
        token: `token-${id}`,
        version: 1,
        channel_id: `64566443320${conversation}`,
        member: { user: { id: "53908232506183680", username: "Mason" } },
        data: { id: "771825006014889984", name: "ask", type: 1, options: [{ name: "text", type: 3, value: text }] },
      }),
    forge: ({ headers, body }) => ({ body: `${body} `, headers }),
    handshake: { sent: () => signedByDiscord({ id: "1", type: 1, version: 1 }), answer: '{"type":1}' },
    taken: { id: "1" },
    expected: ({ id }, text) => ({
      method: "PATCH",
      path: `/webhooks/775799577604522054/token-${id}/messages/@original`,
      body: { content: text },
    }),
  },
  telegram: {
    environment: (api) => ({ TELEGRAM_API: api, TELEGRAM_TOKEN: "123:abc", TELEGRAM_SECRET: "a-secret" }),
    tell: ({ id, text, conversation }) => ({
      headers: { ...json, "x-telegram-bot-api-secret-token": "a-secret" },
      body: JSON.stringify({
        update_id: id,
        message: {
          message_id: id,
          date: 1_700_000_000,
          text,
          from: { id: conversation, is_bot: false, first_name: "Ada" },
          chat: { id: conversation, type: "private", first_name: "Ada" },
        },
      }),
    }),
    forge: ({ headers, body }) => ({ body, headers: { ...headers, "x-telegram-bot-api-secret-token": "a-secrex" } }),
    taken: { ok: true, result: {} },
    expected: ({ id, conversation }, text) => ({
      method: "POST",
      path: "/bot123:abc/sendMessage",
      body: {
        chat_id: conversation,
        text,
        reply_parameters: { message_id: id, allow_sending_without_reply: true },
      },
    }),
  },
  email: {
    environment: (api) => ({
      POSTMARK_API: api,
      POSTMARK_TOKEN: "server-token",
      EMAIL_LOGIN: "inbound:secret",
      EMAIL_FROM: "help@shop.example",
    }),
    tell: ({ id, text, conversation, before }) => ({
      headers: { ...json, authorization: `Basic ${btoa("inbound:secret")}` },
      body: JSON.stringify({
        FromName: "Ada",
        From: "ada@example.com",
        To: "help@shop.example",
        Subject: "Weather",
        MessageID: `message-${id}`,
        MessageStream: "inbound",
        Date: "Mon, 23 Nov 2026 08:00:00 +0000",
        ...(before > 0 ? { StrippedTextReply: text, TextBody: `${text}\n> earlier` } : { TextBody: text }),
        Headers: [
          { Name: "Message-ID", Value: mail(conversation, before) },
          ...(before > 0 ? [{ Name: "References", Value: `${mail(conversation)} <ours@shop.example>` }] : []),
        ],
      }),
    }),
    forge: ({ headers, body }) => ({ body, headers: { ...headers, authorization: `Basic ${btoa("inbound:secrex")}` } }),
    taken: { ErrorCode: 0, Message: "OK" },
    expected: ({ conversation, before }, text) => ({
      method: "POST",
      path: "/email",
      headers: expect.objectContaining({ "x-postmark-server-token": "server-token" }),
      body: {
        From: "help@shop.example",
        To: "ada@example.com",
        Subject: "Re: Weather",
        TextBody: text,
        Headers: [
          { Name: "In-Reply-To", Value: mail(conversation, before) },
          { Name: "References", Value: `${mail(conversation)} ${mail(conversation, before)}` },
          { Name: "Auto-Submitted", Value: "auto-replied" },
        ],
      },
    }),
  },
};

const extensions = { ts: "ts", node: "ts", python: "py" } as const;
const runtimes = (Object.keys(extensions) as (keyof typeof extensions)[]).filter((one) => one !== "node" || node);
const cases = Object.keys(platforms).flatMap((name) => runtimes.map((runtime) => [name, runtime] as const));
const programAt = (name: string, extension: string): string =>
  readFileSync(inProject("server/docs/files", `${name}-bot.${extension}`), "utf8");

/** The platform's own API, which records the posts. */
function startApi(taken: Json) {
  const posted: Posted[] = [];
  const api = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0, // A connection closed when idle could be reused at that moment.
    async fetch(request) {
      const [headers, path] = [Object.fromEntries(request.headers), new URL(request.url).pathname];
      posted.push({ method: request.method, path, headers, body: await request.json() });
      return Response.json(taken);
    },
  });
  return { posted, url: `http://127.0.0.1:${api.port}`, [Symbol.dispose]: () => void api.stop(true) };
}

test.each(Object.keys(platforms))("the page about %s shows the programs that are tested here", (name) => {
  const markdown = readFileSync(inProject("server/docs/guides", `${name}.md`), "utf8");
  for (const [language, extension] of [
    ["ts", "ts"],
    ["python", "py"],
  ] as const)
    expect(programOf(markdown, language)).toBe(programAt(name, extension));
});

test.each(cases)(
  "%s in %s: requests are verified, acknowledged before the answer, and answered once",
  async (name, runtime) => {
    if (runtime === "python" && !python)
      return console.warn("skipped: programs in Python (no python3 with venv and PyPI)");
    const { environment, tell, forge, handshake, taken, expected } = platforms[name]!;
    using api = startApi(taken);
    const port = freePort();
    const url = `http://127.0.0.1:${port}`;
    const webhook = await server.post("/v1/webhooks", {
      url: `${url}/runnel`,
      events: ["run.completed", "run.failed"],
    });
    const hold = await createTool(server, { type: "client" });
    const script = [{ tool_calls: [{ name: hold.name, arguments: { city: "Oslo" } }] }, { text: "It is 21 degrees." }];
    const AGENT = await createScripted(server, script, { tools: [hold.id] });
    const program = runner.start(runtime as Runtime, programAt(name, extensions[runtime]), {
      ...environment(api.url),
      AGENT,
      PORT: String(port),
      WEBHOOK_SECRET: webhook.body.secret,
    });
    try {
      const send = ({ headers, body }: Sent) => fetch(url, { method: "POST", headers, body });
      await waitUntil(() =>
        send({ headers: {}, body: "{}" }).then(
          () => true,
          () => false,
        ),
      );
      if (handshake) expect(await (await send(handshake.sent())).text()).toMatch(loose(handshake.answer));

      const own = 1000 * (1 + runtimes.indexOf(runtime)); // Each runtime has its own event ids.
      const first: Said = { id: own, text: "How is the weather?", conversation: own, before: 0 };
      expect((await send(forge(tell(first)))).status).toBe(401);
      const runs = async (): Promise<Json[]> => (await server.get(`/v1/runs?agent_id=${AGENT}&order=asc`)).body.data;
      expect(await runs()).toEqual([]);

      const said = [
        first,
        { ...first, id: own + 1, text: "And tomorrow?", before: 1 },
        { ...first, id: own + 2, conversation: own + 1 },
      ];
      for (const [index, one] of said.entries()) {
        // Twice, as platforms resend without a timely response: both are acknowledged while the run waits.
        for (const answer of [await send(tell(one)), await send(tell(one))]) expect(answer.status).toBe(200);
        await waitUntil(async () => (await runs())[index]?.status === "requires_action");
        const { id } = (await runs())[index]!;
        const [call] = (await server.get(`/v1/runs/${id}`)).body.required_action.submit_tool_outputs.tool_calls;
        const tool_outputs = [{ tool_call_id: call.tool_call_id, output: { celsius: 21 } }];
        expect((await server.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs })).status).toBe(200);
        await waitUntil(() => api.posted.length > index);
      }
      expect(api.posted).toEqual(said.map((one) => expect.objectContaining(expected(one, "It is 21 degrees."))));
      const made = await runs();
      expect(made.map(({ input }) => input)).toEqual(said.map(({ text }) => text));
      const threads = made.map(({ thread_id }) => thread_id);
      expect([threads[1] === threads[0], threads[2] === threads[0]]).toEqual([true, false]);
    } finally {
      program.kill();
      await program.exited;
      await server.fetch(`/v1/webhooks/${webhook.body.id}`, { method: "DELETE" });
    }
    const complaints = (await new Response(program.stderr).text())
      .split("\n")
      .filter((line) => !/ HTTP\/1.1" /.test(line));
    expect(complaints.join("")).toBe("");
  },
);

/** Matches JSON with optional blanks after colons. */
const loose = (text: string): RegExp => new RegExp(`^${text.replace(/[{}]/g, "\\$&").replaceAll(":", ": ?")}$`);
