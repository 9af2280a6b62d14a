// discord-bot.ts
import { createPublicKey, verify } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { type Run, Runnel } from "runnel-sdk";

const { AGENT, PORT, WEBHOOK_SECRET = "", DISCORD_PUBLIC_KEY = "" } = process.env;
const api = process.env.DISCORD_API ?? "https://discord.com/api/v10";
const runnel = new Runnel();
const [ping, command, pong, later] = [1, 2, 1, 5];

/** True if Discord signed this request. The hex before the key is the DER header of an Ed25519 public key. */
function isDiscord(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const der = Buffer.from(`302a300506032b6570032100${DISCORD_PUBLIC_KEY}`, "hex");
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  const signed = Buffer.concat([Buffer.from(String(headers["x-signature-timestamp"])), body]);
  return verify(null, signed, key, Buffer.from(String(headers["x-signature-ed25519"]), "hex"));
}

interface Interaction extends Record<"id" | "application_id" | "token" | "channel_id", string> {
  user?: { id: string };
  member?: { user: { id: string } };
  data: { options?: { value: unknown }[] };
}

/** Starts a run in the person's thread of this channel. A retry has the same key and starts no second run. */
async function ask({ id, application_id, token, channel_id, member, user, data }: Interaction): Promise<void> {
  const session_id = `discord:${channel_id}:${(member?.user ?? user)?.id}`;
  const [known] = (await runnel.threads.list({ session_id, limit: 1 })).data;
  const thread = known ?? (await runnel.threads.create({ session_id }, { idempotencyKey: session_id }));
  await runnel.runs.create(
    {
      agent_id: AGENT!,
      thread_id: thread.id,
      if_thread_busy: "queue",
      input: String(data.options?.[0]?.value ?? "Hello!"),
      metadata: { application_id, interaction_token: token },
    },
    {},
    { idempotencyKey: `discord:${id}` },
  );
}

/** Posts the result of a run to Discord. An interaction token is valid for 15 minutes. */
async function answer({ metadata: { application_id, interaction_token }, output }: Run): Promise<void> {
  if (!interaction_token) return;
  const response = await fetch(`${api}/webhooks/${application_id}/${interaction_token}/messages/@original`, {
    method: "PATCH",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content: (output ?? "I could not finish that.").slice(0, 2000) }),
  });
  if (response.status >= 500) throw new Error(`Discord: ${response.status}`); // The webhook is then retried.
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  const say = (type: number) =>
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ type }));
  try {
    if (request.url === "/runnel") {
      const event = await runnel.webhooks.verify(body, request.headers, WEBHOOK_SECRET);
      if (event.type === "run.completed" || event.type === "run.failed")
        await answer(await runnel.runs.retrieve(event.data.object.id));
      return response.end();
    }
    if (!isDiscord(request.headers, body)) return response.writeHead(401).end();
    const said = JSON.parse(body.toString());
    if (said.type === ping) return say(pong);
    if (said.type === command) await ask(said);
    say(later); // The run continues in the background, so that Discord gets its response within three seconds.
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});
if (PORT) server.listen(Number(PORT));
