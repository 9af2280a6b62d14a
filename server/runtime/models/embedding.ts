import type { EmbeddingModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { Provider } from "../../domain/providers.ts";
import { onAbort } from "../../lib/on-abort.ts";
import { backoff, sleep } from "../../lib/retry.ts";
import { unitVector } from "../../lib/unit-vector.ts";
import { eitherAddress } from "./base-address.ts";
import { addressesOf } from "./chat-address.ts";
import { keyHeader } from "./chat-dialect.ts";
import { EmbeddingError } from "./embedding-error.ts";
import type { Connection } from "./model.ts";
import { incompleteError, toModelError } from "./model-error.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";
import { ollamaUrl } from "./ollama.ts";
import { dialectOf } from "./providers/dialects.ts";

/** A provider's embedding model. */
interface RemoteEmbedding {
  /** Returns one unit vector per text, in order. Throws `EmbeddingError`. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}

interface RemoteOptions {
  connection: Connection;
  model: string;
  /** Required length of vectors; null: the model's own. */
  dimensions: number | null;
  fetch?: Fetch;
  /** Timeout of one request. */
  timeout_ms?: number;
  /** Called with the tokens of each successful request; null if the provider does not report them. */
  count?: (tokens: number | null, texts: readonly string[]) => void;
}

const triesMax = 4;

// Texts per request: the provider's limit, or the number that a small machine embeds before the timeout.
const batchMax: Record<Provider, number> = {
  openai: 128,
  google: 100,
  mistral: 64,
  openrouter: 64,
  together: 64,
  fireworks: 64,
  azure: 128,
  openai_compatible: 32,
  ollama: 16,
  anthropic: 1,
  groq: 1,
  deepseek: 1,
  xai: 1,
  bedrock: 1,
  vertex: 1,
  test: 1,
};

/** Embeds texts over an operator's connection, in batches; each is retried if the provider is busy or unreachable. */
export function remoteEmbedding({
  connection,
  model,
  dimensions,
  fetch,
  timeout_ms = 60_000,
  count,
}: RemoteOptions): RemoteEmbedding {
  const secrets = connection.api_key ? [connection.api_key] : [];
  const size = batchMax[connection.provider];
  let opened: Promise<EmbeddingModelV4> | null = null;

  async function call(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    opened ??= openEmbedding(connection, model, fetch);
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeout_ms);
    const release = onAbort([signal], () => limit.abort());
    try {
      const providerOptions = dimensions === null ? undefined : lengthOption(connection.provider, model, dimensions);
      const { embeddings, usage } = await (await opened).doEmbed({
        values: texts.map(sendable),
        abortSignal: limit.signal,
        ...(providerOptions && { providerOptions }),
      });
      count?.(usage?.tokens ?? null, texts);
      return checked(embeddings, texts.length, dimensions);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EmbeddingError) throw error;
      throw limit.signal.aborted ? new Busy(slow(timeout_ms), null) : toFault(error, secrets);
    } finally {
      clearTimeout(timer);
      release();
    }
  }

  async function tryBatch(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    for (let tries = 1; ; tries++) {
      try {
        return await call(texts, signal);
      } catch (error) {
        if (!(error instanceof Busy) || tries === triesMax) throw error;
        await sleep(backoff(tries, error.wait_ms), signal);
        signal.throwIfAborted();
      }
    }
  }

  return {
    async embed(texts, signal = new AbortController().signal) {
      const vectors: Float32Array[] = [];
      signal.throwIfAborted();
      for (let from = 0; from < texts.length; from += size)
        vectors.push(...(await tryBatch(texts.slice(from, from + size), signal)));
      return vectors;
    },
  };
}

/** A transient failure, with the delay that the provider asked for. */
class Busy extends EmbeddingError {
  readonly wait_ms: number | null;
  constructor(message: string, wait_ms: number | null) {
    super("embedding_failed", message, true);
    this.wait_ms = wait_ms;
  }
}

/** Loads only the provider in use: all of them together double the start-up time. */
async function openEmbedding(
  connection: Connection,
  model: string,
  fetch: Fetch = modelFetch,
): Promise<EmbeddingModelV4> {
  const { provider, api_key, base_url } = connection;
  const apiKey = api_key ?? "";
  switch (provider) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ apiKey, baseURL: base_url ?? "https://api.openai.com/v1", fetch }).embedding(model);
    }
    case "google": {
      const { createGoogle } = await import("@ai-sdk/google");
      const baseURL = base_url ?? "https://generativelanguage.googleapis.com/v1beta";
      return createGoogle({ apiKey, baseURL, fetch }).embeddingModel(model);
    }
    case "ollama":
    case "openai_compatible":
    case "mistral":
    case "openrouter":
    case "together":
    case "fireworks":
    case "azure": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ apiKey, fetch: fetchOf(connection, model, fetch) }).embedding(model);
    }
    case "bedrock":
    case "vertex":
    case "anthropic":
    case "groq":
    case "deepseek":
    case "xai":
    case "test":
      throw new EmbeddingError("model_not_available", `The provider ${provider} has no embedding models.`);
  }
}

/**
 * Returns a fetch that uses the connection's address and key header. Without a key it sends none: some servers refuse
 * the SDK's empty one.
 */
function fetchOf(connection: Connection, model: string, fetch: Fetch): Fetch {
  const dialect = dialectOf(connection);
  const base = connection.base_url ?? dialect.base_url ?? ollamaUrl;
  const { first, other } = addressesOf(base, "/embeddings", dialect, model);
  // A 404 of an address with `/v1` is about the model.
  const sendToEither = eitherAddress(first, first.includes("/v1/") ? null : other);
  const send = (_url: Parameters<Fetch>[0], init?: Parameters<Fetch>[1]) => {
    const headers = new Headers(init?.headers);
    headers.delete("authorization");
    for (const [name, value] of Object.entries(keyHeader(dialect, connection.api_key))) headers.set(name, value);
    return sendToEither((address) => fetch(address, { ...init, headers }));
  };
  return Object.assign(send, { preconnect: fetch.preconnect });
}

/** Requests a vector length from models that can shorten theirs; others would refuse it. */
function lengthOption(provider: Provider, model: string, dimensions: number): SharedV4ProviderOptions | undefined {
  if (provider === "openai" && model.startsWith("text-embedding-3")) return { openai: { dimensions } };
  if (provider === "google" && model.startsWith("gemini-embedding"))
    return { google: { outputDimensionality: dimensions } };
  return undefined;
}

/** Replaces texts that providers refuse: empty ones and lone surrogates. */
const sendable = (text: string): string => (text.trim() === "" ? "-" : text.toWellFormed());

function checked(embeddings: readonly number[][], count: number, dimensions: number | null): Float32Array[] {
  if (embeddings.length !== count)
    throw new EmbeddingError(
      "embedding_failed",
      `The provider returned ${embeddings.length} vectors for ${count} texts.`,
    );
  const [first = []] = embeddings;
  const length = dimensions ?? first.length;
  return embeddings.map((embedding) => {
    if (embedding.length !== length) throw mismatch(embedding.length, length);
    const vector = unitVector(embedding);
    if (!vector) throw new EmbeddingError("embedding_failed", "The provider returned a vector of zeros.");
    return vector;
  });
}

const mismatch = (actual: number, wanted: number) =>
  new EmbeddingError("dimensions_mismatch", `The model returns vectors of ${actual} dimensions; expected ${wanted}.`);

const slow = (ms: number) => `The provider did not answer within ${ms / 1000} seconds.`;

const unreadable = "The provider's response is cut off or contains no vectors.";

/** Converts a failure, classified like that of a model call. */
function toFault(error: unknown, secrets: readonly string[]): EmbeddingError {
  const { code, message, retryable, retry_after_ms } = toModelError(error, secrets);
  if (message === incompleteError.message) return new EmbeddingError("embedding_failed", unreadable, true);
  if (retryable) return new Busy(message, retry_after_ms);
  if (code === "context_length_exceeded")
    return new EmbeddingError("embedding_failed", "A text is longer than the embedding model accepts.");
  return new EmbeddingError(code === "model_not_available" ? code : "embedding_failed", message);
}
