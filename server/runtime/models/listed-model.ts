import type { ListedModel, ModelFeature, ModelKind } from "../../domain/listed-model.ts";
import { fieldsOf } from "../../lib/json.ts";

type Row = Record<string, unknown>;

/**
 * Reads a row of a list of models. Servers with OpenAI's API agree on the id alone: the other fields are those of
 * OpenRouter, Together, Groq, Mistral, vLLM, llama.cpp, LM Studio, Ollama and Anthropic. Returns null for a row without
 * an id, or with one that no model name may have.
 */
export function readListedModel(value: unknown, now: number): ListedModel | null {
  const row = typeof value === "string" ? { id: value } : fieldsOf(value);
  const id = textIn(row, "id", "model", "name", "key");
  if (id === null || !isUsableName(id)) return null;
  return {
    id,
    name: nameOf(row, id),
    kind: kindOf(row, id),
    is_deprecated: isDeprecated(row, now),
    context_window: windowOf(row),
    max_output_tokens: maxOutputOf(row),
    price: priceOf(row.pricing),
    features: featuresOf(row),
  };
}

/** True if agents can name this model: `provider/model` has no spaces. */
const isUsableName = (id: string): boolean => /^\S{1,200}$/.test(id);

/** Returns the rows of a list, or null if it is none. A server without models may say null instead of an empty list. */
export function rowsOf(body: unknown): unknown[] | null {
  if (Array.isArray(body)) return body;
  const fields = fieldsOf(body);
  for (const name of ["data", "models"]) {
    if (Array.isArray(fields[name])) return fields[name];
    if (fields[name] === null) return [];
  }
  return null;
}

function nameOf(row: Row, id: string): string | null {
  const name = textIn(row, "display_name", "displayName", "name");
  return name === id ? null : (name?.slice(0, 200) ?? null);
}

const otherTypes = /image|audio|video|speech|moderation|rerank|transcri|tts/i;
const embedWord = /embed/i;
const embedNames = /(^|[/_.:-])(bge|gte|e5|all-minilm|multilingual-e5|paraphrase)[-_]|voyage-|embed/i;
const otherNames =
  /whisper|(^|[/_-])tts([/_-]|$)|dall-?e|gpt-image|chatgpt-image|moderation|(^|\/)sora|davinci-002|babbage-002|-instruct-0914$|^gpt-3\.5-turbo-instruct|realtime|transcribe|gpt-audio|audio-preview|rerank|stable-diffusion|(^|\/)imagen|(^|\/)veo/i;

function kindOf(row: Row, id: string): ModelKind {
  const type = textIn(row, "type", "task");
  const byName = (): ModelKind => (embedNames.test(id) ? "embedding" : otherNames.test(id) ? "other" : "chat");
  if (type !== null && embedWord.test(type)) return "embedding";
  if (type !== null && otherTypes.test(type)) return "other";
  const outputs = textsIn(fieldsOf(row.architecture).output_modalities);
  if (outputs && !outputs.includes("text")) return outputs.some((one) => embedWord.test(one)) ? "embedding" : "other";
  const capabilities = row.capabilities;
  const words = textsIn(capabilities);
  if (words && !words.includes("completion")) return words.some((one) => embedWord.test(one)) ? "embedding" : "other";
  const isChat = fieldsOf(capabilities).completion_chat ?? row.supports_chat;
  if (isChat === false) return embedNames.test(id) ? "embedding" : "other";
  if (isChat === true) return "chat";
  const methods = textsIn(row.supportedGenerationMethods);
  if (methods)
    return methods.includes("generateContent")
      ? byName()
      : methods.some((m) => embedWord.test(m))
        ? "embedding"
        : "other";
  if (/bert/i.test(textIn(fieldsOf(row.details), "family") ?? "")) return "embedding"; // Ollama.
  return byName();
}

function isDeprecated(row: Row, now: number): boolean {
  if (row.deprecated === true || row.active === false || row.archived === true) return true;
  const state = textIn(row, "status", "lifecycle_status");
  if (state !== null && /deprecat|retired|legacy/i.test(state)) return true;
  const end = textIn(row, "deprecation", "deprecation_date", "expiration_date");
  if (end === null) return false;
  const at = Date.parse(end);
  return Number.isNaN(at) || at <= now;
}

/** The window that the server serves comes first: a model may have been trained for a longer one. */
function windowOf(row: Row): number | null {
  const meta = fieldsOf(row.meta);
  return firstCount(
    row.loaded_context_length, // LM Studio
    row.max_model_len, // vLLM
    meta.n_ctx, // llama.cpp
    fieldsOf(row.top_provider).context_length,
    row.context_length,
    row.context_window, // Groq
    row.max_input_tokens,
    row.inputTokenLimit, // Google
    row.max_context_length, // Mistral
    row.context_size,
  );
}

const maxOutputOf = (row: Row): number | null =>
  firstCount(
    fieldsOf(row.top_provider).max_completion_tokens,
    row.max_completion_tokens,
    row.max_output_tokens,
    row.outputTokenLimit,
    row.max_tokens,
  );

/**
 * Reads a price: OpenRouter's `prompt` and `completion` are dollars for one token, as texts; Together's `input` and
 * `output` are dollars for a million. A negative price stands for one that depends on the request.
 */
function priceOf(value: unknown): ListedModel["price"] {
  const pricing = fieldsOf(value);
  const perToken = pricing.prompt !== undefined;
  const dollars = (amount: unknown): number | null => {
    const number = typeof amount === "string" && amount.trim() !== "" ? Number(amount) : amount;
    if (typeof number !== "number" || !(number >= 0) || number === Number.POSITIVE_INFINITY) return null;
    const million = perToken ? number * 1_000_000 : number;
    return million > priceMax ? null : Number(million.toPrecision(12));
  };
  const input = dollars(perToken ? pricing.prompt : pricing.input);
  const output = dollars(perToken ? pricing.completion : pricing.output);
  if (input === null || output === null) return null;
  const cached_input = dollars(perToken ? pricing.input_cache_read : pricing.cached_input) ?? input;
  const cache_write_5m = perToken ? dollars(pricing.input_cache_write) : null;
  return { input, output, cached_input, ...(cache_write_5m !== null && { cache_write_5m }) };
}

// No model costs more; a larger number has another unit.
const priceMax = 10_000;

function featuresOf(row: Row): ModelFeature[] | null {
  const parameters = textsIn(row.supported_parameters); // OpenRouter
  const capabilities = fieldsOf(row.capabilities); // Mistral
  const words = textsIn(row.capabilities); // Ollama, LM Studio
  const inputs = textsIn(fieldsOf(row.architecture).input_modalities);
  if (!parameters && !words && !inputs && typeof capabilities.function_calling !== "boolean") return null;
  const has = (...names: string[]) => names.some((name) => parameters?.includes(name) || words?.includes(name));
  const features: [ModelFeature, boolean][] = [
    ["tools", has("tools", "tool_use") || capabilities.function_calling === true],
    ["reasoning", has("reasoning", "thinking") || capabilities.reasoning === true],
    ["structured_output", has("structured_outputs", "response_format")],
    ["images", has("vision") || inputs?.includes("image") === true || capabilities.vision === true],
  ];
  return features.flatMap(([feature, isThere]) => (isThere ? [feature] : []));
}

function firstCount(...values: unknown[]): number | null {
  const found = values.find((value) => Number.isSafeInteger(value) && Number(value) > 0);
  return typeof found === "number" ? found : null;
}

function textIn(row: Row, ...names: string[]): string | null {
  for (const name of names) {
    const value = row[name];
    if (typeof value === "string" && value.trim() !== "") return value.trim();
  }
  return null;
}

const textsIn = (value: unknown): string[] | null =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : null;
