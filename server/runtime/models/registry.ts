import { addressVariables, keyVariables, type Provider, providers } from "../../domain/providers.ts";
import { memoize } from "../../lib/memoize.ts";
import { withBearer } from "./connection-token.ts";
import { authFromEnvironment } from "./environment-auth.ts";
import type { LearntRefusals } from "./learnt-refusals.ts";
import type { Connection, Model } from "./model.ts";
import { type Fetch, modelFetch } from "./model-fetch.ts";
import { ollamaUrl } from "./ollama.ts";
import { cloudConnections } from "./providers/cloud-environment.ts";
import { type Environment, readVariable as read, readAddress } from "./read-variable.ts";
import { openTestModel, testModelNames } from "./test-models.ts";

export interface ModelName {
  provider: Provider;
  /** Name of the connection: the provider's own name, or the part after `openai_compatible/`. */
  connection: string;
  model: string;
}

/** Connection of the built-in models, always available. */
export const testConnection: Connection = { name: "test", provider: "test", base_url: null, api_key: null };

/**
 * Parses `<provider>/<model>` or `openai_compatible/<connection>/<model>`; the model's own name may have slashes and
 * colons.
 */
export const parseModel = memoize((name): Readonly<ModelName> | null => {
  const compatible = /^openai_compatible\/([a-z0-9][a-z0-9_-]{0,63})\/(\S{1,200})$/.exec(name); // llama.cpp's names may be paths.
  if (compatible)
    return { provider: "openai_compatible", connection: String(compatible[1]), model: String(compatible[2]) };
  const plain = /^([a-z_]+)\/([^\s/][^\s]{0,199})$/.exec(name);
  const provider = providers.find((known) => known === plain?.[1] && known !== "openai_compatible");
  return provider && plain ? { provider, connection: provider, model: String(plain[2]) } : null;
});

/**
 * Returns the connection that serves a model; null if the provider, its credentials or the built-in model do not exist.
 */
export function connectionFor(name: ModelName, connections: readonly Connection[]): Connection | null {
  if (name.provider === "test") return testModelNames.includes(name.model) ? testConnection : null;
  return connections.find((each) => each.provider === name.provider && each.name === name.connection) ?? null;
}

/** True if a run could call this model with these connections. */
export function isAvailable(name: string, connections: readonly Connection[]): boolean {
  const parsed = parseModel(name);
  return parsed !== null && connectionFor(parsed, connections) !== null;
}

/** Returns the prefix of a model's full name: `openai`, `openai_compatible/gpu`. */
export const modelPrefix = ({ provider, name }: Pick<Connection, "provider" | "name">): string =>
  provider === "openai_compatible" ? `openai_compatible/${name}` : provider;

/** Opens a model. Only its provider is loaded, because all of them together double the start-up time. */
export async function openModel(
  connection: Connection,
  modelName: string,
  given?: Fetch,
  refusals?: LearntRefusals,
): Promise<Model> {
  const { token_source, api_key } = connection;
  const fetch = token_source !== undefined && api_key !== null ? withBearer(given ?? modelFetch, api_key) : given;
  switch (connection.provider) {
    case "test":
      return openTestModel(modelName);
    case "openai":
      return (await import("./openai.ts")).open(connection, modelName, fetch, refusals);
    case "anthropic":
      return (await import("./anthropic.ts")).open(connection, modelName, fetch);
    case "google":
      return (await import("./google.ts")).open(connection, modelName, fetch);
    case "bedrock":
      return (await import("./providers/bedrock.ts")).open(connection, modelName, fetch, refusals);
    case "vertex":
      return (await import("./providers/vertex.ts")).open(connection, modelName, fetch);
    default:
      return (await import("./openai-compatible.ts")).open(connection, modelName, fetch, refusals);
  }
}

/** Returns the connections in environment variables. Ollama needs no credentials, so it is always included. */
export function connectionsFromEnvironment(env: Environment, ollama = ollamaUrl): Connection[] {
  const keyed = [...new Set(keyVariables.map(([provider]) => provider))].flatMap((provider): Connection[] => {
    const api_key = firstValue(keyVariables, provider, (variable) => read(env, variable));
    const base_url = firstValue(addressVariables, provider, (variable) => readAddress(env, variable));
    const auth = authFromEnvironment(env, prefixOf(provider));
    if (auth && api_key !== null)
      throw new Error(`Set the key of ${provider} or ${prefixOf(provider)}_CLIENT_ID, and not both.`);
    const isMissing = (api_key === null && !auth) || (base_url === null && needsAddress(provider));
    return isMissing ? [] : [{ name: provider, provider, base_url, api_key, ...auth, ...limits(env, provider) }];
  });
  return [
    ...keyed,
    ...cloudConnections(env).map((connection) => ({ ...connection, ...limits(env, connection.provider) })),
    {
      name: "ollama",
      provider: "ollama",
      base_url: readAddress(env, "OLLAMA_BASE_URL") ?? ollama,
      api_key: null,
      ...limits(env, "ollama"),
    },
    ...compatible(env),
  ];
}

/** Prefix of the variables of a connection. */
const prefixOf = (name: string): string => `RUNNEL_MODEL_${name.toUpperCase()}`;

/** True for providers where each customer has an address. */
export const needsAddress = (provider: Provider): boolean => addressVariables.some(([name]) => name === provider);

/** Returns the first value of a provider's variables; null if none is set. */
const firstValue = (
  variables: typeof keyVariables,
  provider: Provider,
  readVariable: (variable: string) => string | null,
): string | null => {
  for (const [name, variable] of variables) {
    const value = name === provider ? readVariable(variable) : null;
    if (value !== null) return value;
  }
  return null;
};

function compatible(env: Environment): Connection[] {
  return Object.keys(env).flatMap((variable): Connection[] => {
    const name = /^RUNNEL_MODEL_([A-Z0-9][A-Z0-9_]*)_BASE_URL$/.exec(variable)?.[1];
    const base_url = name === undefined ? null : readAddress(env, variable);
    if (name === undefined || base_url === null) return [];
    const api_key = read(env, `RUNNEL_MODEL_${name}_API_KEY`);
    const auth = authFromEnvironment(env, prefixOf(name));
    return [
      { name: name.toLowerCase(), provider: "openai_compatible", base_url, api_key, ...auth, ...limits(env, name) },
    ];
  });
}

export const concurrentMax = 10_000;

/** Range of the idle timeout: no run works for longer than an hour. */
export const idleTimeouts_ms = { least: 1000, most: 3_600_000 };

/** Most fallbacks of a connection. */
export const fallbacksMax = 4;

/** True for the full name of a model, and for the prefix of a connection. */
export const isFallback = (name: string): boolean =>
  !name.startsWith("test/") && (parseModel(name) ?? parseModel(`${name}/m`)) !== null;

function readFallbacks(env: Environment, variable: string): string[] {
  const names = (read(env, variable) ?? "").split(",").flatMap((name) => name.trim() || []);
  if (names.length <= fallbacksMax && names.every(isFallback)) return names;
  throw new Error(`${variable} takes up to ${fallbacksMax} models or connections, such as openai/gpt-5 or openai.`);
}

type Limits = Pick<Connection, "max_concurrent" | "idle_timeout_ms" | "fallbacks">;

function limits(env: Environment, name: string): Limits {
  const prefix = prefixOf(name);
  const max_concurrent = readCount(env, `${prefix}_MAX_CONCURRENT`, { least: 1, most: concurrentMax });
  const idle_timeout_ms = readCount(env, `${prefix}_IDLE_TIMEOUT_MS`, idleTimeouts_ms);
  const fallbacks = readFallbacks(env, `${prefix}_FALLBACKS`);
  return {
    ...(max_concurrent !== null && { max_concurrent }),
    ...(idle_timeout_ms !== null && { idle_timeout_ms }),
    ...(fallbacks.length > 0 && { fallbacks }),
  };
}

function readCount(env: Environment, variable: string, { least, most }: { least: number; most: number }) {
  const text = read(env, variable);
  if (text === null) return null;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= least && count <= most) return count;
  throw new Error(`${variable} takes a whole number from ${least} to ${most}.`);
}
