import { afterAll, beforeAll, expect, test } from "bun:test";
import { type CacheAnswer, type CacheUsage, startAnthropicCache } from "../testing/anthropic-cache.ts";
import { attributesOf, spansIn } from "../testing/otlp-receiver.ts";
import { settledRun } from "../testing/settled-run.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

const turns = 10;
/** A prompt of 6,000 words. */
const instructions = Array.from({ length: 1000 }, (_, line) => `Rule ${line} says always be kind.`).join("\n");
const toolNames = ["find", "read", "write", "list", "send", "plan", "check", "count"];

/** Each turn but the last asks for one tool. */
const work = (turn: number): CacheAnswer =>
  turn % turns === turns - 1
    ? { text: "It is done." }
    : { text: `Step ${turn}.`, calls: [{ name: toolNames[turn % toolNames.length]!, input: { turn } }] };

let server: TestApp;
let client: Client;
const tools: string[] = [];
const target = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => new Response(`${await request.text()} is here. `.repeat(20)),
});
let answers: (turn: number) => CacheAnswer | Promise<CacheAnswer> = work;
let asked = 0;
const anthropic = startAnthropicCache(() => answers(asked++));

beforeAll(async () => {
  server = testApp();
  client = await server.client();
  const { base_url } = anthropic;
  await server.connections.put(
    { name: "anthropic", provider: "anthropic", base_url, api_key: "sk-ant-0123456789" },
    testActor,
  );
  for (const name of toolNames) {
    const parameters = { type: "object", properties: { turn: { type: "integer", description: "The turn." } } };
    const tool = {
      name,
      description: `Can ${name} what the user needs.`,
      type: "http",
      url: `${target.url}${name}`,
      parameters,
      response: "text",
    };
    tools.push((await client.post("/v1/tools", tool)).body.id);
  }
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await anthropic[Symbol.asyncDispose]();
  await target.stop(true);
});

async function agentWith(more: object = {}): Promise<string> {
  const agent = { name: "Worker", instructions, model: "anthropic/claude-sonnet-4-5", tools, ...more };
  return (await client.post("/v1/agents", agent)).body.id;
}

async function runOf(agent_id: string, more: object = {}) {
  asked = 0;
  const before = anthropic.usages.length;
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Do the work.", ...more });
  return { run: body, usages: anthropic.usages.slice(before), bodies: anthropic.bodies.slice(before) };
}

const sum = (usages: readonly CacheUsage[], count: (usage: CacheUsage) => number): number =>
  usages.reduce((total, usage) => total + count(usage), 0);
const wholeOf = (usage: CacheUsage): number =>
  usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens;

test("ten turns with a prompt of 6,000 words and eight tools read at least 85 % of their input from the cache", async () => {
  expect(instructions.split(/\s+/)).toHaveLength(6000);
  const on = await runOf(await agentWith());
  const off = await runOf(await agentWith({ prompt_caching: "off" }));
  expect([on.run.status, on.usages.length]).toEqual(["completed", turns]);
  const [read, whole] = [sum(on.usages, (usage) => usage.cache_read_input_tokens), sum(on.usages, wholeOf)];
  expect(read / whole).toBeGreaterThanOrEqual(0.85);
  // Our counts are the provider's, each token once.
  expect(on.run.usage).toMatchObject({
    input_tokens: whole,
    cached_input_tokens: read,
    cache_write_5m_tokens: sum(on.usages, (usage) => usage.cache_creation_input_tokens),
    cache_write_1h_tokens: 0,
  });
  const { input_tokens, output_tokens, cost_usd } = on.run.usage;
  const plain = sum(on.usages, (usage) => usage.input_tokens);
  const price = plain * 3 + read * 0.3 + (input_tokens - plain - read) * 3.75 + output_tokens * 15;
  expect(cost_usd).toBeCloseTo(price / 1e6, 9);
  // Without caching, the same run sends the same tokens and pays each in full.
  expect(sum(off.usages, (usage) => usage.cache_read_input_tokens + usage.cache_creation_input_tokens)).toBe(0);
  expect(off.run.usage.input_tokens).toBe(whole);
  expect(off.run.usage.cost_usd / cost_usd).toBeGreaterThan(3);
});

test("a thread that is longer than its agent reads is found in the cache by most runs", async () => {
  const model = { instructions: "Answer kindly.", tools: [], memory: {} };
  const agent_id = await agentWith(model);
  answers = () => ({ text: `Surely. ${"That is so. ".repeat(40)}` });
  const { id: thread_id } = (await client.post("/v1/threads", {})).body;
  const usages: CacheUsage[] = [];
  for (let turn = 0; turn < 60; turn++) {
    const input = `Question ${turn}: ${"is that so? ".repeat(40)}`;
    usages.push(...(await runOf(agent_id, { thread_id, input })).usages);
  }
  answers = work;
  const late = usages.slice(30);
  const hits = late.filter((usage) => usage.cache_read_input_tokens > wholeOf(usage) / 2);
  expect(hits.length / late.length).toBeGreaterThanOrEqual(0.75);
});

test("runs with other values read the text before the first variable from the cache", async () => {
  const begun = `${instructions}${crypto.randomUUID()}`;
  const variables = [{ name: "customer", type: "string" }];
  const usageOf = async (agent_id: string, customer: string) =>
    (await runOf(agent_id, { variables: { customer } })).usages[0]!;
  const last = await agentWith({ instructions: `${begun}\nServe {{customer}}.`, variables });
  const first = await agentWith({ instructions: `Serve {{customer}}.\n${begun}`, variables });
  await usageOf(last, "Ann");
  await usageOf(first, "Ann");
  const [behind, before] = [await usageOf(last, "Bob"), await usageOf(first, "Bob")];
  expect(behind.cache_read_input_tokens / wholeOf(behind)).toBeGreaterThan(0.95);
  // A variable at the beginning leaves nothing to share, whatever is marked.
  expect(before.cache_read_input_tokens / wholeOf(before)).toBeLessThan(0.1);
});

test("a conversation with variables is cached like one without", async () => {
  const variables = [{ name: "customer", type: "string" }];
  const text = `${instructions}${crypto.randomUUID()} {{customer}}`;
  const { usages } = await runOf(await agentWith({ instructions: text, variables }), {
    variables: { customer: "Ann" },
  });
  const [read, whole] = [sum(usages, (usage) => usage.cache_read_input_tokens), sum(usages, wholeOf)];
  expect(read / whole).toBeGreaterThanOrEqual(0.85);
});

test("a budget in dollars holds although writing to a cache costs more than reading without one", async () => {
  const agent_id = await agentWith({ instructions: `${instructions}${crypto.randomUUID()}` });
  for (const max_cost_usd of [0.02, 0.05, 0.07, 0.1]) {
    const { run } = await runOf(agent_id, { budget: { max_cost_usd } });
    expect(run.usage?.cost_usd ?? 0).toBeLessThanOrEqual(max_cost_usd);
    if (run.status !== "completed") expect(run.error.code).toBe("budget_exceeded");
  }
});

test("an agent's caching is part of its version, and a run keeps that of its start", async () => {
  const agent_id = await agentWith();
  expect((await client.get(`/v1/agents/${agent_id}`)).body.prompt_caching).toBe("auto");
  const begun = (await runOf(agent_id)).run;
  expect((await client.patch(`/v1/agents/${agent_id}`, { prompt_caching: "off" })).body).toMatchObject({
    version: 2,
    prompt_caching: "off",
  });
  expect((await client.get(`/v1/agents/${agent_id}/versions/1`)).body.prompt_caching).toBe("auto");
  const off = await runOf(agent_id);
  expect(off.bodies.join("")).not.toContain("cache_control");
  // A replay compares prompts, not how they are cached.
  const { body: replay } = await client.post(`/v1/runs/${begun.id}/replay`, { mode: "verify", agent: "current" });
  expect((await settledRun(server, client, replay.id)).replay.divergences).toEqual([]);
  expect((await client.patch(`/v1/agents/${agent_id}`, { prompt_caching: "maybe" })).status).toBe(400);
});

test("tokens read from and written to a cache are counted in traces, usage, metrics and OpenTelemetry", async () => {
  const written = async () => {
    const text = String((await server.send("GET", "/metrics")).body);
    const line = /^runnel_model_tokens_total\{provider="anthropic",type="cache_write_5m"\} (\d+)$/m.exec(text);
    return Number(line?.[1] ?? 0);
  };
  const before = await written();
  const agent_id = await agentWith({ instructions: `${instructions}${crypto.randomUUID()}` });
  const { run, usages } = await runOf(agent_id);
  const writes = sum(usages, (usage) => usage.cache_creation_input_tokens);
  const reads = sum(usages, (usage) => usage.cache_read_input_tokens);
  expect(run.usage).toMatchObject({ cached_input_tokens: reads, cache_write_5m_tokens: writes });
  expect((await written()) - before).toBe(writes);
  const { data } = (await client.get("/v1/usage?group_by=agent")).body;
  const counts = { cached_input_tokens: reads, cache_write_5m_tokens: writes, cache_write_1h_tokens: 0 };
  expect(data.find((group: { agent_id: string }) => group.agent_id === agent_id)).toMatchObject(counts);
  const { steps } = (await client.get(`/v1/traces/${run.id}`)).body;
  expect(steps[0].usage.cache_write_5m_tokens).toBe(usages[0]!.cache_creation_input_tokens);
  const spans = spansIn((await client.get(`/v1/traces/${run.id}?format=otlp`)).body);
  const told = spans.map((span) => attributesOf(span)["gen_ai.usage.cache_creation.input_tokens"]);
  expect(told.filter((count) => count !== undefined).map(Number)).toEqual([
    writes,
    ...usages.map((usage) => usage.cache_creation_input_tokens),
  ]);
});

test("passages from memory come after the conversation, which is read from the cache without them", async () => {
  const { id: memory_id } = (await client.post("/v1/memory", { name: "Manuals", kind: "vector" })).body;
  const text = "To reset the coffee machine hold the red button for ten seconds.";
  await client.post(`/v1/memory/${memory_id}/entries`, { text });
  const memory = { stores: [{ memory_id, top_k: 1 }] };
  const agent_id = await agentWith({ instructions: "Answer kindly.", tools: [], memory });
  answers = () => ({ text: `Surely. ${"That is so. ".repeat(400)}` });
  const { id: thread_id } = (await client.post("/v1/threads", {})).body;
  const runs = [];
  for (let turn = 0; turn < 8; turn++)
    runs.push(await runOf(agent_id, { thread_id, input: `Reset the coffee machine ${turn}?` }));
  answers = work;
  const last = runs.at(-1)!;
  const content = JSON.parse(last.bodies[0]!)
    .messages.at(-1)
    .content.map((block: { text: string }) => block.text);
  expect(content).toEqual([expect.stringContaining("hold the red button"), "Reset the coffee machine 7?"]);
  expect(last.usages[0]!.cache_read_input_tokens).toBeGreaterThan(wholeOf(last.usages[0]!) / 2);
});
