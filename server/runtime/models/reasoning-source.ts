import type { SharedV4ProviderMetadata } from "@ai-sdk/provider";
import { fieldsOf, isObject } from "../../lib/json.ts";
import type { ReasoningName } from "./chat-dialect.ts";
import type { ModelEvent } from "./model.ts";
import type { answerParts } from "./model-stream.ts";

type Detail = Record<string, unknown>;

// Details of an answer in UTF-16 code units; a server that sends more gets none of them back.
const detailsMax = 2 * 1024 * 1024;

/** Notes the form in which a server sends its reasoning, because it wants it back in the same form. */
export function reasoningSource() {
  let name: ReasoningName = "reasoning_content";
  const details: Detail[] = [];
  let length = 0;

  function addAll(given: readonly unknown[]): void {
    length += JSON.stringify(given).length;
    if (length > detailsMax) details.length = 0;
    else for (const each of given) addDetail(details, each);
  }

  return {
    read({ reasoning_content, reasoning, reasoning_details, content }: Detail): void {
      if (isText(reasoning) && !isText(reasoning_content)) name = "reasoning";
      if (Array.isArray(content) && content.some((part) => fieldsOf(part).type === "thinking")) name = "content_parts";
      if (Array.isArray(reasoning_details)) addAll(reasoning_details);
    },
    /** Metadata of a part with reasoning; none for the usual name. */
    name: (): SharedV4ProviderMetadata | undefined =>
      name === "reasoning_content" ? undefined : { chat: { reasoning: name } },
    /** Returns a part without a text that has OpenRouter's details. */
    details(parts: ReturnType<typeof answerParts>): ModelEvent[] {
      if (details.length === 0) return [];
      const providerMetadata = { chat: { details } } as unknown as SharedV4ProviderMetadata;
      const id = "details";
      return [
        ...parts.read({ type: "reasoning-start", id, providerMetadata }),
        ...parts.read({ type: "reasoning-end", id }),
      ];
    },
  };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/** Adds a detail; a text that arrives in pieces becomes one. */
function addDetail(details: Detail[], value: unknown): void {
  if (!isObject(value)) return;
  const last = details.at(-1);
  const isNext = last?.type === value.type && last?.index === value.index && (last?.id ?? null) === (value.id ?? null);
  const field = value.type === "reasoning.summary" ? "summary" : "text";
  if (!last || !isNext || !isText(last[field])) return void details.push({ ...value });
  const text = last[field] + (isText(value[field]) ? value[field] : "");
  for (const [name, each] of Object.entries(value)) last[name] ??= each;
  last[field] = text;
}
