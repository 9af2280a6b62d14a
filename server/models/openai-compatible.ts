import { type Fetch, modelFetch } from "./model-fetch.ts";
import { ollamaUrl } from "./ollama.ts";
import type { Connection, Model, ModelRequest } from "./port.ts";
import { providerModel } from "./provider-model.ts";

// One name for every connection: metadata is kept under it, and a conversation may move between connections.
const name = "compatible";

/** Any server that speaks OpenAI's chat completions: llama.cpp, vLLM, Ollama, gateways. */
export async function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Promise<Model> {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const apiKey = connection.api_key ?? undefined;
  const baseURL = connection.base_url ?? ollamaUrl;
  // Without `includeUsage` most servers count nothing in a stream.
  const settings = { name, baseURL, apiKey, fetch, includeUsage: true, supportsStructuredOutputs: true };
  const provider = createOpenAICompatible(settings);
  return providerModel(provider.languageModel(modelName), { options, counts, secrets: apiKey ? [apiKey] : [] });
}

function options({ settings, tools }: ModelRequest) {
  const parallel = tools.length > 0 ? settings.parallel_tool_calls : undefined;
  return { [name]: { strictJsonSchema: false, ...(parallel !== undefined && { parallel_tool_calls: parallel }) } };
}

const counts = {
  input_tokens: "prompt_tokens",
  output_tokens: "completion_tokens",
  cached_input_tokens: "prompt_tokens_details.cached_tokens",
  reasoning_tokens: "completion_tokens_details.reasoning_tokens",
};
