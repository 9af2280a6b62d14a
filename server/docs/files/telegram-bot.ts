// telegram-bot.ts
import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type Run, Runnel } from "runnel-sdk";

const { AGENT, PORT, WEBHOOK_SECRET = "", TELEGRAM_TOKEN, TELEGRAM_SECRET = "" } = process.env;
const api = process.env.TELEGRAM_API ?? "https://api.telegram.org";
const runnel = new Runnel();

/** True if the request has the secret that Telegram got with the webhook address. */
function isTelegram(headers: IncomingHttpHeaders): boolean {
  const right = Buffer.from(TELEGRAM_SECRET);
  const given = Buffer.from(String(headers["x-telegram-bot-api-secret-token"]));
  return right.length > 0 && given.length === right.length && timingSafeEqual(given, right);
}

interface Update {
  update_id: number;
  message?: { message_id: number; text?: string; chat: { id: number }; from?: { is_bot: boolean } };
}

/** Starts a run in the thread that mirrors the chat. A retry has the same key and starts no second run. */
async function ask({ update_id, message }: Update): Promise<void> {
  if (!message?.text || message.from?.is_bot) return;
  const session_id = `telegram:${message.chat.id}`;
  const [known] = (await runnel.threads.list({ session_id, limit: 1 })).data;
  const thread = known ?? (await runnel.threads.create({ session_id }, { idempotencyKey: session_id }));
  const metadata = { chat_id: String(message.chat.id), message_id: String(message.message_id) };
  await runnel.runs.create(
    { agent_id: AGENT!, thread_id: thread.id, if_thread_busy: "queue", input: message.text, metadata },
    {},
    { idempotencyKey: `telegram:update:${update_id}` },
  );
}

/** Sends the result of a run to Telegram. */
async function answer({ metadata: { chat_id, message_id }, output }: Run): Promise<void> {
  if (!chat_id) return;
  const response = await fetch(`${api}/bot${TELEGRAM_TOKEN}/sendMessage`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      chat_id: Number(chat_id),
      text: (output ?? "I could not finish that.").slice(0, 4096),
      reply_parameters: { message_id: Number(message_id), allow_sending_without_reply: true },
    }),
  });
  const said = (await response.json()) as { ok: boolean; description?: string };
  if (!said.ok) throw new Error(said.description); // The webhook is then retried.
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  try {
    if (request.url === "/runnel") {
      const event = await runnel.webhooks.verify(body, request.headers, WEBHOOK_SECRET);
      if (event.type === "run.completed" || event.type === "run.failed")
        await answer(await runnel.runs.retrieve(event.data.object.id));
    } else {
      if (!isTelegram(request.headers)) return response.writeHead(401).end();
      await ask(JSON.parse(body.toString())); // The run continues in the background.
    }
    response.end();
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});
if (PORT) server.listen(Number(PORT));
