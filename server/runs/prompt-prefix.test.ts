import { afterAll, expect, test } from "bun:test";
import type { ConnectionProvider } from "../domain/providers.ts";
import { modelPrefix } from "../runtime/models/registry.ts";
import { type ProviderRequest, startProviders } from "../testing/provider-server.ts";
import { wires } from "../testing/provider-wire.ts";
import { settledRun } from "../testing/settled-run.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

// A provider reads a prompt from its cache as far as its bytes equal those of an earlier prompt.

const tested = ["anthropic", "openai", "google", "openai_compatible"] as const satisfies ConnectionProvider[];
const turns = 10;
const masterKey = crypto.getRandomValues(new Uint8Array(32));
const day_ms = 24 * 3_600_000;

let held: { asked(): void; release: Promise<void> } | null = null;
const providers = startProviders(async function* ({ provider, body }: ProviderRequest) {
  const wire = wires[provider];
  const turn = turnsIn(body);
  if (held && turn === 5) {
    held.asked();
    await held.release;
  }
  yield wire.begin();
  if (turn % turns === turns - 1) {
    yield wire.text("It is done.");
    yield wire.end();
  } else {
    const args = JSON.stringify({ turn });
    yield [wire.text(`Step ${turn}.`), wire.call("look"), wire.args(args), wire.endCall("look", args)].join("");
    yield wire.end(wire.calls);
  }
});
const target = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => Response.json({ seen: await request.text(), number: 0.1, ключ: "värde 世界" }),
});
afterAll(async () => {
  await providers[Symbol.asyncDispose]();
  await target.stop(true);
});

/** Number of answers of the model in a request. */
const turnsIn = (body: object): number => JSON.stringify(body).match(/Step \d+\.|It is done\./g)?.length ?? 0;

/** The parts of a request that a provider caches, in the order in which it does: bytes of JSON. */
function promptOf(text: string): { head: string; messages: string } {
  const body = JSON.parse(text);
  expect(JSON.stringify(body)).toBe(text); // So that the parts have the bytes of the request.
  const {
    tools,
    system,
    systemInstruction,
    tool_choice,
    toolConfig,
    thinking,
    instructions,
    messages,
    input,
    contents,
  } = body;
  const bytes = (value: unknown) =>
    JSON.stringify(value ?? null).replaceAll(',"cache_control":{"type":"ephemeral"}', "");
  return {
    head: bytes([
      tools,
      system,
      systemInstruction,
      tool_choice,
      toolConfig,
      thinking,
      instructions,
      body.prompt_cache_key,
    ]),
    messages: bytes(messages ?? input ?? contents).slice(0, -1),
  };
}

/** Expects that each request begins with the whole request before it. */
function expectGrowth(bodies: readonly string[]): void {
  const prompts = bodies.map(promptOf);
  for (const [index, prompt] of prompts.entries()) {
    const before = prompts[index - 1];
    if (!before) continue;
    expect(prompt.head).toBe(before.head);
    expect(prompt.messages.slice(0, before.messages.length)).toBe(before.messages);
    expect(prompt.messages.length).toBeGreaterThan(before.messages.length);
  }
}

interface Setup {
  server: TestApp;
  client: Client;
  agent_id: string;
}

async function setUp(provider: ConnectionProvider, now?: () => number): Promise<Setup> {
  const server = testApp({ masterKey, ...(now && { now }) });
  const client = await server.client();
  const connection = providers.connectionOf(provider);
  await server.connections.put(connection, testActor);
  const make = async (name: string) =>
    (
      await client.post("/v1/tools", {
        name,
        type: "http",
        url: `${target.url}${name}`,
        parameters: { type: "object", properties: { turn: { type: "integer" }, all: { type: "boolean" } } },
      })
    ).body.id;
  const tools = [await make("look"), await make("find"), await make("ask")];
  const { id: memory_id } = (await client.post("/v1/memory", { name: "Notes", kind: "kv" })).body;
  const guardrails = [{ type: "pii", on: ["tool_output"], action: "redact", config: {} }];
  const agent = {
    name: "Worker",
    instructions: "Work.",
    model: `${modelPrefix(connection)}/some-model`,
    tools,
    memory: { stores: [{ memory_id, access: "read_write" }] },
    guardrails,
    budget: { max_total_tokens: 1_000_000 },
  };
  const { status, body } = await client.post("/v1/agents", agent);
  expect([status, body.error]).toEqual([201, undefined]);
  const agent_id = body.id as string;
  return { server, client, agent_id };
}

async function run({ client, agent_id }: Setup, more: object = {}) {
  const before = providers.bodies.length;
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Go.", ...more });
  expect([body.status, body.output]).toEqual(["completed", "It is done."]);
  return { id: body.id as string, thread_id: body.thread_id, bodies: providers.bodies.slice(before) };
}

test.each(tested)("each of ten requests to %s begins with the one before it, byte by byte", async (provider) => {
  const setup = await setUp(provider);
  await using _server = setup.server;
  const { bodies } = await run(setup);
  expect(bodies).toHaveLength(turns);
  expectGrowth(bodies);
});

test.each(tested)(
  "the runs of a thread begin with the runs before them for %s, on another day too",
  async (provider) => {
    let later = 0;
    const setup = await setUp(provider, () => Date.now() + later);
    await using _server = setup.server;
    const first = await run(setup, { thread_id: "new" });
    later = day_ms;
    const second = await run(setup, { thread_id: first.thread_id, input: "And again." });
    expectGrowth([...first.bodies, ...second.bodies]);
    expect(second.bodies).toHaveLength(turns);
  },
);

test.each(tested)("a fork sends %s the same bytes as its source up to there", async (provider) => {
  const setup = await setUp(provider);
  await using _server = setup.server;
  const source = await run(setup);
  const before = providers.bodies.length;
  const { body } = await setup.client.post(`/v1/runs/${source.id}/fork`, { step_index: 5, tools: "live" });
  const fork = await settledRun(setup.server, setup.client, body.id);
  expect(fork.status).toBe("completed");
  const bodies = providers.bodies.slice(before);
  expect(bodies.length).toBeGreaterThan(3);
  const place = source.bodies.findIndex((sent) => turnsIn(JSON.parse(sent)) === turnsIn(JSON.parse(bodies[0]!)));
  expectGrowth([...source.bodies.slice(0, place), ...bodies]);
});

test.each(tested)("a run that another process continues sends %s the same bytes", async (provider) => {
  const setup = await setUp(provider);
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const before = providers.bodies.length;
  held = { asked: asked.resolve, release: release.promise };
  const { body } = await setup.client.post("/v1/runs", { agent_id: setup.agent_id, input: "Go." });
  await asked.promise;
  await setup.server.stop();
  held = null;
  release.resolve();
  await using next = testApp({ db: setup.server.db, masterKey });
  expect(await next.recover()).toBe(1);
  const client = await next.client();
  expect((await settledRun(next, client, body.id)).status).toBe("completed");
  const bodies = providers.bodies.slice(before);
  expect(bodies).toHaveLength(turns + 1);
  expect(bodies[6]).toBe(bodies[5]!);
  expectGrowth(bodies.toSpliced(5, 1));
});
