import { abortedError, incompleteError, toModelError } from "./model-error.ts";
import {
  type AnswerObserver,
  type Model,
  type ModelError,
  type ModelEvent,
  type ModelRequest,
  unknownUsage,
} from "./port.ts";
import { withoutSecrets } from "./without-secrets.ts";

/** How an answer is to be shaped: by its schema, as some JSON, or as the model likes. The prompt says the rest. */
export type Format = "schema" | "json" | "text";

/** The way in which a call is made: the first one, or what is left when a server cannot do that. */
export interface Way {
  streamed: boolean;
  format: Format;
}

/** What an adapter says of one call; it may throw, and it ends early when the signal is aborted. */
type Answer = (
  request: ModelRequest,
  signal: AbortSignal,
  way: Way,
  observer: AnswerObserver,
) => AsyncIterable<ModelEvent>;

// Shapes whose refusal is remembered, for each model; more are asked for anew.
const shapesMax = 64;

/**
 * Makes a model of an adapter's answers: whatever goes wrong becomes the one `error` that ends the stream. A server that
 * cannot shape its answers by a schema is asked in another way, and one whose stream is empty is asked without streaming,
 * which gives the answer or the reason.
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
        const masked = withoutSecrets(secrets);
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
            // Chunks that were already here when the caller aborted are not news any more.
            if (signal.aborted) break;
            if (event.type === "error") {
              last = event;
              break;
            }
            said = true;
            for (const shown of masked.push(event)) yield shown; // To delegate costs a token several promises.
            if (event.type !== "done") continue;
            if (format !== "schema" && formats.size < shapesMax) formats.set(shape, format);
            isOver = true;
            return;
          }
          last ??= { type: "error", error: incompleteError, usage: unknownUsage };
        } catch (failure) {
          last = { type: "error", error: toModelError(failure, secrets), usage: unknownUsage };
        }
        // The signal decides: what is thrown after an abort depends on the abort's reason and on the moment.
        if (signal.aborted) last = { ...last, error: abortedError };
        yield* masked.end();
        way = said ? null : otherWay(way, last.error, request);
        // Who has spoken was there: it is not waited for, whatever it says then.
        if (!way) yield said ? { ...last, error: { ...last.error, request: "sent", unready: false } } : last;
      }
    } finally {
      call.end(isOver);
    }
  }

  return { stream };
}

/** Null: what went wrong would go wrong in any other way too. */
function otherWay(way: Way, { code, refuses_format }: ModelError, { output_schema }: ModelRequest): Way | null {
  if (code === "model_incomplete" && way.streamed) return { ...way, streamed: false };
  if (!refuses_format || !output_schema || way.format === "text") return null;
  return { ...way, format: way.format === "schema" ? "json" : "text" };
}

/** Who cannot be held to a schema is told of it. The answer is held against it in any case. */
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
 * A signal that also ends when the reader stops early, so that no request outlives its stream. What comes behind an answer
 * that is over is up to its adapter.
 */
function callAbort(signal: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    end(isOver: boolean) {
      // A run's signal lives through many calls and would keep every one of them in memory.
      signal.removeEventListener("abort", abort);
      if (!isOver) abort();
    },
  };
}
