import type {
  LanguageModelV4,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { answerParts } from "./answer-parts.ts";
import { callOptions } from "./call-options.ts";
import { incompleteError, onceBegun, toModelError } from "./model-error.ts";
import { modelOf, type Way } from "./model-stream.ts";
import {
  type FinishReason,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type ModelUsage,
  unknownUsage,
} from "./port.ts";

type AnswerParts = ReturnType<typeof answerParts>;

/** What differs between providers beyond the SDK's common interface. */
interface Dialect {
  /** Settings that only this provider has, under its own name. */
  options(request: ModelRequest): SharedV4ProviderOptions;
  /** Where each count stands in the provider's usage. The SDKs write 0 for a count that never came. */
  counts: Record<keyof ModelUsage, string>;
  /** What must never show in an error message. */
  secrets: string[];
}

/** Gives a model of the AI SDK the shape of our port. */
export function providerModel(model: LanguageModelV4, dialect: Dialect): Model {
  return modelOf((...call) => answer(model, dialect, ...call), dialect.secrets);
}

async function* answer(
  model: LanguageModelV4,
  dialect: Dialect,
  request: ModelRequest,
  signal: AbortSignal,
  { streamed, format }: Way,
): AsyncGenerator<ModelEvent> {
  const options = { ...callOptions(request, format), providerOptions: dialect.options(request), abortSignal: signal };
  const parts = answerParts();
  if (!streamed) return yield* whole(await model.doGenerate(options), parts, dialect);
  const reader = (await model.doStream(options)).stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      for (const event of events(next.value, parts, dialect)) yield event; // To delegate costs a token several promises.
  } catch (failure) {
    throw onceBegun(failure);
  } finally {
    reader.cancel().catch(() => {}); // A stream that broke rejects its own cancelling too.
  }
}

/** An answer that came in one piece, as if it had been streamed. */
function* whole(
  { content, finishReason, usage }: LanguageModelV4GenerateResult,
  parts: AnswerParts,
  dialect: Dialect,
): Generator<ModelEvent> {
  for (const [index, each] of content.entries()) {
    if (each.type === "tool-call") yield parts.toolCall(each.toolName, each.input, each.providerMetadata);
    if (each.type !== "text" && each.type !== "reasoning") continue;
    const { type, text: delta, providerMetadata } = each;
    const id = String(index);
    yield* parts.read({ type: `${type}-start`, id, providerMetadata });
    yield* parts.read({ type: `${type}-delta`, id, delta });
    yield* parts.read({ type: `${type}-end`, id });
  }
  yield finished(finishReason.unified, usageOf(usage, dialect.counts));
}

function events(part: LanguageModelV4StreamPart, parts: AnswerParts, dialect: Dialect): ModelEvent[] {
  switch (part.type) {
    case "text-start":
    case "text-delta":
    case "text-end":
    case "reasoning-start":
    case "reasoning-delta":
    case "reasoning-end":
      return parts.read(part);
    case "tool-call":
      return [parts.toolCall(part.toolName, part.input, part.providerMetadata)];
    case "error":
      return [{ type: "error", error: toModelError(onceBegun(part.error), dialect.secrets), usage: unknownUsage }];
    case "finish":
      return [...parts.closeAll(), finished(part.finishReason.unified, usageOf(part.usage, dialect.counts))];
    default:
      return [];
  }
}

function finished(reason: LanguageModelV4FinishReason["unified"], usage: ModelUsage): ModelEvent {
  if (reason === "error" || reason === "interrupted") return { type: "error", error: incompleteError, usage };
  return { type: "done", finish: finishes[reason], usage };
}

const finishes: Record<Exclude<LanguageModelV4FinishReason["unified"], "error" | "interrupted">, FinishReason> = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "content-filter": "content_filter",
  other: "other",
};

function usageOf(usage: LanguageModelV4Usage, counts: Dialect["counts"]): ModelUsage {
  const known = (name: keyof ModelUsage, count: number | undefined) =>
    isCount(at(usage.raw, counts[name])) && isCount(count) ? count : null;
  return {
    input_tokens: known("input_tokens", usage.inputTokens.total),
    output_tokens: known("output_tokens", usage.outputTokens.total),
    cached_input_tokens: known("cached_input_tokens", usage.inputTokens.cacheRead),
    reasoning_tokens: known("reasoning_tokens", usage.outputTokens.reasoning),
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, key) => Object(inner)[key], value);
}
