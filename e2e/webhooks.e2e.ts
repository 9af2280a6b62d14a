import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { inProject } from "../scripts/root.ts";
import { freePort } from "../server/testing/free-port.ts";
import { type Received, startWebhookReceiver, type WebhookReceiver } from "../server/testing/webhook-receiver.ts";
import { createAgent, runToEnd } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { figuresAvailable, residentBytes, serverPid } from "./process-figures.ts";
import { waitUntil } from "./until.ts";

const oneWorker = ["--workers", "1"];

async function createWebhook(server: Runnel, url: string, events = ["*"]): Promise<Json> {
  const { status, body } = await server.post("/v1/webhooks", { url, events });
  expect(status).toBe(201);
  return body;
}

const eventOf = ({ body }: Received): Json => JSON.parse(body);

/** Expects every request to verify, and repeated ids to carry the same event. */
function expectGenuine({ received }: WebhookReceiver, secret: string): void {
  const bodies = new Map<string, string>();
  for (const { headers, body } of received) {
    new Webhook(secret).verify(body, headers);
    const id = headers["webhook-id"]!;
    expect(bodies.get(id) ?? body).toBe(body);
    bodies.set(id, body);
  }
}

test.each([
  ["mid_outbox", 1],
  ["before_delivery", 1],
  ["after_delivery", 2],
])("an event arrives when the process dies at %s, at least once and under one id", async (point, times) => {
  await using receiver = startWebhookReceiver();
  await using server = await startRunnel({ environment: { RUNNEL_FAILPOINT: point }, flags: oneWorker });
  const { secret } = await createWebhook(server, receiver.url, ["run.completed"]);
  const agent_id = await createAgent(server, "test/echo");
  const asked = server.post("/v1/runs", { agent_id, input: "Go" }).catch(() => null);
  expect(await server.died()).toBe("SIGKILL");
  await asked;
  await server.restart({});
  await receiver.heard(times);
  const [{ id: run_id }] = (await server.get("/v1/runs")).body.data;
  const events = receiver.received.map(eventOf);
  expect(events).toHaveLength(times);
  for (const event of events) expect(event).toMatchObject({ type: "run.completed", run_id });
  expect(new Set(events.map(({ id }) => id)).size).toBe(1);
  expectGenuine(receiver, secret);
});

test("an event refused before a kill -9 is retried after it", async () => {
  let refused = 0;
  await using receiver = startWebhookReceiver(() =>
    refused++ === 0 ? new Response("No.", { status: 500 }) : new Response("Taken."),
  );
  await using server = await startRunnel({ flags: oneWorker });
  const { id, secret } = await createWebhook(server, receiver.url, ["run.completed"]);
  const run = await runToEnd(server, await createAgent(server, "test/echo"));
  const log = async () => (await server.get(`/v1/webhooks/${id}/deliveries`)).body.data;
  await waitUntil(async () => (await log())[0]?.attempts_count > 0);
  await server.kill9();
  await server.restart();
  await receiver.heard(2); // By its own timer, five seconds after the first.
  await waitUntil(async () => (await log())[0].status === "delivered");
  expect(new Set(receiver.received.map((one) => eventOf(one).id)).size).toBe(1);
  expect(eventOf(receiver.received[1]!).run_id).toBe(run.id);
  expectGenuine(receiver, secret);
  expect((await server.get(`/v1/webhooks/${id}`)).body).toMatchObject({ status: "active", failure_count: 0 });
});

test.if(figuresAvailable)(
  "receivers that drip, flood or never respond are given up, and cost the server less than 5 MB",
  async () => {
    const drip = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            controller.enqueue(new TextEncoder().encode("drop"));
            await Bun.sleep(1000);
          },
        }),
      );
    const chunk = new Uint8Array(65_536);
    let left = 16_384;
    const flood = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            if (left-- > 0) controller.enqueue(chunk);
            else controller.close();
          },
        }),
      );
    const never = () => new Promise<Response>(() => {});
    await using receiver = startWebhookReceiver(({ path }) =>
      path === "/drip" ? drip() : path === "/flood" ? flood() : never(),
    );
    await using server = await startRunnel({ flags: oneWorker });
    const origin = new URL(receiver.url).origin;
    const ids: string[] = [];
    for (const path of ["/drip", "/flood", "/never"]) ids.push((await createWebhook(server, origin + path)).id);
    const flooded = ids[1]!;
    // Warms up, because the first requests allocate.
    for (let i = 0; i < 20; i++) await server.post(`/v1/webhooks/${flooded}/test`, {});
    const before = residentBytes(serverPid(server.dataDir));
    const answers = await Promise.all(ids.map((id) => server.post(`/v1/webhooks/${id}/test`, {})));
    const grown = residentBytes(serverPid(server.dataDir)) - before;
    expect(answers.map(({ body }) => body)).toMatchObject([
      { status: "delivered", attempts: [{ response: { truncated: true } }] },
      { status: "delivered", attempts: [{ response: { truncated: true } }] },
      { status: "failed", attempts: [{ error: { code: "timeout" } }] },
    ]);
    expect(grown).toBeLessThan(5_000_000);
  },
  60_000,
);

/** Reads a program that the documentation offers. */
const snippet = (name: string): string => readFileSync(inProject("server/docs/files", name), "utf8");

const python = Bun.which("python3");

test.each([
  ["receiver.ts", process.execPath],
  ["receiver.py", python],
])("the documentation's %s accepts genuine events and nothing else", async (name, interpreter) => {
  if (!interpreter) return;
  await using server = await startRunnel({ flags: oneWorker });
  const port = freePort();
  const url = `http://127.0.0.1:${port}/`;
  const { id, secret } = await createWebhook(server, url, ["run.completed"]);
  const file = join(server.folder, name);
  writeFileSync(file, snippet(name));
  const env = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
  const child = Bun.spawn([interpreter, file], { cwd: server.folder, env, stdout: "pipe", stderr: "ignore" });
  try {
    const answers = () => fetch(url, { method: "POST", body: "{}" }).catch(() => null);
    let forged = await answers();
    for (; !forged; forged = await answers()) await Bun.sleep(20); // Until it listens.
    expect(forged.status).toBe(400);
    const run = await runToEnd(server, await createAgent(server, "test/echo"));
    let delivery: Json;
    while (delivery?.status !== "delivered") {
      await Bun.sleep(10);
      [delivery] = (await server.get(`/v1/webhooks/${id}/deliveries`)).body.data;
    }
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe(`run.completed ${run.id} ${delivery.seq}\n`);

    const { body: sent } = await server.get(`/v1/webhooks/${id}/deliveries/${delivery.id}`);
    const headers = sent.attempts[0].request.headers;
    const status = async (body: string, changed: object = {}) =>
      (await fetch(url, { method: "POST", body, headers: { ...headers, ...changed } })).status;
    const old = String(Number(headers["webhook-timestamp"]) - 301);
    const signed = new Webhook(secret).sign("evt_1", new Date(Number(old) * 1000), "{}");
    expect([
      await status(sent.body),
      await status(`${sent.body} `),
      await status(sent.body, { "webhook-id": "evt_1" }),
      await status(sent.body, { "webhook-signature": `v1,AAAA ${headers["webhook-signature"]}` }),
      await status("{}", { "webhook-id": "evt_1", "webhook-timestamp": old, "webhook-signature": signed }),
    ]).toEqual([204, 400, 400, 204, 400]);
  } finally {
    child.kill();
    await child.exited;
  }
});

test.if(Bun.which("openssl") !== null)(
  "the documentation's verify.sh accepts genuine events and nothing else",
  async () => {
    await using receiver = startWebhookReceiver();
    await using server = await startRunnel({ flags: oneWorker });
    const { id, secret } = await createWebhook(server, receiver.url);
    await server.post(`/v1/webhooks/${id}/test`, {});
    const { headers, body } = receiver.received[0]!;
    const file = join(server.folder, "verify.sh");
    writeFileSync(file, snippet("verify.sh"));
    const [BODY, OTHER] = [join(server.folder, "body"), join(server.folder, "other")];
    writeFileSync(BODY, body);
    writeFileSync(OTHER, `${body}\n`);
    const event = {
      BODY,
      WEBHOOK_SECRET: secret,
      ID: headers["webhook-id"]!,
      TIMESTAMP: headers["webhook-timestamp"]!,
      SIGNATURE: headers["webhook-signature"]!,
    };
    const say = (changed: object) => {
      const { stdout } = Bun.spawnSync(["sh", file], { env: { ...process.env, ...event, ...changed } });
      return stdout.toString().trim();
    };
    const old = String(Number(event.TIMESTAMP) - 301);
    expect([
      say({}),
      say({ SIGNATURE: `v1,AAAA ${event.SIGNATURE}` }),
      say({ BODY: OTHER }),
      say({ ID: "evt_1" }),
      say({ TIMESTAMP: old }),
      say({ TIMESTAMP: "x[$(echo hacked >&2)]" }),
    ]).toEqual(["genuine", "genuine", "forged", "forged", "old", "forged"]);
  },
);
