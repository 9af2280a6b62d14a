import { type Fetch, modelFetch } from "./model-fetch.ts";
import { observedFetch } from "./observed-fetch.ts";
import type { Connection, Model, ModelRequest } from "./port.ts";
import { providerModel } from "./provider-model.ts";

/** Anthropic by its Messages API. */
export async function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Promise<Model> {
  const { createAnthropic } = await import("@ai-sdk/anthropic");
  const apiKey = connection.api_key ?? "";
  // Said outright, or the SDK takes its address from ANTHROPIC_BASE_URL.
  const baseURL = connection.base_url ?? "https://api.anthropic.com/v1";
  const provider = createAnthropic({ apiKey, baseURL, fetch: observedFetch(fetch) });
  return providerModel(provider.languageModel(modelName), { options, counts, secrets: [apiKey] });
}

function options({ settings, tools }: ModelRequest) {
  const parallel = tools.length > 0 ? settings.parallel_tool_calls : undefined;
  const anthropic = { ...(parallel !== undefined && { disableParallelToolUse: !parallel }) };
  return { providerOptions: { anthropic } };
}

const counts = {
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cached_input_tokens: "cache_read_input_tokens",
  reasoning_tokens: "output_tokens_details.thinking_tokens",
};
