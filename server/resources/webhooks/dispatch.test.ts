import { describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import { silentLog } from "../../lib/log.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { startWebhookReceiver } from "../../testing/webhook-receiver.ts";

async function makeWebhook(client: Client, url: string): Promise<string> {
  const { status, body } = await client.post("/v1/webhooks", { url, events: ["run.completed"] });
  expect(status).toBe(201);
  return body.id;
}

async function newAgent(client: Client): Promise<string> {
  const { body } = await client.post("/v1/agents", { name: "a", instructions: "b", model: "test/echo" });
  return body.id;
}

/** Listens on a plain socket, to behave as no HTTP server does. */
function startHostile(meet: (socket: Socket<undefined>) => void) {
  const sockets = new Set<Socket<undefined>>();
  const listener = Bun.listen<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => void sockets.add(socket),
      data: meet,
      drain: flood.drain,
      close: (socket) => void sockets.delete(socket),
      error() {},
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}/`,
    /** Number of open connections. */
    open: () => sockets.size,
    [Symbol.dispose]: () => listener.stop(true),
  };
}

const head = (more: string) => `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n${more}\r\n`;
const megabyte = new Uint8Array(1024 * 1024).fill(97);
const drips = new Map<Socket<undefined>, Timer>();

function drip(socket: Socket<undefined>, first: string, piece: string): void {
  socket.write(first);
  drips.set(
    socket,
    setInterval(() => {
      if (socket.write(piece) < 0) clearInterval(drips.get(socket));
    }, 20),
  );
}

const flood = {
  left: new Map<Socket<undefined>, number>(),
  begin(socket: Socket<undefined>): void {
    socket.write(head("content-length: 1073741824\r\n"));
    flood.left.set(socket, 1024);
    flood.drain(socket);
  },
  drain(socket: Socket<undefined>): void {
    for (let left = flood.left.get(socket) ?? 0; left > 0; left--) {
      flood.left.set(socket, left - 1);
      if (socket.write(megabyte) < megabyte.length) return;
    }
  },
};

describe("a receiver that", () => {
  test.each<[string, (socket: Socket<undefined>) => void, object]>([
    ["never answers", () => {}, { status: "failed", attempts: [{ error: { code: "timeout" } }] }],
    [
      "drips its head",
      (socket) => drip(socket, "HTTP/1.1 200 OK\r\n", "x: y\r\n"),
      { status: "failed", attempts: [{ error: { code: "timeout" } }] },
    ],
    [
      "drips its body",
      (socket) => drip(socket, head("content-length: 1000000\r\n"), "drop"),
      { status: "delivered", attempts: [{ response: { status: 200, truncated: true } }] },
    ],
    ["sends a gigabyte", flood.begin, { status: "delivered", attempts: [{ response: { truncated: true } }] }],
    [
      "closes before it answers",
      (socket) => void socket.end(),
      { status: "failed", attempts: [{ error: { code: "connection_lost" } }] },
    ],
    [
      "closes in the middle of its body",
      (socket) => void socket.end(`${head("content-length: 100\r\n")}half`),
      { status: "delivered", attempts: [{ response: { status: 200, truncated: true } }] },
    ],
    [
      "speaks no HTTP",
      (socket) => void socket.end("220 mail.example.com ESMTP\r\n"),
      { status: "failed", attempts: [{ response: null, error: { code: "connection_lost" } }] },
    ],
  ])("%s costs an attempt and no more", async (name, meet, outcome) => {
    let isMet = false;
    using hostile = startHostile((socket) => {
      isMet = true;
      meet(socket);
    });
    let before = 0;
    // The timeout must end only receivers that never end by themselves.
    const body = await withEnoughTime(/never|drips/.test(name) ? 1000 : 60_000, async (webhook_attempt_ms) => {
      await using server = testApp({ webhook_attempt_ms });
      const client = await server.client();
      const id = await makeWebhook(client, hostile.url);
      Bun.gc(true);
      before = process.memoryUsage().rss;
      const { body } = await client.post(`/v1/webhooks/${id}/test`, {});
      const isLate = name === "drips its body" && body.status !== "delivered";
      return isMet && !isLate ? body : null;
    });
    expect(body).toMatchObject(outcome);
    expect(JSON.stringify(body).length).toBeLessThan(80_000);
    while (hostile.open() > 0) await Bun.sleep(5);
    // The receiver's own megabytes in the socket belong to this process too.
    expect(process.memoryUsage().rss - before).toBeLessThan(30 * megabyte.length);
  });
});

describe("one dead webhook", () => {
  test("delays no other", async () => {
    using dead = startHostile(() => {});
    await using healthy = startWebhookReceiver();
    await using server = testApp({ webhook_attempt_ms: 60_000 });
    const client = await server.client();
    await server.projects.update(client.scope.project_id, { limits: { run_creations_per_minute: 0 } });
    await makeWebhook(client, dead.url);
    await makeWebhook(client, healthy.url);
    const agent_id = await newAgent(client);
    for (let i = 0; i < 50; i++) await client.post("/v1/runs?wait=60", { agent_id, input: "Hi" });
    await healthy.heard(50);
    // The maximum for one webhook: its other deliveries wait.
    while (dead.open() < 4) await Bun.sleep(1);
    expect(dead.open()).toBe(4);
  });

  test("is tried less and less often, and all deliveries arrive once it is back", async () => {
    await using receiver = startWebhookReceiver(() => new Response("No.", { status: 500 }));
    let at = 1_800_000_000_000;
    await using server = testApp({ now: () => at });
    const client = await server.client();
    await server.projects.update(client.scope.project_id, { limits: { run_creations_per_minute: 0 } });
    await makeWebhook(client, receiver.url);
    const agent_id = await newAgent(client);
    for (let i = 0; i < 20; i++) await client.post("/v1/runs?wait=60", { agent_id, input: "Hi" });
    await server.deliverWebhooks();
    const asked = receiver.received.length;
    expect(asked).toBeWithin(5, 9);
    await server.deliverWebhooks();
    expect(receiver.received.length).toBe(asked);
    at += 60_000;
    await server.deliverWebhooks();
    expect(receiver.received.length).toBe(asked + 1);
    receiver.answerWith(() => new Response("Taken."));
    at += 600_000;
    await server.deliverWebhooks();
    const runs = new Set(receiver.received.map(({ body }) => JSON.parse(body).run_id));
    expect(runs.size).toBe(20);
  });
});

test("a project with many slow endpoints leaves slots to another project's event", async () => {
  await using slow = startWebhookReceiver(() => new Promise<Response>(() => {}));
  await using healthy = startWebhookReceiver();
  await using server = testApp({ webhook_attempt_ms: 60_000 });
  const noisy = await server.client();
  for (let index = 0; index < 33; index++) await makeWebhook(noisy, slow.url);
  const agent_id = await newAgent(noisy);
  for (let run = 0; run < 4; run++) await noisy.post("/v1/runs?wait=60", { agent_id, input: "Hi" });
  await slow.heard(96);
  const quiet = await server.client({ project: "quiet" });
  await makeWebhook(quiet, healthy.url);
  await quiet.post("/v1/runs?wait=60", { agent_id: await newAgent(quiet), input: "Hi" });
  await healthy.heard(1);
  // The maximum for one project: the other 36 due deliveries wait.
  expect(slow.received).toHaveLength(96);
});

test("an attempt that a shutdown interrupts is repeated by the next start, under the same id", async () => {
  await using receiver = startWebhookReceiver(() => new Promise<Response>(() => {}));
  const server = testApp({ log: silentLog });
  const client = await server.client();
  const id = await makeWebhook(client, receiver.url);
  await client.post("/v1/runs?wait=60", { agent_id: await newAgent(client), input: "Hi" });
  await receiver.heard(1);
  await server.stop();
  const row = server.db.sqlite
    .query<{ status: string; attempts: number }, [string]>("SELECT * FROM webhook_deliveries WHERE webhook_id = ?")
    .get(id);
  expect(row).toMatchObject({ status: "pending", attempts: 0 });
  server.db.close();
});

test("a test event that the shutdown interrupts reports that", async () => {
  await using receiver = startWebhookReceiver(() => new Promise<Response>(() => {}));
  const server = testApp({ log: silentLog });
  const client = await server.client();
  const id = await makeWebhook(client, receiver.url);
  const asked = client.post(`/v1/webhooks/${id}/test`, {});
  await receiver.heard(1);
  await server.stop();
  const { status, body, headers } = await asked;
  expect([status, body.error.code, headers.get("retry-after")]).toEqual([503, "shutting_down", "5"]);
  expect((await client.get(`/v1/webhooks/${id}/deliveries`)).body.data).toEqual([]);
  server.db.close();
});
