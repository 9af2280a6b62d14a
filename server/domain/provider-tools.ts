import { fieldsOf, isObject } from "../lib/json.ts";
import type { AssistantPart, ModelUsage } from "./model-call.ts";

/** Tools that a model's provider runs itself. */
export const providerToolTypes = ["web_search", "code_execution"] as const;
export type ProviderToolType = (typeof providerToolTypes)[number];

export interface ProviderTool {
  type: ProviderToolType;
  /** Most uses in one model call. */
  max_uses: number;
  /** The only domains that a search may show, or those that it may not. */
  allowed_domains?: string[];
  blocked_domains?: string[];
}

export const defaultUses = 5;

/**
 * A call of a provider's tool, or its result, in the metadata of an empty text part. It goes back unchanged with the
 * answer, to the same provider only.
 */
export interface ProviderItem {
  provider: string;
  kind: "call" | "result";
  id: string;
  name: string;
  /** Arguments of a call, or a result, in the form of the provider's SDK. */
  value: unknown;
  is_error?: true;
  metadata?: Record<string, unknown>;
}

/** A page that an answer cites. */
export interface Source {
  url: string;
  title: string | null;
}

const [itemKey, sourceKey] = ["provider_item", "source"] as const;

export const itemMetadata = (item: ProviderItem): Record<string, unknown> => ({ [itemKey]: item });
export const sourceMetadata = (source: Source): Record<string, unknown> => ({ [sourceKey]: source });

/** Returns the provider's item of a part, or null. */
export function itemOf({ type, metadata }: AssistantPart): ProviderItem | null {
  const item = type === "text" ? metadata?.[itemKey] : null;
  return isObject(item) && typeof item.id === "string" && typeof item.name === "string"
    ? (item as unknown as ProviderItem)
    : null;
}

/** Returns the source of a part, or null. */
export function sourceOf({ type, metadata }: AssistantPart): Source | null {
  return type === "text" ? toSource(metadata?.[sourceKey]) : null;
}

/** True for a part that holds only an item or a source: it is no text of the answer. */
export const isProviderPart = (part: AssistantPart): boolean => itemOf(part) !== null || sourceOf(part) !== null;

/** Returns the pages that an answer cites, each once; without citations, those that its searches found. */
export function sourcesIn(parts: readonly AssistantPart[]): Source[] {
  const cited = parts.flatMap(citationsIn);
  const sources = cited.length > 0 ? cited : parts.flatMap((part) => sourceOf(part) ?? []);
  return [...new Map(sources.toReversed().map((source) => [source.url, source])).values()].reverse();
}

/** Returns the pages that a text cites, as its provider's metadata has them. */
function citationsIn({ type, metadata }: AssistantPart): Source[] {
  if (type !== "text" || !metadata) return [];
  const lists = [fieldsOf(metadata.openai).annotations, fieldsOf(metadata.anthropic).citations];
  return lists.flatMap((list) => (Array.isArray(list) ? list.flatMap((one) => toSource(one) ?? []) : []));
}

function toSource(value: unknown): Source | null {
  const { url, title } = fieldsOf(value);
  return typeof url === "string" ? { url, title: typeof title === "string" ? title : null } : null;
}

/** A call of a provider's tool with its result, as the trace shows it. */
export interface ProviderCall {
  id: string;
  name: string;
  arguments: unknown;
  /** Null if the answer has none. */
  result: unknown;
  is_error: boolean;
}

/** Returns the calls of the provider's tools in an answer. */
export function providerCallsIn(parts: readonly AssistantPart[]): ProviderCall[] {
  const items = parts.flatMap((part) => itemOf(part) ?? []);
  const results = new Map(items.flatMap((item) => (item.kind === "result" ? [[item.id, item]] : [])));
  return items
    .filter(({ kind }) => kind === "call")
    .map(({ id, name, value }) => {
      const result = results.get(id);
      return { id, name, arguments: value, result: result?.value ?? null, is_error: result?.is_error === true };
    });
}

type Offer = (model: string) => number;

/** Tools of each provider, with the cost of one use in USD beside its tokens. */
const offers: Record<string, Partial<Record<ProviderToolType, Offer>>> = {
  anthropic: { web_search: () => 0.01, code_execution: () => 0 },
  openai: { web_search: () => 0.01, code_execution: () => 0.03 },
  google: { web_search: (model) => (chargesPrompts(model) ? 0.035 : 0.014), code_execution: () => 0 },
};

/** The second generation of Gemini charges a prompt that was searched for, the third each search. */
const chargesPrompts = (model: string): boolean => /gemini-2/.test(model);

/** Cost of so many uses of a tool. */
function usd(provider: string, model: string, type: ProviderToolType, uses: number): number {
  const charged = provider === "google" && chargesPrompts(model) ? Math.min(uses, 1) : uses;
  return charged * (offers[provider]?.[type]?.(model) ?? 0);
}

/** Returns the tools that a provider runs itself. */
export const toolsOfProvider = (provider: string): readonly ProviderToolType[] =>
  providerToolTypes.filter((type) => offers[provider]?.[type] !== undefined);

/** True if a model takes its provider's tools and functions in one request. */
export const mixesTools = (provider: string, model: string): boolean =>
  provider !== "google" || !/gemini-[12]|gemma/.test(model);

/** Highest cost of the provider's tools in one model call, in USD. */
export const toolsWorstUsd = (provider: string, model: string, tools: readonly ProviderTool[]): number =>
  tools.reduce((sum, { type, max_uses }) => sum + usd(provider, model, type, max_uses), 0);

/** Cost of the uses that a model call had, in USD. */
export const usesUsd = (provider: string, model: string, { web_searches = 0, code_executions = 0 }: ModelUsage) =>
  usd(provider, model, "web_search", web_searches) + usd(provider, model, "code_execution", code_executions);
