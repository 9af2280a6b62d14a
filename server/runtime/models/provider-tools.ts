import type {
  LanguageModelV4Content,
  LanguageModelV4Message,
  LanguageModelV4ProviderTool,
  LanguageModelV4StreamPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { containerOf, itemMetadata, itemOf, sourceMetadata, sourceOf } from "../../domain/provider-items.ts";
import { type ProviderTool, type ProviderToolType, runsTool } from "../../domain/provider-tools.ts";
import { maskedValue, unmaskedJson, unmaskedValue } from "../../lib/exact-masks.ts";
import { fieldsOf, parsedJson } from "../../lib/json.ts";
import type { AssistantPart, ModelEvent } from "./model.ts";

type AssistantContent = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

/** Converts a tool to the SDK's form: `provider.name` and its arguments. */
type ToSdk = (tool: ProviderTool) => LanguageModelV4ProviderTool;

const toolOf = (id: `${string}.${string}`, name: string, args: object = {}): LanguageModelV4ProviderTool => ({
  type: "provider",
  id,
  name,
  args: Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined)),
});

const converters: Record<string, Record<ProviderToolType, ToSdk>> = {
  anthropic: {
    web_search: ({ max_uses, allowed_domains, blocked_domains }) =>
      toolOf("anthropic.web_search_20250305", "web_search", {
        maxUses: max_uses,
        allowedDomains: allowed_domains,
        blockedDomains: blocked_domains,
      }),
    code_execution: () => toolOf("anthropic.code_execution_20250825", "code_execution"),
  },
  openai: {
    web_search: ({ allowed_domains }) =>
      toolOf("openai.web_search", "web_search", allowed_domains && { filters: { allowedDomains: allowed_domains } }),
    code_execution: () => toolOf("openai.code_interpreter", "code_execution"),
  },
  google: {
    web_search: () => toolOf("google.google_search", "web_search"),
    code_execution: () => toolOf("google.code_execution", "code_execution"),
  },
};

/** Converts the tools that the provider runs itself; others are left out. */
export const toProviderTools = (provider: string, tools: readonly ProviderTool[] = []): LanguageModelV4ProviderTool[] =>
  tools.flatMap((tool) => (runsTool(provider, tool) ? (converters[provider]?.[tool.type](tool) ?? []) : []));

/** Returns the metadata of a part for a tool of the provider, or for a source; null for any other part. */
export function providerPart(
  provider: string,
  part: LanguageModelV4StreamPart | LanguageModelV4Content,
): Record<string, unknown> | null {
  if (part.type === "source")
    return part.sourceType === "url" ? sourceMetadata({ url: part.url, title: part.title ?? null }) : null;
  if (part.type !== "tool-result" && !(part.type === "tool-call" && part.providerExecuted)) return null;
  const isCall = part.type === "tool-call";
  return itemMetadata({
    provider,
    kind: isCall ? "call" : "result",
    id: part.toolCallId,
    name: part.toolName,
    value: isCall ? (parsedJson(unmaskedJson(part.input)) ?? {}) : unmaskedValue(part.result),
    ...(!isCall && part.isError && { is_error: true }),
    ...(part.providerMetadata && { metadata: part.providerMetadata as Record<string, unknown> }),
  });
}

/** Counts the uses of the provider's tools in an answer, and adds them to its usage. */
export function createUseCounter() {
  let [web_searches, code_executions] = [0, 0];

  return {
    onPart(part: LanguageModelV4StreamPart | LanguageModelV4Content): void {
      if (part.type === "tool-call" && part.providerExecuted) {
        if (part.toolName === "web_search") web_searches++;
        else code_executions++;
      }
      if (part.type !== "finish") return;
      const { server_tool_use } = fieldsOf(part.usage.raw);
      const { web_search_requests } = fieldsOf(server_tool_use);
      // Anthropic counts what it charges, which failed searches are not.
      if (typeof web_search_requests === "number") web_searches = web_search_requests;
      const { groundingMetadata } = fieldsOf(part.providerMetadata?.google);
      const { webSearchQueries } = fieldsOf(groundingMetadata);
      if (Array.isArray(webSearchQueries)) web_searches = webSearchQueries.length;
    },
    hasUses: (): boolean => web_searches + code_executions > 0,
    /** Adds the uses to the usage of the last event: they are charged although the answer fails. */
    counted(event: ModelEvent): ModelEvent {
      if ((event.type !== "done" && event.type !== "error") || web_searches + code_executions === 0) return event;
      const uses = { ...(web_searches > 0 && { web_searches }), ...(code_executions > 0 && { code_executions }) };
      return { ...event, usage: { ...event.usage, ...uses } };
    },
  };
}

/**
 * Leaves out calls of the provider's tools without a result, and results without a call: an answer may have been cut
 * between the two, and the provider would refuse it. A call at the end of the prompt stays: the provider goes on with it.
 */
export function paired(parts: readonly AssistantPart[], isEnd = false): AssistantPart[] {
  const items = parts.flatMap((part) => itemOf(part) ?? []);
  const last = parts.findLast((part) => containerOf(part) === null);
  const pending = isEnd && last ? itemOf(last) : null;
  const has = (kind: "call" | "result", id: string) => items.some((item) => item.kind === kind && item.id === id);
  return parts.filter((part) => {
    const item = itemOf(part);
    return (
      !item || (item.kind === "call" && item === pending) || has(item.kind === "call" ? "result" : "call", item.id)
    );
  });
}

/**
 * Returns the content that a part of an earlier answer goes back as: nothing for a source, or for a tool of another
 * provider. Returns null for a part that has neither.
 */
export function providerContent(provider: string, part: AssistantPart): AssistantContent | null {
  if (sourceOf(part) || containerOf(part) !== null) return [];
  const item = itemOf(part);
  if (!item) return null;
  if (item.provider !== provider) return [];
  const { kind, id: toolCallId, name: toolName, is_error, metadata } = item;
  const options = metadata && { providerOptions: metadata as SharedV4ProviderOptions };
  const value = maskedValue(item.value) as never;
  if (kind === "call")
    return [{ type: "tool-call", toolCallId, toolName, input: value, providerExecuted: true, ...options }];
  return [
    {
      type: "tool-result",
      toolCallId,
      toolName,
      output: { type: is_error ? "error-json" : "json", value },
      ...options,
    },
  ];
}
