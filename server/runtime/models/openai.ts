import { fieldsOf } from "../../lib/json.ts";
import { takenBy } from "./input-kinds.ts";
import type { Connection, Model, ModelRequest } from "./model.ts";
import { type Fetch, modelFetch, sdkFetch } from "./model-fetch.ts";
import { providerModel } from "./provider-model.ts";

/**
 * Opens OpenAI's Responses API (`.responses`, not `.chat`), because only it accepts reasoning back between tool calls.
 * Nothing is stored at OpenAI (`store: false`); reasoning is sent encrypted, so a run can resume anywhere.
 */
export async function open(connection: Connection, modelName: string, fetch: Fetch = modelFetch): Promise<Model> {
  const { createOpenAI } = await import("@ai-sdk/openai");
  const apiKey = connection.api_key ?? "";
  // Set explicitly, because the SDK would read OPENAI_BASE_URL.
  const baseURL = connection.base_url ?? "https://api.openai.com/v1";
  // Models that hear have chat completions only.
  if (takenBy("openai", modelName).audio)
    return (await import("./openai-compatible.ts")).open({ ...connection, base_url: baseURL }, modelName, fetch);
  const provider = createOpenAI({ apiKey, baseURL, fetch: sdkFetch(fetch) });
  return providerModel(provider.responses(modelName), {
    provider: "openai",
    options,
    counts,
    secrets: [apiKey],
    isCut,
  });
}

function options({ settings, tools, provider_tools = [] }: ModelRequest) {
  const maxToolCalls = provider_tools.reduce((sum, { max_uses }) => sum + max_uses, 0);
  const parallel = tools.length > 0 ? settings.parallel_tool_calls : undefined;
  const openai = {
    store: false,
    // Strict mode refuses most ordinary schemas; answers are validated here anyway.
    strictJsonSchema: false,
    ...(maxToolCalls > 0 && { maxToolCalls }),
    ...(parallel !== undefined && { parallelToolCalls: parallel }),
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
