import type { Fault } from "../../domain/errors.ts";
import type { ModelSettings } from "../../domain/model-call.ts";
import type { Provider } from "../../domain/providers.ts";
import { hasBrokenReference, referencesIn } from "../../domain/secret-reference.ts";
import { unsupportedSettings } from "../../domain/unsupported-settings.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { checkHeaders, EgressError } from "../../lib/egress.ts";
import { isObject } from "../../lib/json.ts";
import { parseModel } from "../../runtime/models/registry.ts";

/** Throws if a model's provider cannot take the settings, or if they override what the server sets itself. */
export function checkSettings(model: string, settings: ModelSettings, hasSecret: (name: string) => boolean): void {
  const provider = parseModel(model)?.provider ?? "test";
  const unsupported = unsupportedSettings(provider, settings).map((name) =>
    fault(`model_settings.${name}`, `The API of ${provider} has no field for ${name}: leave it out.`),
  );
  throwIfInvalid([
    ...unsupported,
    ...fieldFaults("extra_body", settings.extra_body, new Set()),
    ...fieldFaults("provider_options", settings.provider_options, optionsOfServer[provider] ?? new Set()),
    ...removedFaults(provider, settings),
    ...headerFaults(settings.headers ?? {}, hasSecret),
  ]);
}

/** Fields of requests that the server sets itself, in all APIs: those of settings, and those that multiply the cost. */
const ofServer: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "input",
  "contents",
  "prompt",
  "system",
  "instructions",
  "system_instruction",
  "systemInstruction",
  "stream",
  "stream_options",
  "tools",
  "tool_choice",
  "toolConfig",
  "tool_config",
  "parallel_tool_calls",
  "response_format",
  "max_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "maxOutputTokens",
  "maxCompletionTokens",
  "n",
  "best_of",
  "candidateCount",
  "candidate_count",
  "temperature",
  "top_p",
  "topP",
  "seed",
  "random_seed",
  "stop",
  "stop_sequences",
  "stopSequences",
  "store",
  "previous_response_id",
  "conversation",
  "background",
]);

/** Options of the providers' SDKs that the server sets itself. A thinking budget would be added to the answer's limit. */
const optionsOfServer: Partial<Record<Provider, ReadonlySet<string>>> = {
  openai: new Set(["strictJsonSchema", "parallelToolCalls", "previousResponseId"]),
  anthropic: new Set(["thinking", "disableParallelToolUse"]),
};

/** Returns the faults of fields that a provider has removed from its API: it refuses each request with one. */
function removedFaults(provider: Provider, { extra_body, provider_options }: ModelSettings): Fault[] {
  if (provider !== "xai") return [];
  const fields = Object.entries({ extra_body, provider_options });
  return fields.flatMap(([param, given = {}]) =>
    ["search_parameters", "searchParameters"].flatMap((name) =>
      name in given ? [fault(`model_settings.${param}.${name}`, noLiveSearch)] : [],
    ),
  );
}

const noLiveSearch =
  "xAI has removed Live Search (HTTP 410). Its web search is a tool of its Responses API, which runnel does not use: give the agent a search tool, or a model of Anthropic, OpenAI or Google with provider_tools.";

/** Fields that hold settings of their own in Google's API. */
const nested = ["generationConfig", "generation_config"];

function fieldFaults(
  param: "extra_body" | "provider_options",
  fields: Record<string, unknown> | undefined,
  more: ReadonlySet<string>,
): Fault[] {
  const own = (name: string) => ofServer.has(name) || more.has(name);
  const inner = nested.flatMap((name) => {
    const value = fields?.[name];
    return isObject(value) ? Object.keys(value).map((each) => [`${name}.${each}`, each] as const) : [];
  });
  return [...Object.keys(fields ?? {}).map((name) => [name, name] as const), ...inner].flatMap(([path, name]) =>
    own(name) ? [fault(`model_settings.${param}.${path}`, "The server sets this field itself.")] : [],
  );
}

const keyHeaders: ReadonlySet<string> = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "content-type",
  "accept",
]);

function headerFaults(headers: Record<string, string>, hasSecret: (name: string) => boolean): Fault[] {
  const faults = Object.entries(headers).flatMap(([name, value]) => {
    const messages: string[] = [];
    if (keyHeaders.has(name.toLowerCase())) messages.push("The server sets this header itself.");
    if (hasBrokenReference(value)) messages.push("Write a secret as {{secret.NAME}}, without spaces.");
    for (const secret of referencesIn(value)) if (!hasSecret(secret)) messages.push(`There is no secret ${secret}.`);
    return messages.map((message) => fault(`model_settings.headers.${name}`, message));
  });
  try {
    checkHeaders(headers);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    faults.push(fault("model_settings.headers", error.message));
  }
  return faults;
}
