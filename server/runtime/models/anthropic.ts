import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { containerOf } from "../../domain/provider-items.ts";
import { baseAddress } from "./base-address.ts";
import { withBreakpoints } from "./cache-breakpoints.ts";
import type { Connection, Model, ModelRequest, ModelUsage } from "./model.ts";
import { type Fetch, modelFetch, sdkFetch } from "./model-fetch.ts";
import { countAt, providerModel } from "./provider-model.ts";
import { stepOf, thinkingBudget } from "./thinking-budget.ts";

/** Opens Anthropic's Messages API. */
export async function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Promise<Model> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const apiKey = connection.api_key ?? "";
  // Set explicitly, because the SDK would read ANTHROPIC_BASE_URL.
  const base = baseAddress(connection.base_url ?? "https://api.anthropic.com/v1", fetch);
  const provider = createAnthropic({ apiKey, baseURL: base.url, fetch: sdkFetch(base.fetch) });
  return providerModel(provider.languageModel(modelName), await anthropicDialect(modelName, [apiKey]));
}

/** Differences of the Messages API, at Anthropic and at Vertex. */
export async function anthropicDialect(modelName: string, secrets: string[]) {
  const { getModelCapabilities } = await import("@ai-sdk/anthropic/internal");
  const { supportsAdaptiveThinking, isKnownModel, maxOutputTokens } = getModelCapabilities(modelName);
  // Newer models choose their thinking within the answer's length; older ones need a budget.
  const most = isKnownModel ? maxOutputTokens : Number.POSITIVE_INFINITY;
  const options = (request: ModelRequest) =>
    supportsAdaptiveThinking ? optionsOf(request) : withBudget(request, most);
  return { provider: "anthropic", options, counts, cacheWrites, cached, secrets };
}

const cached = (call: LanguageModelV4CallOptions, request: ModelRequest) =>
  withBreakpoints(call, request, { anthropic: { cacheControl: { type: "ephemeral" } } });

function optionsOf({ settings, tools, messages }: ModelRequest, more: object = {}) {
  const last = messages.at(-1);
  const container =
    last?.role === "assistant" ? (last.parts.map(containerOf).findLast((id) => id !== null) ?? null) : null;
  const parallel = tools.length > 0 ? settings.parallel_tool_calls : undefined;
  const anthropic = {
    ...(parallel !== undefined && { disableParallelToolUse: !parallel }),
    ...(container !== null && { container: { id: container } }),
    ...more,
  };
  return { providerOptions: { anthropic } };
}

// Minimum budget of the API.
const thinkingMin = 1024;

/**
 * Sets a thinking budget within the answer's length. The SDK would add the two, so that the call would exceed its
 * limit.
 */
function withBudget(request: ModelRequest, most: number) {
  const whole = Math.min(request.settings.max_output_tokens ?? 0, most);
  const wanted = thinkingBudget(request.settings);
  if (wanted === null) return optionsOf(request);
  const budget = stepOf(wanted);
  // Thinking would leave no room for the answer.
  if (whole < 2 * thinkingMin) return { ...optionsOf(request), reasoning: "provider-default" as const };
  const budgetTokens = Math.min(Math.max(budget, thinkingMin), whole - thinkingMin);
  const own = optionsOf(request, { thinking: { type: "enabled", budgetTokens } });
  return { ...own, maxOutputTokens: whole - budgetTokens };
}

const counts = {
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cached_input_tokens: "cache_read_input_tokens",
  reasoning_tokens: "output_tokens_details.thinking_tokens",
};

/** Returns the tokens written to the cache. Older servers report only their sum, which is of the usual five minutes. */
function cacheWrites(usage: unknown): Pick<ModelUsage, "cache_write_5m_tokens" | "cache_write_1h_tokens"> {
  const all = countAt(usage, "cache_creation_input_tokens");
  const short = countAt(usage, "cache_creation.ephemeral_5m_input_tokens");
  const long = countAt(usage, "cache_creation.ephemeral_1h_input_tokens");
  if (all === null && short === null && long === null) return {};
  const rest = Math.max(0, (all ?? 0) - (long ?? 0));
  return {
    cache_write_5m_tokens: Math.max(short ?? 0, rest),
    ...(long !== null && { cache_write_1h_tokens: long }),
  };
}
