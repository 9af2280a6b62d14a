import type { ModelPrice } from "../../domain/price.ts";
import type { RunError, RunUsage } from "../../domain/run-event.ts";
import { backoff } from "../../lib/retry.ts";
import { type Model, type ModelError, type ModelRequest, unknownUsage } from "../models/model.ts";
import type { RunStart } from "./messages.ts";
import { limitToAllowance, reserveBudget } from "./reserve-budget.ts";
import { type RunContext, Superseded } from "./run-context.ts";
import type { Spoken } from "./spending.ts";

/** The last request sent to a model, and its response: an answer, or an error that is not retried. */
interface Exchange<Response> {
  response: Response;
  sent: ModelRequest;
}

interface Transport<Response> {
  send(request: ModelRequest): Promise<Response>;
  /** Called before a retry, to record the failed attempt. */
  again(response: Response, request: ModelRequest, error: ModelError, delay_ms: number): Promise<unknown>;
  /** Usage of the run so far, journaled or not. */
  used?(): RunUsage;
  /** Price of the model, if it is not the run's model. */
  price?: ModelPrice | null;
}

/** Asks a model and retries transient errors. Returns `refused` if the budget does not allow the call. */
export async function callWithRetry<Response extends { error: ModelError | null }>(
  context: RunContext,
  request: ModelRequest,
  { send, again, used, price }: Transport<Response>,
): Promise<Exchange<Response> | { refused: RunError }> {
  const retryDelay = createModelRetryPolicy();
  for (;;) {
    const allowed = await reserveBudget(context, request, used?.(), price);
    if ("code" in allowed) return { refused: allowed };
    const sent = limitToAllowance(request, allowed);
    const response = await send(sent);
    if (context.signal.aborted) throw new Superseded(); // The caller that aborted ends the step.
    const { error } = response;
    const delay_ms = error && retryDelay(error);
    if (!error || delay_ms === null) return { response, sent };
    await again(response, sent, error, delay_ms);
    await context.ports.sleep(delay_ms, context.signal);
  }
}

/** A model's answer that is read as a whole, not streamed. */
export interface Text extends Spoken {
  answer: string;
  error: ModelError | null;
}

const idleTimeout_ms = 300_000;
// Limits an answer's length: a model may never stop.
const answerMax = 1_048_576;

/** Milliseconds that a run's provider may send nothing, not even a comment, before its call is aborted. */
export const idleTimeout = ({ connection }: Pick<RunStart, "connection">): number =>
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
});

/**
 * Collects an answer until it ends, exceeds `lengthMax` characters or its time is up: `idle_ms` without a byte, or
 * `max_ms` in total.
 */
export async function collectText(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  { idle_ms, max_ms, lengthMax = answerMax }: { idle_ms: number; max_ms?: number; lengthMax?: number },
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

// Maximum number of attempts if each fails transiently.
const attemptsMax = 4;
// Total wait for an unreachable server: enough for a restart.
const away_ms = 30_000;
// Pauses stop growing at this attempt, 4 seconds, so that a server that is back is found soon.
const steepest = 4;

/**
 * Returns a function that gives the delay before the next attempt, or null to give up. Stateful: call it once per
 * failure.
 */
function createModelRetryPolicy(): (error: ModelError) => number | null {
  let [attempts, waited_ms] = [0, 0];
  return ({ retryable, request, unready, retry_after_ms }) => {
    attempts++;
    const isWaitedFor = (request === "not_sent" || unready === true) && waited_ms < away_ms;
    if (!retryable || (attempts >= attemptsMax && !isWaitedFor)) return null;
    const pause_ms = backoff(Math.min(attempts, steepest), retry_after_ms);
    const delay_ms = isWaitedFor && retry_after_ms === null ? Math.min(pause_ms, away_ms - waited_ms) : pause_ms;
    waited_ms += delay_ms;
    return delay_ms;
  };
}
