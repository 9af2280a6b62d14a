import { newId } from "../core/ids.ts";
import type { ModelRequest, ModelUsage } from "../core/model-call.ts";
import { modelRequest } from "../core/prompt.ts";
import { processRestarted, restartStep } from "../core/restart.ts";
import type { ModelAnswer, ModelSpend } from "../core/run-event.ts";
import { failpoint } from "../lib/failpoint.ts";
import { backoff, sleep } from "../lib/retry.ts";
import { costOf } from "../models/known-models.ts";
import { type ModelError, unknownUsage } from "../models/port.ts";
import { requestCalls } from "./request-calls.ts";
import { Transcript } from "./transcript.ts";
import { Superseded, type Turn } from "./turn.ts";

const attemptsMax = 4;
// A provider that says nothing for so long is taken for dead; models that think do so with signs of life.
const silenceMax_ms = 300_000;
// A model that does not come to an end may not fill the memory, nor a tool with calls.
const answerMax = 1_048_576;
const callsMax = 1000;

interface Heard {
  transcript: Transcript;
  error: ModelError | null;
  finish: ModelAnswer["finish"];
  usage: ModelUsage;
  time_to_first_token_ms: number | null;
}

/** One step: asks the model, retries what may be retried, and records the answer together with the calls it asks for. */
export async function callModel(turn: Turn): Promise<void> {
  const { start, signal } = turn;
  const request = modelRequest(turn.state(), start.agent);
  const begun = performance.now();
  let anchor = await begin(turn);
  for (let attempt = 1; ; attempt++) {
    failpoint?.("before_effect.model_call");
    const heard = await listen(request, anchor, turn, begun);
    failpoint?.("after_effect.model_call");
    if (signal.aborted) throw new Superseded(); // Whoever aborted has the deltas and ends the step.
    const { error } = heard;
    if (!error) return finish(turn, heard, request, begun);
    if (!error.retryable || attempt >= attemptsMax) return fail(turn, heard, request, error, begun);
    const delay_ms = backoff(attempt, error.retry_after_ms);
    const { code, message } = error;
    anchor = await restart(turn, { code, message }, { delay_ms, spent: spent(turn, heard, request) });
    await sleep(delay_ms, signal);
  }
}

/** The anchor of the step, which has been started; started again when the process died in the middle of it. */
async function begin(turn: Turn): Promise<number> {
  const { anchor, run_attempt } = openModelStep(turn);
  if (run_attempt === turn.state().attempt) return anchor;
  return restart(turn, processRestarted("the model was answering"));
}

async function restart(
  turn: Turn,
  reason: { code: string; message: string },
  spending?: { delay_ms: number; spent: ModelSpend },
): Promise<number> {
  const [entry] = await turn.record(restartStep(openModelStep(turn), reason, spending));
  return entry!.seq;
}

const openModelStep = (turn: Turn) => turn.state().open.find((step) => step.step_type === "model_call")!;

async function listen(
  request: ModelRequest,
  anchor: number,
  { ports, signal, state }: Turn,
  begun: number,
): Promise<Heard> {
  const transcript = new Transcript();
  const heard: Heard = { transcript, error: null, finish: null, usage: unknownUsage, time_to_first_token_ms: null };
  const { step_index } = state().open.find((step) => step.anchor === anchor)!;
  const giveUp = new AbortController();
  const stop = (reason: string) => {
    heard.error = { code: "model_error", message: reason, retryable: false, retry_after_ms: null, aborted: false };
    giveUp.abort();
  };
  const silent = () => {
    stop(`The model said nothing for ${silenceMax_ms / 1000} seconds.`);
    heard.error!.retryable = true;
  };
  const alarm = setTimeout(silent, silenceMax_ms);
  const either = AbortSignal.any([signal, giveUp.signal]);
  const asked = performance.now();
  try {
    for await (const event of ports.model.stream(request, either)) {
      if (giveUp.signal.aborted) break;
      if (event.type === "delta" && event.text === "") transcript.opened(event);
      else if (event.type === "delta") {
        const ms = Math.round(performance.now() - begun);
        heard.time_to_first_token_ms ??= Math.round(performance.now() - asked);
        transcript.delta(event, ms);
        ports.delta({ anchor, step_index, part: event.part, kind: event.kind, text: event.text, ms });
      } else if (event.type === "tool_call") transcript.toolCall(event);
      else if (event.type === "metadata") transcript.metadata(event.part, event.metadata);
      else if (event.type === "done") Object.assign(heard, { finish: event.finish, usage: event.usage });
      else if (event.type === "error") Object.assign(heard, { error: event.error, usage: event.usage });
      if (transcript.said() > answerMax) stop(`The model's answer is longer than ${answerMax} characters.`);
      else if (transcript.calls() > callsMax) stop(`The model asked for more than ${callsMax} tool calls at once.`);
      alarm.refresh();
    }
  } finally {
    clearTimeout(alarm);
  }
  return heard;
}

async function finish(turn: Turn, heard: Heard, request: ModelRequest, begun: number): Promise<void> {
  const { step_index } = openModelStep(turn);
  const answer = answerOf(turn, heard, request);
  const latency_ms = Math.round(performance.now() - begun);
  // One append: a crash between the answer and the calls that it asks for would look like a final answer.
  await turn.record(
    {
      type: "step.completed",
      step_index,
      step_type: "model_call",
      status: "completed",
      latency_ms,
      error: null,
      answer,
    },
    ...requestCalls(answer.parts, turn.state(), turn.start.agent),
  );
}

async function fail(turn: Turn, heard: Heard, request: ModelRequest, error: ModelError, begun: number): Promise<void> {
  const { step_index } = openModelStep(turn);
  const { code, message, retryable } = error;
  await turn.record({
    type: "step.completed",
    step_index,
    step_type: "model_call",
    status: "failed",
    latency_ms: Math.round(performance.now() - begun),
    error: { code, message, retryable },
    answer: answerOf(turn, heard, request),
  });
}

function answerOf(turn: Turn, heard: Heard, request: ModelRequest): ModelAnswer {
  const { transcript, finish, time_to_first_token_ms } = heard;
  // A call that the stream cut short was never whole: it is neither run nor shown to the model again.
  const parts = heard.error ? transcript.parts.filter((part) => part.type !== "tool_call") : transcript.parts;
  return {
    ...spent(turn, heard, request),
    message_id: newId("message"),
    parts,
    deltas: transcript.deltas,
    finish,
    time_to_first_token_ms,
  };
}

/**
 * What the call cost. Where the provider does not say (it broke off, or the server does not count streams), what was
 * streamed is counted and marked as an estimate; a call that failed before it said anything cost nothing.
 */
function spent({ state }: Turn, { usage, error, transcript }: Heard, request: ModelRequest): ModelSpend {
  const model = state().run!.model;
  const streamed = transcript.said();
  if (usage.output_tokens !== null) return { usage, cost_usd: costOf(model, usage), estimated: false };
  if (error && streamed === 0) return { usage: nothing, cost_usd: 0, estimated: false };
  const counted = estimate(request, streamed);
  return { usage: counted, cost_usd: costOf(model, counted), estimated: true };
}

const nothing: ModelUsage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };

/** About four characters make a token in the providers' tokenizers. */
export function estimate(request: ModelRequest, streamed: number): ModelUsage {
  const asked = JSON.stringify(request.messages).length + JSON.stringify(request.tools).length;
  return { ...unknownUsage, input_tokens: Math.ceil(asked / 4), output_tokens: Math.ceil(streamed / 4) };
}
