import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { parseExact } from "../../lib/exact-numbers.ts";
import { type Mask, maskFor } from "../../lib/mask.ts";
import { maskSecrets } from "../../lib/redact.ts";
import {
  type AnswerObserver,
  type Model,
  type ModelError,
  type ModelEvent,
  type ModelRequest,
  unknownUsage,
} from "./model.ts";
import { abortedError, incompleteError, toModelError } from "./model-error.ts";

/** Format of an answer: by its schema, as any JSON, or as text. For the last two the prompt has the schema. */
export type Format = "schema" | "json" | "text";

/** Way of making a call: the preferred one first, then fallbacks. */
export interface Way {
  streamed: boolean;
  format: Format;
}

/** Makes one call with an adapter; may throw, and ends early if the signal is aborted. */
type Answer = (
  request: ModelRequest,
  signal: AbortSignal,
  way: Way,
  observer: AnswerObserver,
) => AsyncIterable<ModelEvent> | Promise<AsyncIterable<ModelEvent>>;

// Number of schemas per model whose refusal is remembered.
const shapesMax = 64;

/**
 * Creates a model from an adapter: every failure becomes the one `error` that ends the stream. If the server refuses
 * the output schema, another format is tried; if its stream is empty, the call is repeated without streaming.
 */
export function modelOf(answer: Answer, secrets: readonly string[]): Model {
  const formats = new Map<string, Format>();

  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
    observer?: AnswerObserver,
  ): AsyncGenerator<ModelEvent> {
    const shape = JSON.stringify(request.output_schema ?? null);
    const call = callAbort(signal);
    let isOver = false;
    try {
      let way: Way | null = { streamed: true, format: formats.get(shape) ?? "schema" };
      while (way) {
        const { format }: Way = way;
        const redaction = redactModelStream(secrets);
        let hasBegun = false;
        const observed: AnswerObserver = {
          onByte: () => observer?.onByte(),
          onArguments(length) {
            hasBegun = true;
            observer?.onArguments(length);
          },
          onAdjustments: (adjustments) => observer?.onAdjustments?.(adjustments),
        };
        let last: Extract<ModelEvent, { type: "error" }> | null = null;
        try {
          call.signal.throwIfAborted();
          for await (const event of await answer(shaped(request, format), call.signal, way, observed)) {
            // Chunks received before the abort are dropped.
            if (signal.aborted) break;
            if (event.type === "error") {
              last = event;
              break;
            }
            hasBegun = true;
            for (const shown of redaction.push(event)) yield shown; // Not `yield*`, which costs several promises per token.
            if (event.type !== "done") continue;
            if (format !== "schema" && formats.size < shapesMax) formats.set(shape, format);
            isOver = true;
            return;
          }
          last ??= { type: "error", error: incompleteError, usage: unknownUsage };
        } catch (failure) {
          last = { type: "error", error: toModelError(failure, secrets), usage: unknownUsage };
        }
        // The signal decides, because the error thrown after an abort varies.
        if (signal.aborted) last = { ...last, error: abortedError };
        yield* redaction.end();
        way = hasBegun ? null : otherWay(way, last.error, request);
        // The server had begun to answer, so the failure is not retried like that of an unreachable server.
        if (!way) yield hasBegun ? { ...last, error: { ...last.error, request: "sent", unready: false } } : last;
      }
    } finally {
      call.end(isOver);
    }
  }

  return { stream };
}

/** Returns null if no other way can help. */
function otherWay(way: Way, { code, refuses_format }: ModelError, { output_schema }: ModelRequest): Way | null {
  if (code === "model_incomplete" && way.streamed) return { ...way, streamed: false };
  if (!refuses_format || !output_schema || way.format === "text") return null;
  return { ...way, format: way.format === "schema" ? "json" : "text" };
}

/** Adds the schema to the prompt for a server that does not support schemas. The answer is validated in any case. */
function shaped(request: ModelRequest, format: Format): ModelRequest {
  if (format === "schema" || !request.output_schema) return request;
  const instruction = `Answer with JSON alone, without any text around it. It must fit this JSON Schema: ${JSON.stringify(request.output_schema)}`;
  const [first, ...rest] = request.messages;
  const messages: ModelRequest["messages"] =
    first?.role === "system"
      ? [{ role: "system", content: `${first.content}\n\n${instruction}` }, ...rest]
      : [{ role: "system", content: instruction }, ...request.messages];
  return { ...request, messages };
}

/**
 * Returns a signal that is also aborted if the reader stops early, so that no request outlives its stream. After a
 * complete answer the adapter closes the connection.
 */
function callAbort(signal: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    end(isOver: boolean) {
      // A run's signal lives through many calls and would keep each of them in memory.
      signal.removeEventListener("abort", abort);
      if (!isOver) abort();
    },
  };
}

type Delta = Extract<ModelEvent, { type: "delta" }>;

/**
 * Hides the secrets of a connection in its model's events, because journal, readers and tools would get them. Text that
 * may be the beginning of a secret is held back, at most until its part ends.
 */
function redactModelStream(secrets: readonly string[]) {
  let open: { mask: Mask; part: number; kind: Delta["kind"] } | null = null;

  function end(): Delta[] {
    const ended = open;
    open = null;
    return ended ? deltas(ended, ended.mask.end()) : [];
  }

  function pushDelta(delta: Delta): Delta[] {
    const { part, kind, text } = delta;
    const before = open?.part === part && open.kind === kind ? [] : end();
    const mask = open?.mask ?? maskFor(secrets);
    // An empty delta says that its part has begun.
    if (!mask || text === "") return [...before, delta];
    open = { mask, part, kind };
    return [...before, ...deltas(delta, mask.push(text))];
  }

  function shown(event: ModelEvent): ModelEvent {
    if (event.type === "metadata") return { ...event, metadata: shownMetadata(event.metadata) };
    if (event.type !== "tool_call") return event;
    const { name, arguments: args, metadata } = event;
    const call = { ...event, name: maskSecrets(name, secrets), arguments: maskSecrets(args, secrets) };
    return metadata ? { ...call, metadata: shownMetadata(metadata) } : call;
  }

  const shownMetadata = (metadata: Record<string, unknown>): Record<string, unknown> =>
    parseExact(maskSecrets(JSON.stringify(metadata), secrets));

  return {
    /** Returns the events that may be shown after this one. */
    push: (event: ModelEvent): ModelEvent[] => (event.type === "delta" ? pushDelta(event) : [...end(), shown(event)]),
    /** Returns the text held back. */
    end,
  };
}

const deltas = ({ part, kind }: Pick<Delta, "part" | "kind">, text: string): Delta[] =>
  text === "" ? [] : [{ type: "delta", part, kind, text }];

interface Block {
  kind: "output" | "reasoning";
  /** Null until the block has content: providers also open blocks that stay empty. */
  part: number | null;
  metadata: Record<string, unknown> | undefined;
  /** First half of a surrogate pair: sent alone it would become U+FFFD. */
  half: string;
}

type BlockPart = Extract<LanguageModelV4StreamPart, { type: `${"text" | "reasoning"}-${"start" | "delta" | "end"}` }>;

/**
 * Numbers the parts of an answer in the order of their first content, and collects the metadata that the provider needs
 * back. Returns arrays, because the runtime recompiles generators again and again.
 */
export function answerParts() {
  const open = new Map<string, Block>();
  let parts = 0;

  function show(block: Block, text: string): ModelEvent {
    block.part ??= parts++;
    return { type: "delta", part: block.part, kind: block.kind, text };
  }

  function append(block: Block, delta: string): ModelEvent[] {
    const text = block.half + delta;
    block.half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    const whole = text.slice(0, text.length - block.half.length);
    return whole === "" ? [] : [show(block, whole)];
  }

  function close(id: string): ModelEvent[] {
    const block = open.get(id);
    open.delete(id);
    const events = block && block.half !== "" ? [show(block, block.half.toWellFormed())] : [];
    if (!block?.metadata) return events;
    // An empty delta opens the part: encrypted reasoning has metadata and no text.
    if (block.part === null && block.kind === "reasoning") events.push(show(block, ""));
    if (block.part !== null) events.push({ type: "metadata", part: block.part, metadata: block.metadata });
    return events;
  }

  function begin(id: string, kind: Block["kind"]): ModelEvent[] {
    const before = close(id); // Some providers use one id for every block of a kind.
    open.set(id, { kind, part: null, metadata: undefined, half: "" });
    return before;
  }

  function read(part: BlockPart): ModelEvent[] {
    const isStart = part.type === "text-start" || part.type === "reasoning-start";
    const before = isStart ? begin(part.id, part.type === "text-start" ? "output" : "reasoning") : [];
    const block = open.get(part.id);
    if (!block) return before;
    block.metadata = merge(block.metadata, part.providerMetadata);
    if (isStart) return before;
    if (part.type === "text-end" || part.type === "reasoning-end") return close(part.id);
    // Google attaches signatures to empty deltas; other empty deltas have no meaning.
    if (part.delta === "" && part.providerMetadata && block.part === null) return [show(block, "")];
    return append(block, part.delta);
  }

  function toolCall(name: string, input: string, metadata?: Record<string, unknown>): ModelEvent {
    // Some servers send an empty text for "no arguments".
    const text = input.trim() === "" ? "{}" : input;
    return { type: "tool_call", part: parts++, name, arguments: text, ...(metadata && { metadata }) };
  }

  return { read, toolCall, closeAll: () => [...open.keys()].flatMap(close) };
}

/** Merges metadata one level deep, by provider, so that a signature is added to the block's first metadata. */
function merge(old: Record<string, unknown> | undefined, more: Record<string, unknown> | undefined) {
  if (!old || !more) return more ?? old;
  const merged = { ...old };
  for (const [provider, values] of Object.entries(more))
    merged[provider] = { ...Object(old[provider]), ...Object(values) };
  return merged;
}
