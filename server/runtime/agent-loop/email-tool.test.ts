import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { requested, stateOf, turnWithCalls } from "../../domain/__fixtures__/events.ts";
import { afterFailure } from "../../domain/after-failure.ts";
import type { EmailTool } from "../../domain/agent-snapshot.ts";
import { defaultChunking } from "../../domain/chunking.ts";
import { createCertificateAuthority } from "../../testing/certificate-authority.ts";
import { toolBase } from "../../testing/run-fixture.ts";
import { toolContext } from "../../testing/tool-context.ts";
import { createDocumentReader } from "../sandbox/document-reader.ts";
import type { ToolContext } from "./tools/context.ts";
import { run as runEmailTool } from "./tools/email.ts";
import type { ToolResult } from "./tools/tool-result.ts";

// A hang only: mails are read by a process of the sandbox, with a low priority.
setDefaultTimeout(120_000);

const authority = await createCertificateAuthority();
const identity = await authority.issue({ names: ["localhost", "127.0.0.1"] });

interface Got {
  from: string;
  to: string[];
  user: string | false | undefined;
  encrypted: boolean;
  raw: string;
}

/** Starts a real mail server with a certificate, which knows the user `runnel` with the password `p@ss`. */
async function startServer({ secure = false, tls = true, rejects = "" } = {}) {
  const got: Got[] = [];
  const server = new SMTPServer({
    secure,
    ...identity,
    disabledCommands: tls ? [] : ["STARTTLS"],
    allowInsecureAuth: true,
    authOptional: true,
    onAuth: ({ username, password }, _, callback) =>
      password === "p@ss" ? callback(null, { user: username ?? "" }) : callback(new Error("Wrong password p@ss-word")),
    onRcptTo: ({ address }, _, callback) => (address === rejects ? callback(new Error("No such user")) : callback()),
    async onData(stream, { envelope, user, secure: encrypted }, callback) {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      got.push({
        from: envelope.mailFrom ? envelope.mailFrom.address : "",
        to: envelope.rcptTo.map(({ address }) => address),
        user,
        encrypted,
        raw: Buffer.concat(chunks).toString(),
      });
      callback();
    },
  });
  server.on("error", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  afterAll(() => new Promise<void>((resolve) => server.close(resolve)));
  return { got, port };
}

const reader = createDocumentReader({ level: () => "strict", spares: 0 });
afterAll(() => reader.stop());

/** Returns a mail as the server's own reader of mails reads it. */
async function textOf(raw: string): Promise<string> {
  const content = [new TextEncoder().encode(raw)];
  const order = { mime_type: "message/rfc822", bytes: content[0]!.length, content, chunking: defaultChunking };
  const read = await reader.read({ ...order, encoding: null, include_hidden: false }, new AbortController().signal);
  return "error" in read ? read.error.message : read.chunks.map(({ text }) => text).join("\n");
}

const [call] = stateOf(...turnWithCalls(["call_1", null])).calls;
const mail = { to: ["ada@example.com"], subject: "Grüße", text: "Hello Ada,\n.\nBob" };

interface Setting {
  email?: Partial<EmailTool["email"]>;
  context?: Partial<ToolContext>;
  password?: string;
  ca?: string | undefined;
  loopback?: boolean;
}

const toolOf = (email: Partial<EmailTool["email"]>): EmailTool => ({
  ...toolBase("send_email"),
  type: "email",
  http: null,
  idempotent: false,
  email: {
    smtp_url: "",
    from: "Support <support@example.com>",
    allowed_recipients: null,
    timeout_ms: 20_000,
    sealed: "",
    ...email,
  },
});

async function send(
  args: object,
  { email = {}, context = {}, password = "p@ss", ca = authority.ca, loopback = true }: Setting = {},
): Promise<ToolResult> {
  const made = { ...call!, arguments: { ...requested("call_1", 1).call.arguments, ...args } };
  const whole = toolContext({
    policy: { loopback, ...(ca !== undefined && { ca }) },
    secrets: async () => ({ headers: { password }, signing_secret: "" }),
    hidden: () => [password],
    ...context,
  });
  return (await runEmailTool(made, toolOf(email), whole, new AbortController().signal)) as ToolResult;
}

describe("a mail", () => {
  test("arrives whole over STARTTLS, with sender, copies, files and an id that follows from the call", async () => {
    const { got, port } = await startServer();
    const readFile = async (id: string) => ({ name: `${id}.csv`, bytes: new TextEncoder().encode("a,b\n1,2\n") });
    const smtp_url = `smtp://runnel@localhost:${port}`;
    const sent = await send(
      { ...mail, cc: ["bob@example.com"], file_ids: ["file_1", "file_1"] },
      { email: { smtp_url }, context: { readFile } },
    );
    expect(sent).toEqual({
      output: { message_id: "<call_1@example.com>", accepted: ["ada@example.com", "bob@example.com"], rejected: [] },
      error: null,
      attempts: 1,
    });
    const [{ raw, ...envelope }] = got as [Got];
    expect(envelope).toEqual({
      from: "support@example.com",
      to: ["ada@example.com", "bob@example.com"],
      user: "runnel",
      encrypted: true,
    });
    const text = await textOf(raw);
    for (const line of [
      "From: Support <support@example.com>",
      "To: ada@example.com",
      "Cc: bob@example.com",
      "Grüße",
      "Hello Ada,",
      "Bob",
      "file_1.csv",
    ])
      expect(text).toContain(line);
    expect(raw).toContain("Message-ID: <call_1@example.com>\r\n");
    expect(raw.match(/filename=file_1.csv/g)).toHaveLength(1);
  });

  test("is sent over TLS from the first byte to smtps", async () => {
    const { got, port } = await startServer({ secure: true });
    expect(await send(mail, { email: { smtp_url: `smtps://runnel@localhost:${port}` } })).toMatchObject({
      error: null,
    });
    expect(got).toMatchObject([{ encrypted: true, user: "runnel" }]);
  });

  test("is sent without a login if the address names no user", async () => {
    const { got, port } = await startServer();
    expect(await send(mail, { email: { smtp_url: `smtp://localhost:${port}` } })).toMatchObject({ error: null });
    expect(got).toMatchObject([{ user: false }]);
  });

  test("of which a server refuses one recipient tells which, and reaches the others", async () => {
    const { got, port } = await startServer({ rejects: "gone@example.com" });
    const smtp_url = `smtp://localhost:${port}`;
    const to = ["ada@example.com", "gone@example.com"];
    expect(await send({ ...mail, to }, { email: { smtp_url } })).toMatchObject({
      output: { accepted: ["ada@example.com"], rejected: ["gone@example.com"] },
    });
    expect(await send({ ...mail, to: ["gone@example.com"] }, { email: { smtp_url } })).toMatchObject({
      error: { code: "smtp_error", message: expect.stringContaining("No such user") },
    });
    expect(got).toHaveLength(1);
  });
});

describe("no mail is sent", () => {
  test.each<[string, object, Partial<EmailTool["email"]>, string]>([
    [
      "to an address that is not allowed",
      { to: ["ada@evil.example"] },
      { allowed_recipients: ["*@example.com"] },
      "recipient_not_allowed",
    ],
    [
      "with a copy that is not allowed",
      { cc: ["x@evil.example"] },
      { allowed_recipients: ["*@example.com"] },
      "recipient_not_allowed",
    ],
    ["to a text with two addresses", { to: ["ada@example.com, x@evil.example"] }, {}, "invalid_arguments"],
    ["to an address with a header", { to: ["ada@example.com\r\nBcc: x@evil.example"] }, {}, "invalid_arguments"],
    ["with a header in its subject", { subject: "Hi\r\nBcc: x@evil.example" }, {}, "invalid_arguments"],
    ["with a file that there is not", { file_ids: ["file_9"] }, {}, "file_not_found"],
  ])("%s", async (_, change, email, code) => {
    const { got, port } = await startServer();
    const smtp_url = `smtp://localhost:${port}`;
    expect(await send({ ...mail, ...change }, { email: { smtp_url, ...email } })).toMatchObject({
      error: { code },
      attempts: 0,
    });
    expect(got).toEqual([]);
  });

  test("with a wrong password, which no error repeats", async () => {
    const { got, port } = await startServer();
    const sent = await send(mail, { email: { smtp_url: `smtp://runnel@localhost:${port}` }, password: "p@ss-word" });
    expect(sent).toMatchObject({ error: { code: "authentication_failed" }, request: "not_sent" });
    expect(JSON.stringify(sent)).not.toContain("p@ss-word");
    expect(got).toEqual([]);
  });

  test("to a server whose certificate is of another name or authority", async () => {
    const { got, port } = await startServer();
    const smtp_url = `smtp://runnel@localhost:${port}`;
    const other = (await createCertificateAuthority()).ca;
    expect(await send(mail, { email: { smtp_url }, ca: other })).toMatchObject({ error: {}, request: "not_sent" });
    expect(got).toEqual([]);
  });

  test("to a server within the network, or at an address that no rule allows", async () => {
    const { got, port } = await startServer();
    const smtp_url = `smtp://localhost:${port}`;
    expect(await send(mail, { email: { smtp_url }, loopback: false })).toMatchObject({
      error: { code: "address_forbidden" },
      request: "not_sent",
    });
    expect(await send(mail, { email: { smtp_url: "smtp://169.254.169.254:25" } })).toMatchObject({
      error: { code: "address_forbidden" },
    });
    expect(got).toEqual([]);
  });

  test("where nothing listens", async () => {
    using listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { port } = listener;
    listener.stop(true);
    expect(await send(mail, { email: { smtp_url: `smtp://localhost:${port}` } })).toMatchObject({
      error: { code: "connect_failed" },
      request: "not_sent",
    });
  });
});

test("after a connection that broke behind the text, it is unknown whether the mail was sent, and a person is asked", async () => {
  using server = Bun.listen<{ text: string; isData: boolean }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        socket.data = { text: "", isData: false };
        socket.write("220 here\r\n");
      },
      data(socket, bytes) {
        const text = bytes.toString();
        if (socket.data.isData) {
          socket.data.text += text;
          if (socket.data.text.endsWith("\r\n.\r\n")) socket.end();
        } else if (/^DATA/i.test(text)) {
          socket.data.isData = true;
          socket.write("354 go on\r\n");
        } else socket.write("250 ok\r\n");
      },
    },
  });
  const email = { smtp_url: `smtp://localhost:${server.port}` };
  const sent = await send(mail, { email });
  expect(sent).toMatchObject({ error: { code: "connect_failed" }, request: "sent" });
  expect(afterFailure("sent", toolOf(email))).toBe("ask");
});

describe("a server that refuses is told of in its own words:", () => {
  /** Starts a server that gives these answers in place of the usual ones, by the command. */
  function startScript(answers: Record<string, string>, offers = "AUTH PLAIN") {
    const usual: Record<string, string> = {
      EHLO: `250-here\r\n250 ${offers}`,
      AUTH: "235 ok",
      MAIL: "250 ok",
      RCPT: "250 ok",
      DATA: "354 go on",
      ".": "250 queued",
      QUIT: "221 bye",
    };
    return Bun.listen<{ isData: boolean }>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open(socket) {
          socket.data = { isData: false };
          socket.write(`${answers.CONNECT ?? "220 here"}\r\n`);
        },
        data(socket, bytes) {
          const text = bytes.toString();
          if (socket.data.isData && !text.endsWith("\r\n.\r\n")) return;
          const command = socket.data.isData ? "." : text.slice(0, 4).toUpperCase();
          socket.data.isData = command === "DATA" && !answers.DATA;
          socket.write(`${answers[command] ?? usual[command] ?? "502 unknown"}\r\n`);
        },
      },
    });
  }

  test.each<[string, Record<string, string>, { code: string; says: string; request: string }]>([
    [
      "no service at all",
      { CONNECT: "554 No SMTP service here" },
      { code: "smtp_error", says: "No SMTP service here", request: "answered" },
    ],
    [
      "a login that it does not know",
      { AUTH: "535 5.7.8 Username and Password not accepted" },
      { code: "authentication_failed", says: "Username and Password not accepted", request: "not_sent" },
    ],
    [
      "a sender that is not this user's",
      { MAIL: "553 5.7.1 Sender address rejected: not owned by user" },
      { code: "smtp_error", says: "not owned by user", request: "answered" },
    ],
    [
      "a recipient for now, by greylisting",
      { RCPT: "450 4.2.0 Greylisted, try again later" },
      { code: "smtp_error", says: "for now: 450 4.2.0 Greylisted", request: "answered" },
    ],
    [
      "a text that is too long",
      { ".": "552 5.3.4 Message size exceeds fixed limit" },
      { code: "smtp_error", says: "Message size exceeds", request: "answered" },
    ],
    [
      "a text for now, because it is full",
      { ".": "452 4.3.1 Insufficient system storage" },
      { code: "smtp_error", says: "for now: 452", request: "answered" },
    ],
  ])("%s", async (_, answers, { code, says, request }) => {
    using server = startScript(answers);
    const sent = await send(mail, { email: { smtp_url: `smtp://runnel@localhost:${server.port}` } });
    expect(sent).toMatchObject({ error: { code, message: expect.stringContaining(says) }, request });
  });

  test("no STARTTLS, where the password would be sent in clear text", async () => {
    using server = startScript({ STAR: "502 5.5.1 Unrecognized command" });
    const resolveServer = async () => ({ addresses: ["127.0.0.1"], loopback: false });
    const { egress } = toolContext();
    const context = { egress: { ...egress, resolveServer } };
    const sent = await send(mail, { email: { smtp_url: `smtp://runnel@localhost:${server.port}` }, context });
    expect(sent).toMatchObject({
      error: { code: "tls_failed", message: expect.stringContaining("STARTTLS") },
      request: "not_sent",
    });
  });

  test("some recipients, each with its reason", async () => {
    const { port } = await startServer({ rejects: "gone@example.com" });
    const to = ["ada@example.com", "gone@example.com"];
    expect(await send({ ...mail, to }, { email: { smtp_url: `smtp://localhost:${port}` } })).toMatchObject({
      output: {
        rejected: ["gone@example.com"],
        reasons: { "gone@example.com": expect.stringContaining("No such user") },
      },
    });
  });
});
