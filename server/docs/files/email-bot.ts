// email-bot.ts
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type Run, Runnel } from "runnel-sdk";

const { AGENT, PORT, WEBHOOK_SECRET = "", EMAIL_FROM, EMAIL_LOGIN = "", POSTMARK_TOKEN = "" } = process.env;
const api = process.env.POSTMARK_API ?? "https://api.postmarkapp.com";
const runnel = new Runnel();
const sha256 = (text: string) => createHash("sha256").update(text).digest();

/** True if the request has the name and password of the inbound address given to Postmark. */
const isPostmark = ({ authorization = "" }: IncomingHttpHeaders): boolean =>
  timingSafeEqual(sha256(authorization), sha256(`Basic ${Buffer.from(EMAIL_LOGIN).toString("base64")}`));

interface Mail extends Record<"From" | "Subject" | "MessageID" | "TextBody", string> {
  StrippedTextReply?: string;
  Headers: { Name: string; Value: string }[];
}

/** Starts a run in the thread of this conversation. A retry has the same key and starts no second run. */
async function ask({ From, Subject, MessageID, TextBody, StrippedTextReply, Headers }: Mail): Promise<void> {
  const header = (name: string): string => Headers.find((one) => one.Name.toLowerCase() === name)?.Value ?? "";
  if (!/^(no)?$/i.test(header("auto-submitted"))) return; // Two auto-responders would answer each other forever.
  const id = header("message-id") || MessageID;
  const first = (header("references") || header("in-reply-to") || id).trim().split(/\s+/)[0]!;
  const session_id = `email:${sha256(first).toString("hex")}`;
  const [known] = (await runnel.threads.list({ session_id, limit: 1 })).data;
  const thread = known ?? (await runnel.threads.create({ session_id }, { idempotencyKey: session_id }));
  const subject = Subject.replace(/^(re: *)?/i, "Re: ").slice(0, 200);
  const metadata = { to: From.slice(0, 300), subject, references: `${first} ${id}`.slice(0, 500) };
  await runnel.runs.create(
    {
      agent_id: AGENT!,
      thread_id: thread.id,
      if_thread_busy: "queue",
      metadata,
      input: StrippedTextReply || TextBody || Subject || "Hello!",
    },
    {},
    { idempotencyKey: `email:${MessageID}` },
  );
}

/** Sends the result of a run by email. */
async function answer({ metadata: { to, subject, references }, output }: Run): Promise<void> {
  if (!references) return;
  const Headers = [
    { Name: "In-Reply-To", Value: references.split(" ").at(-1)! },
    { Name: "References", Value: references },
    { Name: "Auto-Submitted", Value: "auto-replied" },
  ];
  const TextBody = output ?? "I could not finish that.";
  const response = await fetch(`${api}/email`, {
    method: "POST",
    headers: {
      "x-postmark-server-token": POSTMARK_TOKEN,
      "content-type": "application/json",
      accept: "application/json",
    },
    body: JSON.stringify({ From: EMAIL_FROM, To: to, Subject: subject, TextBody, Headers }),
  });
  if (!response.ok) throw new Error(await response.text()); // The webhook is then retried.
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  try {
    if (request.url === "/runnel") {
      const event = await runnel.webhooks.verify(body, request.headers, WEBHOOK_SECRET);
      if (event.type === "run.completed" || event.type === "run.failed")
        await answer(await runnel.runs.retrieve(event.data.object.id));
    } else {
      if (!isPostmark(request.headers)) return response.writeHead(401).end();
      await ask(JSON.parse(body.toString()));
    }
    response.end();
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});
if (PORT) server.listen(Number(PORT));
