import { type Fetch, modelFetch } from "./model-fetch.ts";
import { observedFetch } from "./observed-fetch.ts";
import type { Connection, Model } from "./port.ts";
import { providerModel } from "./provider-model.ts";

/** Google by the Gemini API. It has no switch for parallel tool calls: that setting has no effect here. */
export async function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Promise<Model> {
  const { createGoogle } = await import("@ai-sdk/google");
  const apiKey = connection.api_key ?? "";
  const baseURL = connection.base_url ?? "https://generativelanguage.googleapis.com/v1beta";
  const provider = createGoogle({ apiKey, baseURL, fetch: observedFetch(fetch) });
  return providerModel(provider.languageModel(modelName), { options: () => ({}), counts, secrets: [apiKey] });
}

const counts = {
  input_tokens: "promptTokenCount",
  output_tokens: "candidatesTokenCount",
  cached_input_tokens: "cachedContentTokenCount",
  reasoning_tokens: "thoughtsTokenCount",
};
