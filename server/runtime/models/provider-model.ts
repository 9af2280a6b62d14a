import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { unmaskedJson } from "../../lib/exact-masks.ts";
import { callOptions } from "./call-options.ts";
import { finishOf } from "./finish-reason.ts";
import {
  type AnswerObserver,
  type FinishReason,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type ModelUsage,
  unknownUsage,
} from "./model.ts";
import { failedEnd, incompleteError, onceBegun, toModelError } from "./model-error.ts";
import { NotAsked, observeCall } from "./model-fetch.ts";
import { answerParts, modelOf, type Way } from "./model-stream.ts";

type AnswerParts = ReturnType<typeof answerParts>;

type CountName = Exclude<keyof ModelUsage, `cache_write_${string}`>;

/** Differences between providers beyond the SDK's common interface. */
interface Dialect {
  /** Returns options that this provider needs; settings that only it has are under its name. */
  options(request: ModelRequest): Pick<LanguageModelV4CallOptions, "maxOutputTokens" | "reasoning" | "providerOptions">;
  /** Path or paths of each count in the provider's usage. The SDKs report 0 for missing counts. */
  counts: Record<CountName, string | readonly string[]>;
  /** Texts that no error message may contain. */
  secrets: string[];
  /** True if an event says that the answer is incomplete, even without a reason. */
  isCut?(event: unknown): boolean;
}

/** Adapts a model of the AI SDK to our port. */
export function providerModel(model: LanguageModelV4, dialect: Dialect): Model {
  return modelOf((...call) => answer(model, dialect, ...call), dialect.secrets);
}

async function* answer(
  model: LanguageModelV4,
  dialect: Dialect,
  request: ModelRequest,
  signal: AbortSignal,
  { streamed, format }: Way,
  observer: AnswerObserver,
): AsyncGenerator<ModelEvent> {
  observeCall(signal, { onByte: observer.onByte, isBounded: request.settings.max_output_tokens !== undefined });
  const own = dialect.options(request);
  const includeRawChunks = dialect.isCut !== undefined;
  const options = { ...callOptions(request, format), ...own, abortSignal: signal, includeRawChunks };
  const parts = answerParts();
  if (!streamed) return yield* whole(await model.doGenerate(options), parts, dialect);
  const reader = (await model.doStream(options)).stream.getReader();
  const calls = openCalls(parts, observer);
  let isCut = false;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const part = next.value;
      calls.onPart(part);
      if (part.type === "raw") isCut ||= dialect.isCut?.(part.rawValue) ?? false;
      if (part.type === "finish") yield* calls.rest();
      if (part.type === "finish" && isCut) part.finishReason.raw ??= "incomplete";
      for (const event of events(part, parts, dialect)) yield event; // Not `yield*`, which costs several promises per token.
    }
  } catch (failure) {
    throw onceBegun(failure);
  } finally {
    reader.cancel().catch(() => {}); // Cancelling a broken stream rejects too.
  }
}

/**
 * Tracks calls whose arguments are still arriving. If the answer is cut off, they are reported, so that the model
 * learns that they were not run.
 */
function openCalls(parts: AnswerParts, observer: AnswerObserver) {
  const open = new Map<string, { name: string; input: string }>();
  return {
    onPart(part: LanguageModelV4StreamPart): void {
      if (part.type === "tool-input-start") {
        open.set(part.id, { name: part.toolName, input: "" });
        observer.onArguments(part.toolName.length);
      } else if (part.type === "tool-input-delta") {
        const call = open.get(part.id);
        if (call) call.input += part.delta;
        observer.onArguments(part.delta.length);
      } else if (part.type === "tool-call") open.delete(part.toolCallId);
    },
    *rest(): Generator<ModelEvent> {
      for (const { name, input } of open.values()) yield parts.toolCall(name, unmaskedJson(input));
    },
  };
}

/** Yields a whole answer as if it had been streamed. */
function* whole(
  { content, finishReason, usage, response }: LanguageModelV4GenerateResult,
  parts: AnswerParts,
  dialect: Dialect,
): Generator<ModelEvent> {
  for (const [index, each] of content.entries()) {
    if (each.type === "tool-call") yield parts.toolCall(each.toolName, unmaskedJson(each.input), each.providerMetadata);
    if (each.type !== "text" && each.type !== "reasoning") continue;
    const { type, text: delta, providerMetadata } = each;
    const id = String(index);
    yield* parts.read({ type: `${type}-start`, id, providerMetadata });
    yield* parts.read({ type: `${type}-delta`, id, delta });
    yield* parts.read({ type: `${type}-end`, id });
  }
  if (dialect.isCut?.(response?.body)) finishReason.raw ??= "incomplete";
  yield finished(finishReason, usageOf(usage, dialect.counts), dialect);
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
      return [parts.toolCall(part.toolName, unmaskedJson(part.input), part.providerMetadata)];
    case "error":
      if (part.error instanceof NotAsked) return []; // The end of the answer follows and says that it was cut off.
      return [{ type: "error", error: toModelError(onceBegun(part.error), dialect.secrets), usage: unknownUsage }];
    case "finish":
      return [...parts.closeAll(), finished(part.finishReason, usageOf(part.usage, dialect.counts), dialect)];
    default:
      return [];
  }
}

/**
 * Returns the last event. The provider's own reason takes precedence, because the SDKs treat some failures as an end.
 */
function finished({ unified, raw }: LanguageModelV4FinishReason, usage: ModelUsage, { secrets }: Dialect): ModelEvent {
  const own = raw === undefined ? null : finishOf(raw);
  if (raw !== undefined && own === null) return { type: "error", error: failedEnd(raw, secrets), usage };
  const isCut = own === "length" || own === "content_filter";
  const finish = isCut ? own : (finishes[unified] ?? own);
  return finish ? { type: "done", finish, usage } : { type: "error", error: incompleteError, usage };
}

const finishes: Partial<Record<LanguageModelV4FinishReason["unified"], FinishReason>> = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "content-filter": "content_filter",
};

function usageOf(usage: LanguageModelV4Usage, counts: Dialect["counts"]): ModelUsage {
  const known = (name: CountName, count: number | undefined) =>
    isCount(count) && [counts[name]].flat().some((path) => isCount(at(usage.raw, path))) ? count : null;
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
