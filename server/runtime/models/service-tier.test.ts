import { expect, test } from "bun:test";
import { eventFrame } from "../../testing/event-stream-frame.ts";
import type { Connection, ModelRequest } from "./model.ts";
import { openModel } from "./registry.ts";

// The tier that a provider names in its answer, by the place that it documents for it.

const connection = (provider: Connection["provider"]): Connection => ({
  name: provider,
  provider,
  base_url: null,
  api_key: "key-0123456789",
  ...(provider === "bedrock" && { region: "eu-west-1" }),
});

const events = (...all: object[]): string =>
  all.map((each) => `event: ${"type" in each ? each.type : ""}\ndata: ${JSON.stringify(each)}\n\n`).join("");

const response = { id: "resp_1", object: "response", created_at: 1_764_000_000, model: "gpt-5", output: [] };
const counted = { input_tokens: 10, output_tokens: 2 };
const openAi = (service_tier: string): string =>
  events(
    { type: "response.created", response: { ...response, status: "in_progress", service_tier: "auto" } },
    { type: "response.output_item.added", output_index: 0, item: { id: "msg_0", type: "message", role: "assistant" } },
    { type: "response.output_text.delta", item_id: "msg_0", output_index: 0, content_index: 0, delta: "Yes." },
    {
      type: "response.completed",
      response: { ...response, status: "completed", service_tier, usage: { ...counted, total_tokens: 12 } },
    },
  );
const chat = (service_tier: string): string =>
  `data: ${JSON.stringify({ service_tier, choices: [{ index: 0, delta: { content: "Yes." }, finish_reason: "stop" }] })}\n\ndata: ${JSON.stringify({ service_tier, choices: [], usage: { prompt_tokens: 10, completion_tokens: 2 } })}\n\ndata: [DONE]\n\n`;
const claude = (usage: object): string =>
  events(
    {
      type: "message_start",
      message: {
        id: "m",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { ...counted, ...usage },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Yes." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  );
const gemini = (more: object): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text: "Yes." }] }, index: 0, finishReason: "STOP" }], usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12, ...more } })}\n\n`;
const nova = (type: string) =>
  Buffer.concat([
    eventFrame("messageStart", { role: "assistant" }),
    eventFrame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "Yes." } }),
    eventFrame("messageStop", { stopReason: "end_turn" }),
    eventFrame("metadata", { usage: { inputTokens: 10, outputTokens: 2 }, serviceTier: { type } }),
  ]);

/** Returns the tier in the usage of an answer to a request with these fields of the agent. */
async function servedTier(
  provider: Connection["provider"],
  model: string,
  bytes: string | Uint8Array<ArrayBuffer>,
  asked: { body?: object; options?: object; headers?: Record<string, string> } = {},
) {
  const type = provider === "bedrock" ? "application/vnd.amazon.eventstream" : "text/event-stream";
  const answer = async () => new Response(bytes, { headers: { "content-type": type, ...asked.headers } });
  const fetch = Object.assign(answer, { preconnect() {} });
  const opened = await openModel(connection(provider), model, fetch);
  const extras = { headers: {}, secrets: [], body: { ...asked.body }, options: { ...asked.options } };
  const request: ModelRequest = { messages: [{ role: "user", content: "Hi" }], tools: [], settings: {}, extras };
  const last = (await Array.fromAsync(opened.stream(request, new AbortController().signal))).at(-1);
  if (last?.type !== "done") throw new Error(JSON.stringify(last));
  return last.usage.service_tier;
}

test("the tier in which a provider answered is in the usage, also one that the project's settings chose", async () => {
  expect(await servedTier("openai", "gpt-5", openAi("priority"))).toBe("priority");
  expect(await servedTier("openai_compatible", "m", chat("flex"))).toBe("flex");
  expect(await servedTier("anthropic", "claude-opus-4-6", claude({ service_tier: "priority" }))).toBe("priority");
  expect(await servedTier("anthropic", "claude-opus-4-6", claude({ service_tier: "standard", speed: "fast" }))).toBe("fast"); // biome-ignore format: one line
  expect(await servedTier("google", "gemini-2.5-flash", gemini({ serviceTier: "flex" }))).toBe("flex");
  expect(await servedTier("bedrock", "amazon.nova-pro-v1:0", nova("priority"))).toBe("priority");
  expect(await servedTier("vertex", "gemini-2.5-pro", gemini({ trafficType: "ON_DEMAND_PRIORITY" }))).toBe("priority");
});

test("the standard tier is not named, unless another one was asked for and the provider had no room in it", async () => {
  for (const tier of ["default", "auto", "on_demand"])
    expect(await servedTier("openai_compatible", "m", chat(tier))).toBeUndefined();
  expect(await servedTier("openai", "gpt-5", openAi("default"))).toBeUndefined();
  expect(await servedTier("anthropic", "claude-opus-4-6", claude({ service_tier: "standard" }))).toBeUndefined();
  expect(await servedTier("bedrock", "amazon.nova-pro-v1:0", nova("default"))).toBeUndefined();
  expect(await servedTier("vertex", "gemini-2.5-pro", gemini({ trafficType: "ON_DEMAND" }))).toBeUndefined();
  const body = { service_tier: "priority" };
  expect(await servedTier("openai", "gpt-5", openAi("default"), { body })).toBe("default");
  expect(await servedTier("openai", "gpt-5", openAi("default"), { options: { serviceTier: "flex" } })).toBe("default");
  expect(await servedTier("openai_compatible", "m", chat("default"), { body })).toBe("default");
  const shared = { sharedRequestType: "priority" };
  expect(await servedTier("vertex", "gemini-2.5-pro", gemini({ trafficType: "ON_DEMAND" }), { options: shared })).toBe(
    "on_demand",
  );
  const headers = { "x-gemini-service-tier": "standard" };
  const options = { serviceTier: "priority" };
  expect(await servedTier("google", "gemini-2.5-flash", gemini({}), { options, headers })).toBe("standard");
});
