import { abortedError, incompleteError, toModelError } from "./model-error.ts";
import { type Model, type ModelEvent, type ModelRequest, unknownUsage } from "./port.ts";

/** What an adapter says of one call; it may throw, and it ends early when the signal is aborted. */
export type Answer = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;

/** Makes a model of an adapter's answers: whatever goes wrong becomes the one `error` that ends the stream. */
export function modelOf(answer: Answer, secrets: readonly string[]): Model {
  return { stream: (request, signal) => stream(answer, secrets, request, signal) };
}

async function* stream(
  answer: Answer,
  secrets: readonly string[],
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const call = callAbort(signal);
  try {
    call.signal.throwIfAborted();
    for await (const event of answer(request, call.signal)) {
      // Chunks that were already here when the caller aborted are not news any more.
      if (signal.aborted) break;
      yield event;
      if (event.type === "done" || event.type === "error") return;
    }
    yield { type: "error", error: signal.aborted ? abortedError : incompleteError, usage: unknownUsage };
  } catch (failure) {
    // The signal decides: what is thrown after an abort depends on the abort's reason and on the moment.
    const error = signal.aborted ? abortedError : toModelError(failure, secrets);
    yield { type: "error", error, usage: unknownUsage };
  } finally {
    call.end();
  }
}

/** A signal that also ends when the reader stops early, so that no request outlives its stream. */
function callAbort(signal: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    end() {
      // A run's signal lives through many calls and would keep every one of them in memory.
      signal.removeEventListener("abort", abort);
      abort();
    },
  };
}
