import { expect, test } from "bun:test";
import { costOf } from "../../domain/cost.ts";
import { builtInPrice, builtInTable, offeredModels, partsOf } from "./known-models.ts";

const usage = {
  input_tokens: 1_000_000,
  output_tokens: 100_000,
  cached_input_tokens: 400_000,
  reasoning_tokens: 50_000,
};
const now = Date.parse("2026-11-29T12:00:00Z");
const listed = (model: string) => builtInTable().find(model, now);

test("a known model has its list price, with the date of the price", () => {
  expect(costOf(builtInPrice("openai/gpt-4.1"), usage)).toBe(2.2);
  expect(builtInPrice("openai/gpt-4.1")).toEqual({
    input: 2,
    cached_input: 0.5,
    output: 8,
    max_output_tokens: 32_768,
    as_of: "2026-09-23",
    source: "built_in",
  });
});

test.each([
  ["an unknown model", "openai/unlisted"],
  ["a server of one's own", "openai_compatible/gpu/gpt-4.1"],
  ["a model on one's own machine", "ollama/llama3.3"],
  ["a model without provider", "gpt-4.1"],
])("the cost of %s is unknown", (_, model) => {
  expect(costOf(builtInPrice(model), usage)).toBeNull();
});

test("embedding models of OpenAI, Google and Mistral cost their input", () => {
  expect(costOf(builtInPrice("openai/text-embedding-3-small"), { ...usage, output_tokens: 0 })).toBe(0.02);
  expect(costOf(builtInPrice("google/gemini-embedding-001"), { ...usage, output_tokens: 0 })).toBe(0.15);
  expect(costOf(builtInPrice("mistral/mistral-embed"), { ...usage, output_tokens: 0 })).toBe(0.1);
});

test("built-in models are free", () => {
  expect(costOf(builtInPrice("test/echo"), usage)).toBe(0);
});

test("each provider of the first rank has prices, each line has its page, and no price is below that of the cache", () => {
  const { lines } = builtInTable();
  const providers = new Set(lines.map(({ id }) => partsOf(id)[0]));
  expect([...providers].sort()).toEqual(
    [
      "anthropic",
      "azure",
      "bedrock",
      "deepseek",
      "fireworks",
      "google",
      "groq",
      "mistral",
      "openai",
      "openrouter",
    ].concat(["together", "vertex", "xai"]),
  );
  for (const { id, source, rates, later = [] } of lines) {
    expect(source).toStartWith("https://");
    for (const each of [rates, ...later.map((change) => change.rates)]) {
      expect(each.cached_input).toBeLessThanOrEqual(each.input);
      if (each.long_context) expect(each.long_context.output).toBeGreaterThanOrEqual(each.output);
    }
    expect(listed(id), id).not.toBeNull();
    if (!/^azure\//.test(id))
      expect(listed(id)?.price.input, id).toBe(
        (later.at(-1)?.from ?? "z") < "2026-11" ? later.at(-1)!.rates.input : rates.input,
      );
  }
  expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length);
});

test("the models offered are those to chat with, of current generations, the newest and of those the cheapest first", () => {
  const offered = offeredModels(builtInTable().lines).map(({ id }) => id);
  const of = (provider: string) => offered.filter((id) => id.startsWith(`${provider}/`));
  expect(of("openai")).toContainAllValues(of("openai").filter((id) => !/embed|image|tts|audio|davinci|gpt-3/.test(id)));
  expect(offered).toEqual(expect.arrayContaining(["openai/gpt-5.4", "openai/gpt-4.1", "anthropic/claude-opus-5-5"]));
  expect(["openai", "anthropic", "google"].map((provider) => of(provider)[0])).toEqual([
    "openai/gpt-6-luna",
    "anthropic/claude-sonnet-5",
    "google/gemini-3.1-flash-lite",
  ]);
  expect(of("anthropic").indexOf("anthropic/claude-sonnet-5")).toBeLessThan(
    of("anthropic").indexOf("anthropic/claude-3-haiku"),
  );
});

// Each name, and the price of a million tokens: input, output.
test.each([
  ["a snapshot of Anthropic", "anthropic/claude-opus-4-5-20251101", 5, 25],
  ["a snapshot that came later", "anthropic/claude-opus-5-5-20271231", 4, 20],
  ["a version with a dot", "anthropic/claude-opus-4.1", 15, 75],
  ["a newest snapshot", "anthropic/claude-3-5-haiku-latest", 0.8, 4],
  ["a listed snapshot of OpenAI", "openai/gpt-5.4-2026-03-05", 2.5, 15],
  ["an older snapshot with a price of its own", "openai/gpt-4o-2024-05-13", 5, 15],
  ["a fine-tuned model", "openai/ft:gpt-4o-mini-2024-07-18:shop::abc", 0.3, 1.2],
  ["a preview of Google", "google/gemini-2.5-pro-preview-06-05", 1.25, 10],
  ["a name with Google's folder", "google/models/gemini-2.5-flash", 0.3, 2.5],
  ["a vendor's model at OpenRouter", "openrouter/anthropic/claude-sonnet-4.5", 3, 15],
  ["a free variant at OpenRouter", "openrouter/meta-llama/llama-4-scout:free", 0, 0],
  ["a profile of a region", "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3.3, 16.5],
  ["a global profile", "bedrock/global.anthropic.claude-sonnet-4-5-20250929-v1:0", 3, 15],
  [
    "a profile's full address",
    "bedrock/arn:aws:bedrock:eu-west-1:1:inference-profile/eu.anthropic.claude-opus-4-5-20251101-v1:0",
    5.5,
    27.5,
  ],
  ["a model of Bedrock itself", "bedrock/amazon.nova-lite-v1:0", 0.06, 0.24],
  ["a dated name of Vertex", "vertex/claude-sonnet-4-5@20250929", 3, 15],
  ["a model that Vertex's list lacks", "vertex/claude-haiku-4-5@20251001", 1, 5],
  ["a path of Vertex", "vertex/publishers/google/models/gemini-2.5-pro", 1.25, 10],
  ["an open model at Groq", "groq/openai/gpt-oss-120b", 0.15, 0.6],
  ["the same at Fireworks", "fireworks/accounts/fireworks/models/gpt-oss-120b", 0.15, 0.6],
  ["a name in any case at Together", "together/meta-llama/llama-3.3-70b-instruct-turbo", 0.88, 0.88],
  ["a newest model of Mistral", "mistral/mistral-medium-latest", 1.5, 7.5],
  ["another name of xAI", "xai/grok-4-latest", 3, 15],
])("%s has its own price", (_, model, input, output) => {
  expect(listed(model)?.price).toMatchObject({ input, output });
  expect(listed(model)?.price.estimated).toBeUndefined();
});

test.each([
  ["a user's own profile", "bedrock/arn:aws:bedrock:us-east-1:1:application-inference-profile/abc"],
  ["another account's model", "fireworks/accounts/me/models/gpt-oss-120b"],
  ["a deployment by the hour", "fireworks/gpt-oss-120b#accounts/me/deployments/x"],
  ["a variant of a router that chooses by speed", "openrouter/openai/gpt-5.4:nitro"],
  ["a deployment with any name", "azure/my-bot"],
  ["a model of another kind", "openai/gpt-9-image"],
  ["a fine-tuned model that is not listed", "openai/ft:gpt-9:shop::abc"],
  ["an open model of unknown size", "groq/llama-9-900b"],
  ["a maker's model at the wrong provider", "google/claude-opus-5"],
])("%s has no price, rather than a wrong one", (_, model) => {
  expect(listed(model)).toBeNull();
});

test.each([
  ["openai/gpt-6-mini", 0.75, 4.5, 400_000],
  ["openai/o9-mini", 1.1, 4.4, 200_000],
  ["openai/gpt-4o-2027-01-01", 5, 15, 128_000],
  ["anthropic/claude-sonnet-9", 3, 15, 200_000],
  ["anthropic/claude-opus-9", 15, 75, 200_000],
  ["google/gemini-9-pro", 2, 12, 1_048_576],
  ["deepseek/deepseek-v9", 1.32, 3.96, 128_000],
  ["xai/grok-9", 3, 15, 131_072],
  ["bedrock/eu.anthropic.claude-sonnet-9-v1:0", 3.3, 16.5, 200_000],
  ["openrouter/anthropic/claude-sonnet-9", 3, 15, 1_000_000],
  ["vertex/claude-sonnet-9@20270101", 3, 15, 200_000],
])(
  "the unknown %s has the highest price and the smallest window of its family, as an estimate",
  (model, input, output, window) => {
    const { price, context_window } = listed(model)!;
    expect([price.input, price.output, context_window]).toEqual([input, output, window]);
    expect(price.estimated).toBe(true);
  },
);

test("a deployment of Azure that is called like a model has its price as an estimate, because its name is free", () => {
  expect(listed("azure/gpt-4o")?.price).toMatchObject({ input: 2.5, output: 10, estimated: true });
});
