import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderOptions,
  SharedV4Warning,
} from "@ai-sdk/provider";
import { containerMetadata } from "../../domain/provider-items.ts";
import { limitsUses, type ProviderTool, runsTool } from "../../domain/provider-tools.ts";
import type { Provider } from "../../domain/providers.ts";
import { specialTier } from "../../domain/service-tier.ts";
import { unsupportedSettings } from "../../domain/unsupported-settings.ts";
import { unmaskedJson } from "../../lib/exact-masks.ts";
import { fieldsOf } from "../../lib/json.ts";
import { isCacheable } from "./cache-breakpoints.ts";
import { callOptions } from "./call-options.ts";
import { leftOut } from "./chat-adjustments.ts";
import { finishOf } from "./finish-reason.ts";
import {
  type AnswerObserver,
  type FinishReason,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type ModelUsage,
  type RequestAdjustment,
  unknownUsage,
} from "./model.ts";
import { failedEnd, incompleteError, onceBegun, toModelError } from "./model-error.ts";
import { NotAsked, observeCall } from "./model-fetch.ts";
import { type Answer, answerParts, modelOf, type Way } from "./model-stream.ts";
import { createUseCounter, providerPart } from "./provider-tools.ts";
import { withFields } from "./request-extras.ts";
import { servedTier } from "./service-tier.ts";

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;
type AnswerParts = ReturnType<typeof answerParts>;

type CacheWrites = Pick<ModelUsage, "cache_write_5m_tokens" | "cache_write_1h_tokens">;
type CountName = Exclude<keyof ModelUsage, keyof CacheWrites | "web_searches" | "code_executions" | "service_tier">;
type OwnOptions = Pick<LanguageModelV4CallOptions, "maxOutputTokens" | "reasoning" | "providerOptions">;

/** Differences between providers beyond the SDK's common interface. */
interface Dialect {
  /** Name of the provider whose own tools the model may have; absent: it has none. */
  provider?: string;
  /** Returns options that this provider needs; settings that only it has are under its name. */
  options(request: ModelRequest): OwnOptions;
  /** Path or paths of each count in the provider's usage. The SDKs report 0 for missing counts. */
  counts: Record<CountName, string | readonly string[]>;
  /** Returns the counts of cache writes in the provider's usage, as far as it has them. */
  cacheWrites?(usage: unknown): CacheWrites;
  /** Marks what the provider may cache of a prompt. */
  cached?(call: LanguageModelV4CallOptions, request: ModelRequest): LanguageModelV4CallOptions;
  /** Texts that no error message may contain. */
  secrets: string[];
  /** True if an event says that the answer is incomplete, even without a reason. */
  isCut?(event: unknown): boolean;
}

/** Adapts a model of the AI SDK to our port. */
export const providerModel = (model: LanguageModelV4, dialect: Dialect): Model =>
  modelOf(providerAnswers(model, dialect), dialect.secrets);

/** Returns the calls of a model of the AI SDK. They throw if the provider refuses the request. */
export const providerAnswers =
  (model: LanguageModelV4, dialect: Dialect) =>
  (...call: Parameters<Answer>): AsyncGenerator<ModelEvent> =>
    answer(model, dialect, ...call);

async function* answer(
  model: LanguageModelV4,
  dialect: Dialect,
  request: ModelRequest,
  signal: AbortSignal,
  { streamed, format }: Way,
  observer: AnswerObserver,
): AsyncGenerator<ModelEvent> {
  const { extras } = request;
  const isBounded = request.settings.max_output_tokens !== undefined;
  observeCall(signal, { onByte: observer.onByte, isBounded, ...(extras && { extras }) });
  const own = withOptions(dialect.options(request), model, extras?.options);
  const includeRawChunks = dialect.isCut !== undefined;
  const call = { ...callOptions(request, format, dialect.provider), ...own, abortSignal: signal, includeRawChunks };
  const options = (isCacheable(request) && dialect.cached?.(call, request)) || call;
  const parts = answerParts(request.tools.map(({ name }) => name));
  if (!streamed) {
    const result = await model.doGenerate(options);
    observer.onAdjustments?.(adjustmentsIn(result.warnings, request, model, dialect));
    return yield* whole(result, parts, dialect, request);
  }
  const reader = (await model.doStream(options)).stream.getReader();
  const calls = openCalls(parts, observer);
  const uses = createUseCounter();
  let isCut = false;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const part = next.value;
      calls.onPart(part);
      if (part.type === "stream-start") observer.onAdjustments?.(adjustmentsIn(part.warnings, request, model, dialect));
      uses.onPart(part);
      if (part.type === "raw") isCut ||= dialect.isCut?.(part.rawValue) ?? false;
      if (part.type === "finish") yield* calls.rest();
      if (part.type === "finish" && isCut) part.finishReason.raw ??= "incomplete";
      for (const event of events(part, parts, dialect, request)) yield uses.counted(event); // Not `yield*`, which costs several promises per token.
    }
  } catch (failure) {
    if (!uses.hasUses()) throw onceBegun(failure);
    const secrets = [...dialect.secrets, ...(extras?.secrets ?? [])];
    yield uses.counted({ type: "error", error: toModelError(onceBegun(failure), secrets), usage: unknownUsage });
  } finally {
    reader.cancel().catch(() => {}); // Cancelling a broken stream rejects too.
  }
}

/** Adds an agent's options to those of the server, under the provider's name. */
function withOptions(
  own: OwnOptions,
  { provider }: LanguageModelV4,
  options: Record<string, unknown> = {},
): OwnOptions {
  if (Object.keys(options).length === 0) return own;
  const name = nameOf(provider);
  const fields = withFields({ ...own.providerOptions?.[name] }, options) as SharedV4ProviderOptions[string];
  return { ...own, providerOptions: { ...own.providerOptions, [name]: fields } };
}

/** Returns the settings that the SDK did not send, or sent in another form, and those that it has no word for. */
function adjustmentsIn(
  warnings: readonly SharedV4Warning[],
  { settings, tools, provider_tools = [] }: ModelRequest,
  { provider }: LanguageModelV4,
  dialect: Pick<Dialect, "provider">,
): RequestAdjustment[] {
  const found = warnings.flatMap((warning): RequestAdjustment[] => {
    if (warning.type === "other") return [{ field: "request", message: warning.message }];
    if (warning.type === "deprecated") return [];
    const field = settingNames[warning.feature] ?? warning.feature;
    return [{ field, message: warning.details ?? leftOut(field).message }];
  });
  const silent = unsupportedSettings(nameOf(provider) as Provider, settings).filter(
    (name) => !found.some(({ field }) => field === name) && (name !== "parallel_tool_calls" || tools.length > 0),
  );
  const { provider: host = "" } = dialect;
  const missing = provider_tools.filter((tool) => !runsTool(host, tool)).map(({ type }) => type);
  const unlimited = provider_tools.filter((tool) => runsTool(host, tool) && !limitsUses(host, tool.type));
  return [...found, ...[...silent, ...missing].map(leftOut), ...unlimited.map(withoutLimit)];
}

const withoutLimit = ({ type, max_uses }: ProviderTool): RequestAdjustment => ({
  field: "max_uses",
  message: `The provider has no limit for ${type}: the model may use it more often than ${max_uses} times.`,
});

/** Provider of an SDK's model: `openai.responses` is of OpenAI. */
const nameOf = (provider: string): string => provider.split(".")[0] ?? provider;

/** Our names of the SDK's settings. */
const settingNames: Record<string, string> = {
  topP: "top_p",
  stopSequences: "stop",
  maxOutputTokens: "max_output_tokens",
  toolChoice: "tool_choice",
  reasoning: "reasoning_effort",
};

/**
 * Tracks calls whose arguments are still arriving. If the answer is cut off, they are reported, so that the model
 * learns that they were not run.
 */
function openCalls(parts: AnswerParts, observer: AnswerObserver) {
  const open = new Map<string, { name: string; input: string }>();
  return {
    onPart(part: LanguageModelV4StreamPart): void {
      // The provider runs its own tools itself.
      if (part.type === "tool-input-start" && !part.providerExecuted) {
        open.set(part.id, { name: part.toolName, input: "" });
        observer.onArguments(part.toolName.length);
      } else if (part.type === "tool-input-delta") {
        const call = open.get(part.id);
        if (!call) return;
        call.input += part.delta;
        observer.onArguments(part.delta.length);
      } else if (part.type === "tool-call") open.delete(part.toolCallId);
    },
    *rest(): Generator<ModelEvent> {
      for (const { name, input } of open.values()) yield* parts.toolCall(name, unmaskedJson(input));
    },
  };
}

/** Yields a whole answer as if it had been streamed. */
function* whole(
  { content, finishReason, usage, response, providerMetadata }: LanguageModelV4GenerateResult,
  parts: AnswerParts,
  dialect: Dialect,
  request: ModelRequest,
): Generator<ModelEvent> {
  const uses = createUseCounter();
  for (const [index, each] of content.entries()) {
    uses.onPart(each);
    const ofProvider = providerPart(dialect.provider ?? "", each);
    if (ofProvider) yield* parts.metadata(ofProvider);
    else if (each.type === "tool-call")
      yield* parts.toolCall(each.toolName, unmaskedJson(each.input), each.providerMetadata);
    if (each.type !== "text" && each.type !== "reasoning") continue;
    const { type, text: delta, providerMetadata: metadata } = each;
    const id = String(index);
    yield* parts.read({ type: `${type}-start`, id, providerMetadata: metadata });
    yield* parts.read({ type: `${type}-delta`, id, delta });
    yield* parts.read({ type: `${type}-end`, id });
  }
  if (dialect.isCut?.(response?.body)) finishReason.raw ??= "incomplete";
  const end = { type: "finish" as const, finishReason, usage, providerMetadata };
  uses.onPart(end);
  yield uses.counted(finished(end, dialect, request));
}

function events(
  part: LanguageModelV4StreamPart,
  parts: AnswerParts,
  dialect: Dialect,
  request: ModelRequest,
): ModelEvent[] {
  const ofProvider = providerPart(dialect.provider ?? "", part);
  if (ofProvider) return parts.metadata(ofProvider);
  switch (part.type) {
    case "text-start":
    case "text-delta":
    case "text-end":
    case "reasoning-start":
    case "reasoning-delta":
    case "reasoning-end":
      return parts.read(part);
    case "tool-call":
      return parts.toolCall(part.toolName, unmaskedJson(part.input), part.providerMetadata);
    case "error":
      if (part.error instanceof NotAsked) return []; // The end of the answer follows and says that it was cut off.
      return [{ type: "error", error: toModelError(onceBegun(part.error), dialect.secrets), usage: unknownUsage }];
    case "finish":
      return [...parts.closeAll(), ...container(part, parts), finished(part, dialect, request)];
    default:
      return [];
  }
}

/**
 * Returns the last event. The provider's own reason takes precedence, because the SDKs treat some failures as an end.
 */
function finished(part: Omit<Finish, "type">, dialect: Dialect, request: ModelRequest): ModelEvent {
  const { unified, raw } = part.finishReason;
  const { secrets } = dialect;
  const usage = { ...usageOf(part.usage, dialect), ...servedTier(tierIn(part), request.extras) };
  const own = raw === undefined ? null : finishOf(raw);
  if (raw !== undefined && own === null) return { type: "error", error: failedEnd(raw, secrets), usage };
  const isCut = own === "length" || own === "content_filter" || own === "pause";
  const finish = isCut ? own : (finishes[unified] ?? own);
  return finish ? { type: "done", finish, usage } : { type: "error", error: incompleteError, usage };
}

/** Returns the part that names the container of a paused answer: its code goes on there. */
function container({ finishReason, providerMetadata }: Finish, parts: AnswerParts): ModelEvent[] {
  const { id } = fieldsOf(providerMetadata?.anthropic?.container);
  const isPaused = finishReason.raw !== undefined && finishOf(finishReason.raw) === "pause";
  return isPaused && typeof id === "string" ? parts.metadata(containerMetadata(id)) : [];
}

/** Returns the tier in which the provider answered, under the name that its SDK or its usage has for it. */
function tierIn({ providerMetadata, usage }: Omit<Finish, "type">): unknown {
  const { speed, trafficType } = fieldsOf(usage.raw);
  const tiers = Object.values(providerMetadata ?? {}).map(({ serviceTier }) => serviceTier);
  return [speed, trafficType, ...tiers].find((tier) => specialTier(tier) !== null) ?? trafficType ?? tiers[0];
}

const finishes: Partial<Record<LanguageModelV4FinishReason["unified"], FinishReason>> = {
  stop: "stop",
  "tool-calls": "tool_calls",
  length: "length",
  "content-filter": "content_filter",
};

function usageOf(usage: LanguageModelV4Usage, { counts, cacheWrites }: Dialect): ModelUsage {
  const known = (name: CountName, count: number | undefined) =>
    isCount(count) && [counts[name]].flat().some((path) => isCount(at(usage.raw, path))) ? count : null;
  return {
    input_tokens: known("input_tokens", usage.inputTokens.total),
    output_tokens: known("output_tokens", usage.outputTokens.total),
    cached_input_tokens: known("cached_input_tokens", usage.inputTokens.cacheRead),
    reasoning_tokens: known("reasoning_tokens", usage.outputTokens.reasoning),
    ...cacheWrites?.(usage.raw),
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Returns the count at this path of a provider's usage, or null if there is none. */
export function countAt(usage: unknown, path: string): number | null {
  const count = at(usage, path);
  return isCount(count) ? count : null;
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((inner, key) => Object(inner)[key], value);
}
