// slack-bot.ts
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type Run, Runnel } from "runnel-sdk";

const { AGENT, PORT, WEBHOOK_SECRET = "", SLACK_SIGNING_SECRET = "", SLACK_BOT_TOKEN } = process.env;
const api = process.env.SLACK_API ?? "https://slack.com/api";
const runnel = new Runnel();

/** True if Slack signed this request within the last five minutes. */
function isSlack(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const time = String(headers["x-slack-request-timestamp"]);
  const mac = createHmac("sha256", SLACK_SIGNING_SECRET).update(`v0:${time}:`).update(body).digest("hex");
  const [right, given] = [Buffer.from(`v0=${mac}`), Buffer.from(String(headers["x-slack-signature"]))];
  const isFresh = Math.abs(Date.now() / 1000 - Number(time)) < 300;
  return isFresh && given.length === right.length && timingSafeEqual(given, right);
}

interface Told {
  event_id: string;
  team_id: string;
  event: Record<"type" | "channel" | "ts" | "text", string> & { thread_ts?: string; bot_id?: string; subtype?: string };
}

/** Starts a run in the thread that mirrors Slack's. A retry has the same key and starts no second run. */
async function ask({ event_id, team_id, event }: Told): Promise<void> {
  if (!["app_mention", "message"].includes(event.type) || event.bot_id || event.subtype) return;
  const { channel, thread_ts = event.ts } = event;
  const session_id = `slack:${team_id}:${channel}:${thread_ts}`;
  const [known] = (await runnel.threads.list({ session_id, limit: 1 })).data;
  const thread = known ?? (await runnel.threads.create({ session_id }, { idempotencyKey: session_id }));
  const input = event.text.replace(/<@\w+>/g, "").trim() || "Hello!";
  const metadata = { channel, thread_ts };
  await runnel.runs.create(
    { agent_id: AGENT!, thread_id: thread.id, if_thread_busy: "queue", input, metadata },
    {},
    { idempotencyKey: `slack:${event_id}` },
  );
}

/** Posts the result of a run to Slack. */
async function answer({ metadata, output }: Run): Promise<void> {
  if (!metadata.channel) return;
  const response = await fetch(`${api}/chat.postMessage`, {
    method: "POST",
    headers: { authorization: `Bearer ${SLACK_BOT_TOKEN}`, "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify({ ...metadata, text: output ?? "I could not finish that." }),
  });
  const said = (await response.json()) as { ok: boolean; error?: string };
  if (!said.ok) throw new Error(said.error); // The webhook is then retried.
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  try {
    if (request.url === "/runnel") {
      const event = await runnel.webhooks.verify(body, request.headers, WEBHOOK_SECRET);
      if (event.type === "run.completed" || event.type === "run.failed")
        await answer(await runnel.runs.retrieve(event.data.object.id));
    } else {
      if (!isSlack(request.headers, body)) return response.writeHead(401).end();
      const said = JSON.parse(body.toString());
      if (said.type === "url_verification") return response.end(said.challenge);
      await ask(said); // The run continues in the background, so that Slack gets its response within three seconds.
    }
    response.end();
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});
if (PORT) server.listen(Number(PORT));
