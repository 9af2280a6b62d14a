import {
  type AnswerObserver,
  type Model,
  type ModelError,
  type ModelEvent,
  type ModelRequest,
  unknownUsage,
} from "./model.ts";
import { abortedError, incompleteError, toModelError } from "./model-error.ts";
import { redactModelStream } from "./redact-model-stream.ts";

/** Format of an answer: by its schema, as any JSON, or as text. For the last two the prompt has the schema. */
export type Format = "schema" | "json" | "text";

/** Way of making a call: the preferred one first, then fallbacks. */
export interface Way {
  streamed: boolean;
  format: Format;
}

/** An adapter's events of one call; may throw, and ends early if the signal is aborted. */
type Answer = (
  request: ModelRequest,
  signal: AbortSignal,
  way: Way,
  observer: AnswerObserver,
) => AsyncIterable<ModelEvent>;

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
        const masked = redactModelStream(secrets);
        let said = false;
        const observed: AnswerObserver = {
          onByte: () => observer?.onByte(),
          onArguments(length) {
            said = true;
            observer?.onArguments(length);
          },
        };
        let last: Extract<ModelEvent, { type: "error" }> | null = null;
        try {
          call.signal.throwIfAborted();
          for await (const event of answer(shaped(request, format), call.signal, way, observed)) {
            // Chunks received before the abort are dropped.
            if (signal.aborted) break;
            if (event.type === "error") {
              last = event;
              break;
            }
            said = true;
            for (const shown of masked.push(event)) yield shown; // Not `yield*`, which costs several promises per token.
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
        yield* masked.end();
        way = said ? null : otherWay(way, last.error, request);
        // The server had begun to answer, so the failure is not retried like that of an unreachable server.
        if (!way) yield said ? { ...last, error: { ...last.error, request: "sent", unready: false } } : last;
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
  const told = `Answer with JSON alone, without any text around it. It must fit this JSON Schema: ${JSON.stringify(request.output_schema)}`;
  const [first, ...rest] = request.messages;
  const messages: ModelRequest["messages"] =
    first?.role === "system"
      ? [{ role: "system", content: `${first.content}\n\n${told}` }, ...rest]
      : [{ role: "system", content: told }, ...request.messages];
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
