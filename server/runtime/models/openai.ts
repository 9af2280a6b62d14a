import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { fieldsOf } from "../../lib/json.ts";
import { isCacheable, markSystem } from "./cache-breakpoints.ts";
import { isOpenAi } from "./chat-cache.ts";
import type { Connection, Model, ModelRequest, ModelUsage } from "./model.ts";
import { type Fetch, modelFetch, sdkFetch } from "./model-fetch.ts";
import { countAt, providerModel } from "./provider-model.ts";

/**
 * Opens OpenAI's Responses API (`.responses`, not `.chat`), because only it accepts reasoning back between tool calls.
 * Nothing is stored at OpenAI (`store: false`); reasoning is sent encrypted, so a run can resume anywhere.
 */
export async function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Promise<Model> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const apiKey = connection.api_key ?? "";
  // Set explicitly, because the SDK would read OPENAI_BASE_URL.
  const baseURL = connection.base_url ?? "https://api.openai.com/v1";
  const provider = createOpenAI({ apiKey, baseURL, fetch: sdkFetch(fetch) });
  const own = isOpenAi(connection);
  const options = (request: ModelRequest) => optionsOf(request, own && isCacheable(request));
  const cached = own && hasMarks(modelName) ? markStart : undefined;
  const secrets = [apiKey];
  return providerModel(provider.responses(modelName), { options, counts, cacheWrites, cached, secrets, isCut });
}

/** From this version on, models look up a prompt only at marked places. They mark its end themselves. */
const hasMarks = (model: string): boolean => /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/.test(model);

const markStart = (call: LanguageModelV4CallOptions): LanguageModelV4CallOptions => ({
  ...call,
  prompt: markSystem(call.prompt, { openai: { promptCacheBreakpoint: { mode: "explicit" } } }),
});

function optionsOf({ settings, tools }: ModelRequest, isCached: boolean) {
  const parallel = tools.length > 0 ? settings.parallel_tool_calls : undefined;
  const openai = {
    store: false,
    // Strict mode refuses most ordinary schemas; answers are validated here anyway.
    strictJsonSchema: false,
    ...(parallel !== undefined && { parallelToolCalls: parallel }),
    ...(isCached && settings.prompt_cache_key !== undefined && { promptCacheKey: settings.prompt_cache_key }),
  };
  return { providerOptions: { openai } };
}

/** True if an event's type, or a whole response's status, says that the answer is incomplete. */
function isCut(event: unknown): boolean {
  const { type, status } = fieldsOf(event);
  return type === "response.incomplete" || (type === undefined && typeof status === "string" && status !== "completed");
}

const counts = {
  input_tokens: "input_tokens",
  output_tokens: "output_tokens",
  cached_input_tokens: "input_tokens_details.cached_tokens",
  reasoning_tokens: "output_tokens_details.reasoning_tokens",
};

/** Returns the tokens written to the cache, which newer models report and charge. */
function cacheWrites(usage: unknown): Pick<ModelUsage, "cache_write_5m_tokens"> {
  const cache_write_5m_tokens = countAt(usage, "input_tokens_details.cache_write_tokens");
  return cache_write_5m_tokens === null ? {} : { cache_write_5m_tokens };
}
