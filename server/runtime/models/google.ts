import type { Connection, Model, ModelRequest } from "./model.ts";
import { type Fetch, modelFetch, sdkFetch } from "./model-fetch.ts";
import { providerModel } from "./provider-model.ts";
import { thinkingBudget } from "./thinking-budget.ts";

/** Opens Google's Gemini API. It has no switch for parallel tool calls, so that setting has no effect. */
export async function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Promise<Model> {
  const { createGoogle } = await import("@ai-sdk/google");
  const apiKey = connection.api_key ?? "";
  const baseURL = connection.base_url ?? "https://generativelanguage.googleapis.com/v1beta";
  const provider = createGoogle({ apiKey, baseURL, fetch: sdkFetch(fetch) });
  return providerModel(provider.languageModel(modelName), googleDialect(modelName, [apiKey]));
}

/** Differences of Gemini's API, at Google and at Vertex. */
export function googleDialect(modelName: string, secrets: string[]) {
  // From version 3 on, models take a level instead of a number.
  const hasLevels = /gemini-([3-9]|\d\d)/i.test(modelName);
  const options = hasLevels ? () => ({}) : (request: ModelRequest) => withBudget(request, leastOf(modelName));
  return { provider: "google", options, counts, secrets };
}

// Maximum that all models accept.
const thinkingMax = 24_576;

/** Returns the minimum thinking budget of a model. */
const leastOf = (model: string): number => (model.includes("2.5-pro") ? 128 : model.includes("flash-lite") ? 512 : 1);

/** Sets a thinking budget within the answer's length, which the SDK's own budget ignores. */
function withBudget({ settings }: ModelRequest, least: number) {
  const { max_output_tokens, reasoning_effort } = settings;
  if (max_output_tokens === undefined || reasoning_effort === undefined) return {};
  // Thinking would leave no room for the answer: the model decides.
  if (max_output_tokens < 2 * least) return { reasoning: "provider-default" as const };
  const budget = thinkingBudget(settings);
  if (budget === null) return {};
  const thinkingConfig = { thinkingBudget: Math.min(Math.max(budget, least), thinkingMax) };
  return { providerOptions: { google: { thinkingConfig } } };
}

const counts = {
  input_tokens: "promptTokenCount",
  // A field that is zero is left out.
  output_tokens: ["candidatesTokenCount", "thoughtsTokenCount"],
  cached_input_tokens: "cachedContentTokenCount",
  reasoning_tokens: "thoughtsTokenCount",
};
