import { type ChatDialect, plainDialect } from "../chat-dialect.ts";
import type { Connection } from "../model.ts";
import { dialect as azure } from "./azure.ts";
import { dialect as deepseek } from "./deepseek.ts";
import { dialect as fireworks } from "./fireworks.ts";
import { dialect as groq } from "./groq.ts";
import { dialect as mistral } from "./mistral.ts";
import { dialect as openrouter } from "./openrouter.ts";
import { dialect as together } from "./together.ts";
import { dialect as xai } from "./xai.ts";

/** Providers with OpenAI's chat completions. */
const chatDialects = { mistral, groq, deepseek, xai, openrouter, together, fireworks, azure };

const azureHost = /\.(openai\.azure|cognitiveservices\.azure|services\.ai\.azure)\.com$/;

const hostOf = (address: string | null): string | null =>
  address === null ? null : (URL.parse(address)?.host ?? null);

/** Returns the dialect of a connection: of its provider, or of the provider at its address. */
export function dialectOf({ provider, base_url }: Pick<Connection, "provider" | "base_url">): ChatDialect {
  const own = Object.entries(chatDialects).find(([name]) => name === provider)?.[1];
  if (own) return own;
  const host = provider === "openai_compatible" ? hostOf(base_url) : null;
  if (host === null) return plainDialect;
  if (azureHost.test(host)) return azure;
  return Object.values(chatDialects).find((each) => hostOf(each.base_url) === host) ?? plainDialect;
}
