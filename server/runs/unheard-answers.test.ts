import { expect, test } from "bun:test";
import { startProviders } from "../testing/provider-server.ts";
import { wires } from "../testing/provider-wire.ts";
import { testActor } from "../testing/test-actor.ts";
import { testApp } from "../testing/test-app.ts";

const wire = wires.openai_compatible;
const judge = { type: "llm_judge", on: ["output"], action: "block", config: { prompt: "Be kind." } };

test.each([
  ["arguments of a tool", [wire.call("look"), wire.args(`{"city":"${"x".repeat(4000)}`)], []],
  ["text that a guardrail holds back", [wire.text("x ".repeat(2000))], [judge]],
])("a cancelled run pays for the %s that the model had written", async (_, texts, guardrails) => {
  async function* say() {
    yield wire.begin();
    yield* texts;
    await new Promise(() => {});
  }
  await using providers = startProviders(say);
  await using server = testApp();
  const client = await server.client();
  await server.connections.put(providers.connectionOf("openai_compatible"), testActor);
  const model = "openai_compatible/stub/m";
  await server.prices.set(model, { input: 3, cached_input: 3, output: 15, context_window: null }, testActor);
  const agent = { name: "a", instructions: "Be kind. ".repeat(400), model, guardrails };
  const agent_id = (await client.post("/v1/agents", agent)).body.id;
  const { id } = (await client.post("/v1/runs", { agent_id, input: "Go." })).body;
  // Withheld text wakes no waiter, so poll.
  while (!((server.watches.live(id)?.generatedLength ?? 0) > 3500))
    await new Promise((resolve) => setImmediate(resolve));
  const { status, usage } = (await client.post(`/v1/runs/${id}/cancel`)).body;
  expect(status).toBe("cancelled");
  expect(usage).toMatchObject({ model_calls: 1, estimated: true });
  expect(usage.output_tokens).toBeGreaterThan(900);
  // The instructions are part of the prompt too.
  expect(usage.input_tokens).toBeGreaterThan(800);
  expect(usage.cost_usd).toBeGreaterThan(0.013);
});
