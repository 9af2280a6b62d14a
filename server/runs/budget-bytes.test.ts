import { afterAll, beforeAll, expect, test } from "bun:test";
import { modelPrefix } from "../runtime/models/registry.ts";
import { startProviders } from "../testing/provider-server.ts";
import { wires } from "../testing/provider-wire.ts";
import { testActor } from "../testing/test-actor.ts";
import { type TestApp, testApp } from "../testing/test-app.ts";

/** Models whose output is as long as the request's byte limit allows, and costs accordingly. */
const providers = startProviders(({ provider, body }) => {
  const allowed = [
    body.max_tokens,
    body.max_completion_tokens,
    body.max_output_tokens,
    body.generationConfig?.maxOutputTokens,
  ];
  const thought = body.generationConfig?.thinkingConfig?.thinkingBudget ?? 0;
  const tokens = Math.max(...allowed.filter(Number.isSafeInteger), thought, 0) || 100_000;
  const wire = wires[provider];
  return [wire.begin(), wire.text("So."), wire.end(undefined, tokens)];
});
let server: TestApp;
beforeAll(async () => {
  server = testApp();
  for (const connection of providers.connections) await server.connections.put(connection, testActor);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await providers[Symbol.asyncDispose]();
});

test.each([
  ["anthropic", "claude-sonnet-4-5-20250929"],
  ["anthropic", "claude-opus-4-6"],
  ["anthropic", "of-another-server"],
  ["google", "gemini-2.5-flash"],
  ["google", "gemini-3-pro-preview"],
  ["openai", "gpt-5.1"],
  ["mistral", "mistral-small-latest"],
  ["groq", "openai/gpt-oss-120b"],
  ["deepseek", "deepseek-v4-pro"],
  ["xai", "grok-4.3"],
  ["openrouter", "openai/gpt-5.1"],
  ["together", "zai-org/GLM-5"],
  ["fireworks", "accounts/fireworks/models/glm-5"],
  ["azure", "gpt-5"],
  ["ollama", "qwen3"],
  ["openai_compatible", "any"],
] as const)(
  "a run of %s/%s stays within its budget, even if the model uses every byte that the request allows",
  async (provider, name) => {
    // A project for each provider: all together make more runs in a minute than one project may.
    const client = await server.client({ project: provider });
    const model = `${modelPrefix(providers.connectionOf(provider))}/${name}`;
    await server.prices.set(model, { input: 3, cached_input: 0.3, output: 15, context_window: null }, testActor);
    for (const reasoning_effort of ["none", "low", "high"])
      for (const max_output_tokens of [undefined, 500, 1200]) {
        const model_settings = { reasoning_effort, ...(max_output_tokens && { max_output_tokens }) };
        const agent = { name: "a", instructions: "", model, model_settings };
        const agent_id = (await client.post("/v1/agents", agent)).body.id;
        const budget = { max_cost_usd: 0.02 };
        const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Go.", budget });
        expect(body.status).toBe("completed");
        expect(body.usage.cost_usd).toBeLessThanOrEqual(0.02);
        expect(body.usage.output_tokens).toBeLessThanOrEqual(max_output_tokens ?? 1334);
      }
  },
);
