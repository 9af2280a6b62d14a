import { type ConnectionProvider, connectionProviders } from "../../domain/providers.ts";
import type { Connection } from "../../runtime/models/model.ts";
import {
  concurrentMax,
  fallbacksMax,
  idleTimeouts_ms,
  isFallback,
  needsAddress,
} from "../../runtime/models/registry.ts";

/** A connection as the operator entered it, not validated yet. */
export interface ConnectionInput {
  name: string;
  provider?: string;
  base_url?: string | null;
  api_key?: string | null;
  max_concurrent?: number | null;
  idle_timeout_ms?: number | null;
  fallbacks?: string[] | null;
}

/** A fault of a connection, with its field. */
interface ConnectionFault {
  param: "name" | "provider" | "base_url" | "api_key" | "max_concurrent" | "idle_timeout_ms" | "fallbacks";
  message: string;
}

/** Change of a stored connection. An absent field stays. */
export interface ConnectionChange {
  base_url?: string | null;
  /** Empty: the key stays. Null: it is removed. */
  api_key?: string | null;
  max_concurrent?: number | null;
  idle_timeout_ms?: number | null;
  fallbacks?: string[] | null;
  /** The version that is to be changed. */
  expected_version?: number;
}

/** Returns the connection or its fault. The name of a provider implies that provider. */
export function checkConnection(input: ConnectionInput): Connection | ConnectionFault {
  const { name } = input;
  const [base_url, api_key] = [input.base_url?.trim() || null, input.api_key?.trim() || null];
  const provider = (input.provider ??
    connectionProviders.find((known) => known === name) ??
    "openai_compatible") as ConnectionProvider;
  const refuse = (param: ConnectionFault["param"], message: string): ConnectionFault => ({ param, message });

  if (!connectionProviders.includes(provider)) return refuse("provider", `There is no provider "${provider}".`);
  if (provider !== "openai_compatible" && provider !== name)
    return refuse("name", `The connection to ${provider} is named ${provider}, not "${name}".`);
  if (provider === "openai_compatible" && !/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name))
    return refuse("name", "A connection's name has lower-case letters, digits, - and _.");
  if (provider === "openai_compatible" && base_url === null)
    return refuse("base_url", "An OpenAI-compatible server needs a URL.");
  if (needsAddress(provider) && base_url === null)
    return refuse("base_url", `${provider} needs your endpoint, such as https://name.openai.azure.com.`);
  if (provider !== "openai_compatible" && provider !== "ollama" && api_key === null)
    return refuse("api_key", `${provider} needs a key.`);
  const url = base_url === null ? null : URL.parse(base_url);
  if (base_url !== null && (!url || !/^https?:$/.test(url.protocol) || url.username || url.password))
    return refuse("base_url", "Expected an http or https address without a user name.");
  // A line break of a pasted key would break the header.
  if (api_key !== null && !/^[\x21-\x7e]+$/.test(api_key))
    return refuse("api_key", "A key has no spaces and no line breaks.");
  const max_concurrent = input.max_concurrent ?? null;
  if (max_concurrent !== null && !isWithin(max_concurrent, { least: 1, most: concurrentMax }))
    return refuse("max_concurrent", `Expected a whole number from 1 to ${concurrentMax}.`);
  const idle_timeout_ms = input.idle_timeout_ms ?? null;
  if (idle_timeout_ms !== null && !isWithin(idle_timeout_ms, idleTimeouts_ms))
    return refuse("idle_timeout_ms", `Expected milliseconds from ${idleTimeouts_ms.least} to ${idleTimeouts_ms.most}.`);
  const fallbacks = [...new Set((input.fallbacks ?? []).map((each) => each.trim()).filter(Boolean))];
  const wrong = fallbacks.find((each) => !isFallback(each));
  if (wrong !== undefined)
    return refuse("fallbacks", `"${wrong}" is no model and no connection, such as openai/gpt-5 or openai.`);
  if (fallbacks.length > fallbacksMax) return refuse("fallbacks", `Expected at most ${fallbacksMax} fallbacks.`);
  return {
    name,
    provider,
    base_url,
    api_key,
    ...(max_concurrent !== null && { max_concurrent }),
    ...(idle_timeout_ms !== null && { idle_timeout_ms }),
    ...(fallbacks.length > 0 && { fallbacks }),
  };
}

const isWithin = (value: number, { least, most }: { least: number; most: number }): boolean =>
  Number.isSafeInteger(value) && value >= least && value <= most;
