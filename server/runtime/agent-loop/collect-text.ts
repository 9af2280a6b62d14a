import { type Model, type ModelError, type ModelRequest, unknownUsage } from "../models/model.ts";
import type { Callee } from "./callee.ts";
import type { Spoken } from "./spending.ts";

/** A model's answer that is read as a whole, not streamed. */
export interface Text extends Spoken {
  answer: string;
  error: ModelError | null;
}

const idleTimeout_ms = 300_000;
// Limits an answer's length: a model may never stop.
const answerMax = 1_048_576;

/** Milliseconds that a provider may send nothing, not even a comment, before its call is aborted. */
export const idleTimeout = ({ connection }: Pick<Callee, "connection">): number =>
  connection.idle_timeout_ms ?? idleTimeout_ms;

/** Calls `ring` once after `ms` without a refresh, unless ended before. */
export function createAlarm(ms: number, ring: () => void) {
  let timer: Timer | null = setTimeout(ring, ms);
  return {
    refresh: () => void timer?.refresh(),
    end() {
      if (timer) clearTimeout(timer);
      timer = null;
    },
  };
}

/** Returns the error of a call that was aborted because its provider sent nothing for `ms`. */
export const silence = (ms: number): ModelError => ({
  code: "model_error",
  message: `The model sent nothing for ${ms / 1000} seconds.`,
  retryable: true,
  retry_after_ms: null,
  aborted: false,
  request: "sent",
  silent: true,
});

interface TextBounds {
  idle_ms: number;
  max_ms?: number;
  lengthMax?: number;
  /** Called for each chunk of bytes. */
  begins?(): void;
}

/**
 * Collects an answer until it ends, exceeds `lengthMax` characters or its time is up: `idle_ms` without a byte, or
 * `max_ms` in total.
 */
export async function collectText(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  { idle_ms, max_ms, lengthMax = answerMax, begins = () => {} }: TextBounds,
): Promise<Text> {
  const response: Text = { answer: "", error: null, usage: unknownUsage, failed: false, said: 0, aborted: false };
  const cancel = new AbortController();
  let isAnswered = false;
  let fault: ModelError | null = null;
  const alarm = createAlarm(idle_ms, () => {
    fault = silence(idle_ms);
    response.aborted = isAnswered;
    cancel.abort();
  });
  const observer = {
    onByte() {
      isAnswered = true;
      begins();
      alarm.refresh();
    },
    onArguments(length: number) {
      response.said += length;
      if (response.said > lengthMax) cancel.abort();
    },
  };
  const signals = [signal, cancel.signal, ...(max_ms === undefined ? [] : [AbortSignal.timeout(max_ms)])];
  try {
    for await (const event of model.stream(request, AbortSignal.any(signals), observer)) {
      alarm.refresh();
      if (event.type === "delta") response.said += event.text.length;
      if (event.type === "delta" && event.kind === "output") response.answer += event.text;
      else if (event.type === "done") response.usage = event.usage;
      else if (event.type === "error")
        Object.assign(response, { usage: event.usage, error: fault ?? event.error, failed: true });
      if (response.said > lengthMax) break;
    }
  } finally {
    alarm.end();
  }
  return response;
}
