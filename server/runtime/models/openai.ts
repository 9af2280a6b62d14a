import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { fieldsOf } from "../../lib/json.ts";
import { baseAddress } from "./base-address.ts";
import { isCacheable, markStable, markSystem } from "./cache-breakpoints.ts";
import { isOpenAi } from "./chat-cache.ts";
import { takenBy } from "./input-kinds.ts";
import type { LearntRefusals } from "./learnt-refusals.ts";
import type { Connection, Model, ModelEvent, ModelRequest, ModelUsage } from "./model.ts";
import { type Fetch, modelFetch, sdkFetch } from "./model-fetch.ts";
import { type Answer, modelOf } from "./model-stream.ts";
import { chatAnswers, open as openChat } from "./openai-compatible.ts";
import { countAt, providerAnswers, providerModel } from "./provider-model.ts";

/**
 * Opens OpenAI's Responses API (`.responses`, not `.chat`), because only it accepts reasoning back between tool calls.
 * Nothing is stored at OpenAI (`store: false`); reasoning is sent encrypted, so a run can resume anywhere.
 */
export async function open(
  connection: Connection,
  modelName: string,
  fetch: Fetch = modelFetch,
  refusals?: LearntRefusals,
): Promise<Model> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const apiKey = connection.api_key ?? "";
  // Set explicitly, because the SDK would read OPENAI_BASE_URL.
  const baseURL = connection.base_url ?? "https://api.openai.com/v1";
  // Models that hear have chat completions only.
  if (takenBy("openai", modelName).audio) {
    return openChat({ ...connection, base_url: baseURL }, modelName, fetch, refusals);
  }
  const base = baseAddress(baseURL, fetch);
  const provider = createOpenAI({ apiKey, baseURL: base.url, fetch: sdkFetch(base.fetch) });
  const own = isOpenAi(connection);
  const options = (request: ModelRequest) => optionsOf(request, own && isCacheable(request));
  const cached = own && hasMarks(modelName) ? markStart : undefined;
  const dialect = { provider: "openai", options, counts, cacheWrites, cached, secrets: [apiKey], isCut };
  const responses = provider.responses(modelName);
  if (connection.base_url === null) return providerModel(responses, dialect);
  const chat = chatAnswers(connection, modelName, fetch, refusals);
  return modelOf(orChat(providerAnswers(responses, dialect), chat), [apiKey]);
}

/** A gateway may have chat completions only: its 404 says so once, and from then on it is asked in chat. */
function orChat(responses: (...call: Parameters<Answer>) => AsyncGenerator<ModelEvent>, chat: Answer): Answer {
  let hasChatOnly = false;

  async function* answer(...call: Parameters<Answer>): AsyncGenerator<ModelEvent> {
    const asked = responses(...call);
    const first = hasChatOnly ? null : await asked.next().catch((failure) => missing(failure));
    if (first) {
      try {
        if (!first.done) yield first.value;
        for await (const event of asked) yield event; // Not `yield*`, which costs several promises per token.
      } finally {
        await asked.return(undefined); // If the reader stopped at the first event.
      }
      return;
    }
    const events = await chat(...call);
    hasChatOnly = true;
    for await (const event of events) yield event;
  }

  return answer;
}

/** Returns null if the server does not have the operation; throws other failures. */
function missing(failure: unknown): null {
  const { statusCode } = fieldsOf(failure);
  if (statusCode === 404 || statusCode === 405) return null;
  throw failure;
}

/** From this version on, models look up a prompt only at marked places. They mark its end themselves. */
const hasMarks = (model: string): boolean => /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/.test(model);

const startMark = { openai: { promptCacheBreakpoint: { mode: "explicit" } } };

const markStart = (call: LanguageModelV4CallOptions, { settings }: ModelRequest): LanguageModelV4CallOptions => ({
  ...call,
  prompt: markStable(call.prompt, settings, startMark) ?? markSystem(call.prompt, startMark),
});

function optionsOf({ settings, tools, provider_tools = [] }: ModelRequest, isCached: boolean) {
  const maxToolCalls = provider_tools.reduce((sum, { max_uses }) => sum + max_uses, 0);
  const parallel = tools.length > 0 ? settings.parallel_tool_calls : undefined;
  const openai = {
    store: false,
    // Strict mode refuses most ordinary schemas; answers are validated here anyway.
    strictJsonSchema: false,
    ...(maxToolCalls > 0 && { maxToolCalls }),
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
