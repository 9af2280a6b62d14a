import { decidedEvents, type Finding, isBlocked } from "../../domain/guardrail-event.ts";
import { newId } from "../../domain/ids.ts";
import { interruption } from "../../domain/interruption.ts";
import type { AssistantPart, ModelRequest, ModelUsage, RequestAdjustment } from "../../domain/model-call.ts";
import { requestForModel } from "../../domain/prompt.ts";
import { withPromptCaching } from "../../domain/prompt-caching.ts";
import { requestCalls } from "../../domain/request-calls.ts";
import { processRestarted, type Restart, restartStep } from "../../domain/restart.ts";
import type { ModelAnswer, ModelSpend, RunError, RunEvent, RunUsage } from "../../domain/run-event.ts";
import { isInterrupted } from "../../domain/steering.ts";
import { endStep } from "../../domain/step-events.ts";
import { textOf } from "../../domain/text-of.ts";
import { addModelCall } from "../../domain/usage.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { onAbort } from "../../lib/on-abort.ts";
import { compileGuardrails } from "../guardrails/compile.ts";
import { type AnswerObserver, type ModelError, unknownUsage } from "../models/model.ts";
import { type Attempt, callWithRetry } from "./call-with-retry.ts";
import { type Callee, runModels } from "./callee.ts";
import { createAlarm, idleTimeout, silence } from "./collect-text.ts";
import { askJudges, judgesOn } from "./judge.ts";
import { loadMedia } from "./load-media.ts";
import { DeltaBatch } from "./message-channel.ts";
import { createOutputGuard, type OutputGuard } from "./output-guard.ts";
import { currentStep, type RunContext } from "./run-context.ts";
import { screenCalls } from "./screen-calls.ts";
import { spendingOf, withFindings } from "./spending.ts";
import { Transcript } from "./transcript.ts";

// Limits answer length and number of calls: a model may never stop.
const answerMax = 1_048_576;
const callsMax = 1000;
// Metadata is journaled and sent back with each later prompt of the run.
const keptMax = 4 * 1_048_576;
const eventsAtOnce = 64;
// Text that readers do not see is reported to the main thread per this many characters, so that cancelled runs are
// charged.
const unreportedMax = 256;

/** A model's response, as far as it has arrived. */
interface ModelResponse {
  transcript: Transcript;
  guard: OutputGuard;
  batch: DeltaBatch;
  error: ModelError | null;
  finish: ModelAnswer["finish"];
  usage: ModelUsage;
  /** True if this loop aborted the call after the provider had begun to answer. */
  aborted: boolean;
  /** True if a message of the user ended it. */
  interrupted: boolean;
  adjustments: readonly RequestAdjustment[];
  time_to_first_token_ms: number | null;
}

/** Runs one step: asks the model, retries transient errors, and records the answer together with its tool calls. */
export async function callModel(context: RunContext): Promise<void> {
  const { start, state, ports } = context;
  const begun = performance.now();
  let anchor = await begin(context);
  if (isInterrupted(state())) return void (await context.record(endOf(context, begun, interruption, null)));
  const interrupted = ports.interruption?.(openModelStep(context).step_index) ?? null;
  const ended = await callWithRetry<ModelResponse>(context, {
    ...runModels(context),
    interruption: interrupted,
    request: () => withPromptCaching(requestForModel(state(), start.agent), start.agent, state().run),
    async send(sent, callee) {
      failpoint?.("before_effect.model_call");
      const whole = await loadMedia(sent, callee.takes, ports.ask);
      const response = await ports.inPlace(
        () => receive(whole, callee, { anchor, interrupted }, context, begun),
        callee.connection,
      );
      failpoint?.("after_effect.model_call");
      return response;
    },
    async again(failed, { code, message }, next) {
      const attempt = failed && { spent: spent(failed), said: textOf(failed.response.transcript.parts) };
      anchor = await restart(context, { code, message }, { ...next, ...attempt });
      if (next.model !== undefined) failpoint?.("after_failover.model_call");
    },
  });
  // The budget refused the call, or no model can be called: the run fails with that error.
  if ("refused" in ended) return void (await context.record(endOf(context, begun, ended.refused, null)));
  const { response } = ended;
  if (response.interrupted && !response.guard.blocked()) return interrupt(context, ended, begun);
  if (!ended.error) return finish(context, ended, begun);
  await context.record(endOf(context, begun, ended.error, answerOf(ended)));
}

/** Returns the event that ends the step, with its error (or null) and its answer. */
function endOf(
  turn: RunContext,
  begun: number,
  error: Pick<RunError, "code" | "message" | "retryable"> | typeof interruption | null,
  answer: ModelAnswer | null,
): RunEvent {
  const latency_ms = Math.round(performance.now() - begun);
  const { step_index } = openModelStep(turn);
  return endStep({
    step_index,
    step_type: "model_call",
    status: error === interruption ? "cancelled" : error ? "failed" : "completed",
    latency_ms,
    answer,
    error: error && { code: error.code, message: error.message, retryable: error.retryable },
  });
}

/** Returns the anchor of the open step; restarts the step if the process died during it. */
async function begin(turn: RunContext): Promise<number> {
  const { anchor, run_attempt } = openModelStep(turn);
  if (run_attempt === turn.state().attempt) return anchor;
  return restart(turn, processRestarted("the model was answering"));
}

async function restart(
  turn: RunContext,
  reason: { code: string; message: string },
  attempt?: Restart,
): Promise<number> {
  await turn.record(restartStep(openModelStep(turn), reason, attempt));
  return openModelStep(turn).anchor;
}

const openModelStep = (turn: RunContext) => currentStep(turn, "model_call");

/** Receives a response, and sends its deltas to the readers while they arrive. */
async function receive(
  request: ModelRequest,
  callee: Callee,
  { anchor, interrupted }: { anchor: number; interrupted: AbortSignal | null },
  turn: RunContext,
  begun: number,
): Promise<ModelResponse> {
  const { signal } = turn;
  const response = openResponse(anchor, turn, begun);
  if (interrupted?.aborted) return { ...response, interrupted: true };
  const { transcript, guard, batch } = response;
  let isAnswered = false;
  const cancel = new AbortController();
  const stop = (reason: string) => {
    const cut = { retryable: false, retry_after_ms: null, aborted: false, request: "sent" } as const;
    response.error = { code: "model_error", message: reason, ...cut };
    response.aborted = isAnswered;
    cancel.abort();
  };
  const silence_ms = idleTimeout(callee);
  const alarm = createAlarm(silence_ms, () => {
    stop("");
    response.error = silence(silence_ms);
  });
  const forget = onAbort([signal], () => cancel.abort());
  const forgetInterruption = onAbort(interrupted ? [interrupted] : [], () => {
    Object.assign(response, { interrupted: true, aborted: isAnswered });
    cancel.abort();
  });
  const sentAt = performance.now();
  const rest = createYielder();
  const report = createReporter(response);
  let [events, shown] = [0, 0];
  const observer: AnswerObserver = {
    onByte() {
      isAnswered = true;
      callee.begins();
      alarm.refresh();
    },
    onAdjustments(adjustments) {
      response.adjustments = adjustments;
    },
    onArguments(length) {
      transcript.arriving += length;
      report(shown);
      if (generatedBy(response) > answerMax) stop(tooLong);
    },
  };
  try {
    for await (const event of callee.model.stream(request, cancel.signal, observer)) {
      // Without this pause a fast answer would be read completely before its first delta is sent.
      if (++events % eventsAtOnce === 0) await rest();
      if (cancel.signal.aborted) break;
      if (event.type === "delta" && event.text === "") transcript.opened(event);
      else if (event.type === "delta") {
        response.time_to_first_token_ms ??= Math.round(performance.now() - sentAt);
        transcript.opened(event);
        for (const piece of guard.push(event)) {
          shown += piece.text.length;
          batch.push(piece);
        }
        report(shown);
        if (guard.blocked()) cancel.abort();
      } else if (event.type === "tool_call") transcript.toolCall(event);
      else if (event.type === "metadata") transcript.metadata(event.part, event.metadata);
      else if (event.type === "done") Object.assign(response, { finish: event.finish, usage: event.usage });
      else if (event.type === "error") Object.assign(response, { error: event.error, usage: event.usage });
      if (generatedBy(response) > answerMax) stop(tooLong);
      else if (transcript.kept > keptMax)
        stop(`The results of the provider's tools are longer than ${keptMax} characters.`);
      else if (transcript.calls() > callsMax) stop(`The model asked for more than ${callsMax} tool calls at once.`);
      alarm.refresh();
    }
  } finally {
    forget();
    forgetInterruption();
    alarm.end();
    batch.flush();
  }
  return response;
}

function openResponse(anchor: number, turn: RunContext, begun: number): ModelResponse {
  const { start, ports } = turn;
  const transcript = new Transcript();
  const { step_index } = openModelStep(turn);
  const { guardrails = [], output_schema } = start.agent;
  return {
    transcript,
    guard: createOutputGuard(compileGuardrails(guardrails), { isJson: output_schema !== null }),
    batch: new DeltaBatch({
      outlet: ports.outlet,
      run_id: start.run_id,
      anchor,
      step_index,
      begun,
      onDelta: (delta) => transcript.delta(delta),
    }),
    error: null,
    finish: null,
    usage: unknownUsage,
    aborted: false,
    interrupted: false,
    adjustments: [],
    time_to_first_token_ms: null,
  };
}

const tooLong = `The model's answer is longer than ${answerMax} characters.`;

/** Number of UTF-16 code units that the model has produced, shown or not: text and tool calls. */
const generatedBy = ({ guard, transcript }: Pick<ModelResponse, "guard" | "transcript">): number =>
  guard.length() + Math.max(transcript.asked, transcript.arriving);

/** Reports the length of output that readers do not see: arguments, and text that a guardrail holds back. */
function createReporter(response: ModelResponse): (shown: number) => void {
  let reported = 0;
  return (shown) => {
    const length = generatedBy(response);
    const unreported = length - Math.max(reported, shown);
    if (unreported < (reported === 0 ? 1 : unreportedMax)) return;
    reported = length;
    response.batch.report(length);
  };
}

/** Shows withheld text after the judges have approved it. Returns the findings of guardrails and judges. */
async function release(turn: RunContext, response: ModelResponse, used: RunUsage): Promise<Finding[]> {
  const { guard, transcript, batch } = response;
  const { rest, findings } = await guard.end(transcript.calls() === 0);
  const text = guard.shown();
  const isJudged = !guard.blocked() && text !== "";
  const verdicts = isJudged ? await askJudges(judgesOn(turn, "output"), "output", text, turn, used) : [];
  if (!verdicts.some(isBlocked)) for (const piece of rest) batch.push(piece);
  batch.flush();
  return [...findings, ...verdicts];
}

async function finish(turn: RunContext, attempt: Attempt<ModelResponse>, begun: number): Promise<void> {
  const { response } = attempt;
  const used = addModelCall(turn.state().usage, spent(attempt));
  const findings = await release(turn, response, used);
  const blocked = findings.find(isBlocked);
  if (blocked) return block(turn, attempt, findings, blocked, begun);
  const { turn_index } = openModelStep(turn);
  const whole = answerOf(attempt);
  const screened = await screenCalls(whole.parts, turn, withFindings(used, findings));
  const answer = { ...whole, parts: screened.parts };
  const allFindings = [...findings, ...screened.findings];
  const first = turn.takeSteps(allFindings.length);
  // One append: after a crash between the answer and its calls, the answer would look final.
  await turn.record(
    endOf(turn, begun, null, answer),
    ...decidedEvents(allFindings, first, turn_index),
    ...requestCalls(answer.parts, turn.state(), turn.start.agent, {
      first: first + allFindings.length,
      words: screened.words,
      finish: answer.finish,
    }),
  );
}

/** Ends an answer that a message of the user interrupted: what readers have of it is kept, and no call is made. */
async function interrupt(turn: RunContext, attempt: Attempt<ModelResponse>, begun: number): Promise<void> {
  const { guard, batch } = attempt.response;
  const { turn_index } = openModelStep(turn);
  const findings = (await guard.end(false)).findings.filter((finding) => !isBlocked(finding));
  batch.flush();
  await turn.record(
    endOf(turn, begun, interruption, { ...answerOf(attempt), interrupted: true }),
    ...decidedEvents(findings, turn.takeSteps(findings.length), turn_index),
  );
}

/** Ends an answer that a guardrail blocked: text already shown is kept, no call is made, the run fails. */
async function block(
  turn: RunContext,
  attempt: Attempt<ModelResponse>,
  findings: readonly Finding[],
  { message }: Finding,
  begun: number,
): Promise<void> {
  const { turn_index } = openModelStep(turn);
  const answer = answerOf(attempt);
  const parts = answer.parts.flatMap((part) => (part.type === "tool_call" ? [] : [{ ...part, metadata: undefined }]));
  const shown = { ...answer, parts: parts.some(({ text }) => text !== "") ? parts : [] };
  await turn.record(
    endOf(turn, begun, { code: "guardrail_blocked", message, retryable: false }, shown),
    ...decidedEvents(findings, turn.takeSteps(findings.length), turn_index),
  );
}

function answerOf(attempt: Attempt<ModelResponse>): ModelAnswer {
  const { response } = attempt;
  const { transcript, guard, finish, time_to_first_token_ms, adjustments } = response;
  for (const part of guard.changed()) transcript.disown(part);
  // A call that the stream cut short is incomplete: it is neither run nor shown to the model again.
  const isCut = response.error !== null || response.interrupted;
  return {
    ...spent(attempt),
    message_id: newId("message"),
    ...(isCut ? withoutCalls(transcript) : { parts: transcript.parts, deltas: transcript.deltas }),
    finish,
    time_to_first_token_ms,
    ...(adjustments.length > 0 && { adjustments: [...adjustments] }),
  };
}

/** Returns the texts of an answer, and their deltas with the new numbers of their parts. */
function withoutCalls({ parts, deltas }: Pick<Transcript, "parts" | "deltas">): Pick<ModelAnswer, "parts" | "deltas"> {
  const texts: AssistantPart[] = parts.filter((part) => part.type !== "tool_call");
  if (texts.length === parts.length) return { parts, deltas };
  const places = parts.map((part) => texts.indexOf(part));
  return { parts: texts, deltas: deltas.map((value, index) => (index % 3 === 0 ? (places[value] ?? value) : value)) };
}

function spent({ response, sent, callee }: Attempt<ModelResponse>): ModelSpend {
  const { usage, error, aborted, interrupted } = response;
  const spoken = { usage, failed: error !== null || interrupted, said: generatedBy(response), aborted };
  return { ...spendingOf(spoken, sent, callee.price, callee.at), ...callee.counted };
}
