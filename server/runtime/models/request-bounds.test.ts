import { afterAll, describe, expect, test } from "bun:test";
import { worstCase } from "../../domain/budget.ts";
import type { ModelRequest } from "../../domain/model-call.ts";
import type { ModelPrice } from "../../domain/price.ts";
import { type ConnectionProvider, reasoningEfforts } from "../../domain/providers.ts";
import { startProviders } from "../../testing/provider-server.ts";
import { wires } from "../../testing/provider-wire.ts";
import { openModel } from "./registry.ts";

const providers = startProviders(({ provider }) => [
  wires[provider].begin(),
  wires[provider].text("So."),
  wires[provider].end(),
]);
afterAll(() => providers[Symbol.asyncDispose]());

const models: [ConnectionProvider, string][] = [
  ["anthropic", "claude-sonnet-4-5-20250929"],
  ["anthropic", "claude-opus-4-1"],
  ["anthropic", "claude-3-7-sonnet-20250219"],
  ["anthropic", "claude-3-haiku-20240307"],
  ["anthropic", "claude-opus-4-6"],
  ["anthropic", "claude-sonnet-5"],
  ["anthropic", "a-model-of-another-server"],
  ["google", "gemini-2.5-pro"],
  ["google", "gemini-2.5-flash"],
  ["google", "gemini-2.5-flash-lite"],
  ["google", "gemini-3-pro-preview"],
  ["google", "gemini-flash-latest"],
  ["openai", "gpt-5.1"],
  ["openai", "o3"],
  ["openai", "gpt-4.1"],
  ["ollama", "qwen3"],
  ["openai_compatible", "any"],
];

const price: ModelPrice = { input: 3, cached_input: 0.3, output: 15, as_of: null, source: "operator" };
const look = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } };
const output_schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };

const requests: Pick<ModelRequest, "tools" | "output_schema" | "settings">[] = [
  { tools: [], settings: {} },
  { tools: [look], settings: { tool_choice: "required", parallel_tool_calls: false, temperature: 0.3, top_p: 0.9 } },
  { tools: [look], settings: {}, output_schema },
];

/** Returns all limits on output or thinking in a request's bytes. */
const boundsIn = (body: string): number[] =>
  [...body.matchAll(/"(?:max_\w*tokens|max\w*Tokens|budget_tokens|thinkingBudget)":(\d+)/g)].map(([, count]) =>
    Number(count),
  );

describe.each(models)("%s/%s", (provider, name) => {
  test.each([undefined, ...reasoningEfforts])(
    "requests at most the reserved length, with the effort %p",
    async (effort) => {
      for (const max_output_tokens of [16, 500, 1024, 1500, 2048, 5000, 32_000, 200_000])
        for (const { settings, ...rest } of requests) {
          const own = { ...settings, max_output_tokens, ...(effort && { reasoning_effort: effort }) };
          const request: ModelRequest = { messages: [{ role: "user", content: "Hi" }], ...rest, settings: own };
          const model = await openModel(providers.connectionOf(provider), name);
          const before = providers.bodies.length;
          await Array.fromAsync(model.stream(request, new AbortController().signal));
          const asked = providers.bodies.slice(before);
          expect(asked).toHaveLength(1);
          const bounds = boundsIn(asked[0]!);
          expect(bounds.length).toBeGreaterThan(0);
          expect(Math.max(...bounds)).toBeLessThanOrEqual(worstCase(request, price).max_output_tokens);
        }
    },
  );
});

test("a model with a thinking budget still thinks, and has room for its answer", async () => {
  for (const [effort, least] of [
    ["low", 1024],
    ["high", 3000],
  ] as const) {
    const settings = { max_output_tokens: 5000, reasoning_effort: effort };
    const model = await openModel(providers.connectionOf("anthropic"), "claude-sonnet-4-5");
    await Array.fromAsync(
      model.stream({ messages: [{ role: "user", content: "Hi" }], tools: [], settings }, new AbortController().signal),
    );
    const { max_tokens, thinking } = JSON.parse(providers.bodies.at(-1)!);
    expect([max_tokens, thinking.type]).toEqual([5000, "enabled"]);
    expect(thinking.budget_tokens).toBeGreaterThanOrEqual(least);
    expect(thinking.budget_tokens).toBeLessThanOrEqual(4000);
  }
});

/** A part of a long answer, after which the SDK would request the rest. */
const part = (text: string, more: object) =>
  `data: ${JSON.stringify({
    candidates: [{ content: { role: "model", parts: [{ text }] }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5, totalTokenCount: 25 },
  })}\n\n`;

test.each([
  [{ max_output_tokens: 500 }, "One. ", "length", 1],
  [{}, "One. Two.", "stop", 2],
])(
  "the rest of a long answer is not requested if a length was reserved (%j)",
  async (settings, text, finish, count) => {
    await using long = startProviders(({ index }) => [
      index === 0
        ? part("One. ", { finishReason: "CONTINUATION", continuationToken: "next" })
        : part("Two.", { finishReason: "STOP" }),
    ]);
    const model = await openModel(long.connectionOf("google"), "gemini-4-argon");
    const request: ModelRequest = { messages: [{ role: "user", content: "Hi" }], tools: [], settings };
    const events = await Array.fromAsync(model.stream(request, new AbortController().signal));
    expect(events.map((event) => (event.type === "delta" ? event.text : "")).join("")).toBe(text);
    expect(events.at(-1)).toMatchObject({ type: "done", finish });
    expect(long.bodies).toHaveLength(count);
  },
);

test("thinking is counted if the provider reports only that", async () => {
  const usageMetadata = { promptTokenCount: 20, thoughtsTokenCount: 480, totalTokenCount: 500 };
  await using quiet = startProviders(() => [
    `data: ${JSON.stringify({ candidates: [{ content: { parts: [] }, finishReason: "MAX_TOKENS" }], usageMetadata })}\n\n`,
  ]);
  const model = await openModel(quiet.connectionOf("google"), "gemini-2.5-flash");
  const request: ModelRequest = { messages: [{ role: "user", content: "Hi" }], tools: [], settings: {} };
  const events = await Array.fromAsync(model.stream(request, new AbortController().signal));
  expect(events).toMatchObject([{ type: "done", finish: "length", usage: { output_tokens: 480 } }]);
});
