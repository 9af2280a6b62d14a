import { fieldsOf, isObject } from "../lib/json.ts";
import type { AssistantPart } from "./model-call.ts";

/**
 * A call of a provider's tool, or its result, in the metadata of an empty text part. It goes back unchanged with the
 * answer, to the same provider only.
 */
interface ProviderItem {
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
interface Source {
  url: string;
  title: string | null;
}

const [itemKey, sourceKey, containerKey] = ["provider_item", "source", "provider_container"] as const;

export const itemMetadata = (item: ProviderItem): Record<string, unknown> => ({ [itemKey]: item });
export const sourceMetadata = (source: Source): Record<string, unknown> => ({ [sourceKey]: source });

export const containerMetadata = (id: string): Record<string, unknown> => ({ [containerKey]: id });

/** Returns the id of the container in which a paused answer goes on, or null. */
export function containerOf({ type, metadata }: AssistantPart): string | null {
  const id = type === "text" ? metadata?.[containerKey] : null;
  return typeof id === "string" ? id : null;
}

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
interface ProviderCall {
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
