import { expect, test } from "bun:test";
import type { ScriptEntry } from "../../domain/model-call.ts";
import { createLog } from "../../lib/log.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { attributesOf, otlpReceiver, rejecting } from "../../testing/otlp-receiver.ts";
import { runFixture } from "../../testing/run-fixture.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { createOtlpPush, type PushOptions } from "./otlp-push.ts";
import { createOtlpSource } from "./otlp-source.ts";

const targetOf = (url: string, content = false) => ({
  url: `${url}/v1/traces`,
  headers: { authorization: "Bearer canary-collector-key" },
  content,
});

async function ran(client: Client, script: object[] = [{ text: "Hi." }]) {
  const draft = { name: "Clerk", instructions: "Be brief.", model: "test/script", model_settings: { script } };
  const { body: agent } = await client.post("/v1/agents", draft);
  const { body } = await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" });
  return body;
}

const runsOf = (requests: { spans: Parameters<typeof attributesOf>[0][] }[]) =>
  requests.flatMap(({ spans }) => spans.map((span) => attributesOf(span))).filter((one) => one["gen_ai.agent.id"]);

test("the trace of every run that ends is sent to the collector, without its content", async () => {
  using collector = otlpReceiver();
  await using server = testApp({ otlpTarget: targetOf(collector.url) });
  const client = await server.client();
  const run = await ran(client);
  const [request] = await collector.requests(1);
  expect(request!.headers.authorization).toBe("Bearer canary-collector-key");
  expect(request!.spans.map(({ name }) => name)).toEqual(["invoke_agent Clerk", "chat script"]);
  expect(runsOf([request!])).toMatchObject([{ "runnel.run.id": run.id, "runnel.run.status": "completed" }]);
  expect(JSON.stringify(request!.spans)).not.toMatch(/Hello|Be brief/);
});

test("a replay is not sent to a collector, and a fork is sent like other runs", async () => {
  using collector = otlpReceiver();
  await using server = testApp({ otlpTarget: targetOf(collector.url) });
  const client = await server.client();
  const { id } = await ran(client);
  await collector.requests(1);
  expect((await client.post(`/v1/runs/${id}/replay`, {})).status).toBe(201);
  const { body: fork } = await client.post(`/v1/runs/${id}/fork?wait=60`, { step_index: 0 });
  const [, request] = await collector.requests(2);
  expect(runsOf([request!])).toMatchObject([{ "runnel.run.id": fork.id }]);
});

test("content is sent if the operator enables it, with the whole prompt of each call", async () => {
  using collector = otlpReceiver();
  await using server = testApp({ otlpTarget: targetOf(collector.url, true) });
  const script = [{ tool_calls: [{ name: "gone", arguments: {} }] }, { text: "Bye." }];
  await ran(await server.client(), script);
  const [request] = await collector.requests(1);
  const prompts = request!.spans
    .filter(({ name }) => name === "chat script")
    .map(attributesOf)
    .map((said) => [said["gen_ai.system_instructions"], JSON.parse(said["gen_ai.input.messages"] as string)]);
  const instructions = JSON.stringify([{ type: "text", content: "Be brief." }]);
  const user = { role: "user", parts: [{ type: "text", content: "Hello" }] };
  expect(prompts).toMatchObject([
    [instructions, [user]],
    [instructions, [user, { role: "assistant" }, { role: "tool" }]],
  ]);
});

test("a busy collector is asked again after its Retry-After; nothing is sent twice or lost", async () => {
  using collector = otlpReceiver([
    () => new Response("busy", { status: 503, headers: { "retry-after": "0.2" } }),
    () => new Response("slow down", { status: 429, headers: { "retry-after": "0" } }),
  ]);
  await using server = testApp({ otlpTarget: targetOf(collector.url) });
  const run = await ran(await server.client());
  const requests = await collector.requests(3);
  expect(requests[1]!.at - requests[0]!.at).toBeGreaterThanOrEqual(195);
  for (const request of requests) expect(runsOf([request])).toMatchObject([{ "runnel.run.id": run.id }]);
});

test("a refusal of the collector is logged and counted, without the key, and runs continue", async () => {
  const lines: string[] = [];
  const told = Promise.withResolvers<void>();
  const log = createLog({
    format: "json",
    write(line) {
      lines.push(line);
      if (line.includes("collector")) told.resolve();
    },
  });
  using collector = otlpReceiver([() => new Response("no", { status: 401 })]);
  await using server = testApp({ otlpTarget: targetOf(collector.url), log });
  const client = await server.client();
  expect((await ran(client)).status).toBe("completed");
  await told.promise;
  expect(lines.filter((line) => line.includes("collector")).map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", traces: 1, reason: "It returned status 401." },
  ]);
  expect(lines.join()).not.toContain("canary");
  const next = await ran(client);
  expect(runsOf((await collector.requests(2)).slice(1))).toMatchObject([{ "runnel.run.id": next.id }]);
});

test("a missing collector delays neither a run nor the server's shutdown", async () => {
  const lines: string[] = [];
  const log = createLog({ format: "json", write: (line) => void lines.push(line) });
  const server = testApp({ otlpTarget: targetOf("http://127.0.0.1:1"), log });
  const client = await server.client();
  for (let i = 0; i < 3; i++) expect((await ran(client)).status).toBe("completed");
  await server[Symbol.asyncDispose]();
  const told = lines.map((line) => JSON.parse(line)).filter(({ message }) => message.includes("collector"));
  expect(told.reduce((sum, { traces }) => sum + traces, 0)).toBe(3);
});

test("the server's shutdown sends the waiting traces", async () => {
  using collector = otlpReceiver();
  const server = testApp({ otlpTarget: targetOf(collector.url) });
  const client = await server.client();
  const runs = await Promise.all(Array.from({ length: 8 }, () => ran(client)));
  await server[Symbol.asyncDispose]();
  const sent = runsOf(await collector.requests(1)).map((one) => one["runnel.run.id"]);
  expect(sent.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
});

test("runs that were failed or cancelled are sent too", async () => {
  using collector = otlpReceiver();
  await using server = testApp({ otlpTarget: targetOf(collector.url) });
  const client = await server.client();
  const failed = await ran(client, [{ error: "model_error" }]);
  await collector.requests(1);
  const { body: agent } = await client.post("/v1/agents", { name: "a", instructions: "", model: "test/timeout" });
  const { body: run } = await client.post("/v1/runs", { agent_id: agent.id, input: "Hi" });
  await client.post(`/v1/runs/${run.id}/cancel`, {});
  expect(runsOf(await collector.requests(2))).toMatchObject([
    { "runnel.run.id": failed.id, "runnel.run.status": "failed" },
    { "runnel.run.id": run.id, "runnel.run.status": "cancelled", "error.type": "run_cancelled" },
  ]);
});

/** Starts a push of ended runs that were not sent yet. */
async function pushFixture(url: string, options: Partial<PushOptions> = {}) {
  const fixture = runFixture();
  const told: Record<string, unknown>[] = [];
  const heard = Promise.withResolvers<void>();
  const log = createLog({
    format: "json",
    write(line) {
      told.push(JSON.parse(line));
      heard.resolve();
    },
  });
  const otlp = createOtlpSource(fixture);
  const journal = {
    head: (id: string) => {
      const head = fixture.journal.head(id);
      return head && { ...head, project_id: own.project ?? head.project_id };
    },
    readSome: (...asked: Parameters<typeof fixture.journal.readSome>) => {
      own.onRead?.();
      return fixture.journal.readSome(...asked);
    },
  };
  const push = createOtlpPush({ target: targetOf(url, true), journal, otlp, log, ...options });
  const own = {
    push,
    told,
    /** Called whenever the push reads a journal. */
    onRead: null as (() => void) | null,
    /** Project of the runs that end from now on. */
    project: null as string | null,
    /** Next line of the log. */
    heard: heard.promise,
    async end(text = "Hi.", before: ScriptEntry[] = []) {
      const { id } = await fixture.start([...before, { text }], { agent: { max_turns: 100 } });
      await fixture.settled(id);
      push.committed(id, fixture.journal.read(id));
      return id;
    },
    [Symbol.dispose]: () => fixture[Symbol.dispose](),
  };
  return own;
}

const never = () => new Promise<Response>(() => {});
const endless = (status: number) =>
  new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1000)) }), { status });

test("a collector that accepts a request and never answers is asked again, and the next request gets an answer", async () => {
  using collector = otlpReceiver([never]);
  using fixture = await pushFixture(collector.url, { attempt_ms: 1000 });
  const id = await fixture.end();
  const [first, second] = await collector.requests(2);
  for (const request of [first!, second!]) expect(runsOf([request])).toMatchObject([{ "runnel.run.id": id }]);
  await fixture.push.stop();
  expect(fixture.told).toEqual([]);
});

test("a collector that hangs delays the shutdown no longer than allowed, and unsent traces are logged", async () => {
  using collector = otlpReceiver([never]);
  using fixture = await pushFixture(collector.url, { flush_ms: 50 });
  for (let count = 0; count < 3; count++) await fixture.end();
  await collector.requests(1);
  await fixture.push.stop();
  expect(fixture.told.every(({ reason }) => reason === "The server stopped.")).toBe(true);
  expect(fixture.told.reduce((sum, { traces }) => sum + (traces as number), 0)).toBe(3);
  await fixture.end();
  expect(collector.received.length).toBe(1);
});

test("an answer counts by its status, even if its body never ends", async () => {
  using collector = otlpReceiver([() => endless(200), () => endless(400)]);
  using fixture = await pushFixture(collector.url);
  await fixture.end();
  await collector.requests(1);
  await fixture.end();
  await fixture.heard;
  expect(fixture.told).toMatchObject([{ traces: 1, reason: "It returned status 400." }]);
  await fixture.push.stop();
  expect(collector.received.length).toBe(2);
});

test.each([
  [400, 1],
  [404, 1],
  [413, 1],
  [307, 1],
  [500, 1],
  [502, 2],
])("a collector that answers %d is asked %d time(s)", async (status, times) => {
  const answer = () => new Response("", { status, headers: { location: "/elsewhere", "retry-after": "0" } });
  using collector = otlpReceiver(Array(9).fill(answer));
  using fixture = await pushFixture(collector.url, { attempts: 2 });
  await fixture.end();
  await fixture.heard;
  expect(collector.received.length).toBe(times);
  expect(collector.faults).toEqual([]);
  expect(fixture.told).toMatchObject([{ traces: 1, reason: `It returned status ${status}.` }]);
});

test("an answer that breaks off counts as an answer: nothing is sent twice", async () => {
  const half = () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(9)) }));
  await withEnoughTime(1000, async (attempt_ms) => {
    using collector = otlpReceiver([half]);
    using fixture = await pushFixture(collector.url, { attempt_ms, flush_ms: 10 * attempt_ms });
    await fixture.end();
    await collector.requests(1);
    await fixture.push.stop();
    // Sent twice: the timeout may have passed before a status arrived.
    return collector.received.length === 1 && fixture.told.length === 0 ? true : null;
  });
});

test("rejected spans of an accepted request are logged", async () => {
  using collector = otlpReceiver([() => rejecting(2)]);
  using fixture = await pushFixture(collector.url);
  await fixture.end();
  await fixture.heard;
  expect(fixture.told).toMatchObject([{ level: "warn", spans: 2 }]);
});

test("a collector that only accepts JSON gets JSON if it is configured, and its refusals are read", async () => {
  using collector = otlpReceiver([() => Response.json({ partialSuccess: { rejectedSpans: "3" } })], "application/json");
  const target = { ...targetOf(collector.url, true), protocol: "http/json" as const };
  using fixture = await pushFixture(collector.url, { target });
  await fixture.end();
  await fixture.heard;
  expect(fixture.told).toMatchObject([{ level: "warn", spans: 3 }]);
  expect((await collector.requests(1))[0]!.spans).toHaveLength(2);
});

test("a stop during the reading of a trace interrupts it, and logs that", async () => {
  using collector = otlpReceiver();
  using fixture = await pushFixture(collector.url, { flush_ms: 0 });
  let [stopped, reads]: [Promise<void> | null, number] = [null, 0];
  fixture.onRead = () => {
    reads++;
    stopped ??= fixture.push.stop();
    Bun.sleepSync(20); // Long enough for other timers to fire first, among them the flush timeout.
  };
  await fixture.end("Hi.", Array(40).fill({ tool_calls: [{ name: "gone", arguments: {} }] }));
  while (!stopped) await new Promise(setImmediate);
  await stopped;
  expect(reads).toBe(1);
  expect(fixture.told).toMatchObject([{ traces: 1, reason: "The server stopped." }]);
  expect(collector.received).toEqual([]);
});

test("traces of runs that end after the stop are not sent, which is logged", async () => {
  using collector = otlpReceiver();
  using fixture = await pushFixture(collector.url);
  await fixture.push.stop();
  await fixture.end();
  expect(fixture.told).toMatchObject([{ message: expect.stringContaining("not sent") }]);
});

test("the queue of runs is limited, and dropped runs are counted", async () => {
  const gate = Promise.withResolvers<Response>();
  using collector = otlpReceiver([() => gate.promise]);
  using fixture = await pushFixture(collector.url, { queueMax: 2 });
  await fixture.end();
  await collector.requests(1);
  for (let count = 0; count < 5; count++) await fixture.end();
  gate.resolve(Response.json({}));
  await collector.requests(2);
  await fixture.push.stop();
  expect(runsOf(collector.received).length).toBe(3);
  expect(fixture.told).toMatchObject([{ message: expect.stringContaining("more runs end") }, { traces: 3 }]);
});

test("a project whose runs flood the collector drops its own traces, and another's go before the rest of them", async () => {
  const gate = Promise.withResolvers<Response>();
  using collector = otlpReceiver([() => gate.promise]);
  using fixture = await pushFixture(collector.url, { queueMax: 8 });
  await fixture.end();
  await collector.requests(1);
  for (let count = 0; count < 10; count++) await fixture.end();
  fixture.project = "proj_quiet";
  const quiet = await fixture.end();
  gate.resolve(Response.json({}));
  const [, second] = await collector.requests(2);
  const sent = runsOf([second!]).map((one) => one["runnel.run.id"]);
  expect([sent.length, sent.indexOf(quiet)]).toEqual([7, 1]);
});

test("a trace too long for one request is sent whole in several", async () => {
  using collector = otlpReceiver();
  using fixture = await pushFixture(collector.url, { requestMax: 1500 });
  await fixture.end();
  const requests = await collector.requests(2);
  expect(requests.map(({ spans }) => spans.map(({ name }) => name))).toEqual([
    ["invoke_agent Fixture"],
    ["chat script"],
  ]);
});

test("text that looks like a secret is not sent, from any field", async () => {
  using collector = otlpReceiver();
  using fixture = await pushFixture(collector.url);
  const secret = `sk_live_${"a1".repeat(17)}`;
  await fixture.end(`Take\n${secret}\nand Bearer canary-token, "${secret}" and ${"x".repeat(7980 - 100)} ${secret}`);
  const [request] = await collector.requests(1);
  const sent = JSON.stringify(request!.spans);
  expect(sent).toContain("Take");
  expect(sent).not.toMatch(/a1a1|canary-token/);
  // The rest of a secret where a long text is cut is redacted too.
  await fixture.end(`${"x".repeat(7_980)} https://user:canary-password@example.com ${"x".repeat(100)}`);
  expect(JSON.stringify((await collector.requests(2))[1]!.spans)).not.toContain("canary");
});
