import { decidedEvents, type Finding, isBlocked } from "../../domain/guardrail-event.ts";
import { newId } from "../../domain/ids.ts";
import type { ModelRequest, ModelUsage } from "../../domain/model-call.ts";
import { modelRequest } from "../../domain/prompt.ts";
import { requestCalls } from "../../domain/request-calls.ts";
import { processRestarted, restartStep } from "../../domain/restart.ts";
import type { ModelAnswer, ModelSpend, RunError, RunEvent, RunUsage } from "../../domain/run-event.ts";
import { openStep } from "../../domain/run-state.ts";
import { endStep } from "../../domain/step-events.ts";
import { textOf } from "../../domain/text-of.ts";
import { addModelCall } from "../../domain/usage.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { onAbort } from "../../lib/on-abort.ts";
import { compileGuardrails } from "../guardrails/compile.ts";
import { type AnswerObserver, type ModelError, unknownUsage } from "../models/model.ts";
import { runPrice } from "../models/run-price.ts";
import { callWithRetry, createAlarm, idleTimeout, silence } from "./call-with-retry.ts";
import { coalesceDeltas } from "./coalesce-deltas.ts";
import { fetchImages } from "./fetch-images.ts";
import { askJudges, judgesOn } from "./judge.ts";
import { createOutputGuard, type OutputGuard, type Piece } from "./output-guard.ts";
import type { RunContext } from "./run-context.ts";
import { screenCalls } from "./screen-calls.ts";
import { spendingOf, withFindings } from "./spending.ts";
import { Transcript } from "./transcript.ts";

// Limits answer length and number of calls: a model may never stop.
const answerMax = 1_048_576;
const callsMax = 1000;
const eventsAtOnce = 64;
// Text that readers do not see is reported to the main thread per this many characters, so that cancelled runs are
// charged.
const untoldMax = 256;

interface Heard {
  transcript: Transcript;
  screen: OutputGuard;
  error: ModelError | null;
  finish: ModelAnswer["finish"];
  usage: ModelUsage;
  /** True if this loop aborted the call after the provider had begun to answer. */
  aborted: boolean;
  time_to_first_token_ms: number | null;
}

/** Runs one step: asks the model, retries transient errors, and records the answer together with its tool calls. */
export async function callModel(turn: RunContext): Promise<void> {
  const { start, ports } = turn;
  const request = modelRequest(turn.state(), start.agent);
  const begun = performance.now();
  let anchor = await begin(turn);
  const ended = await callWithRetry(turn, request, {
    async send(asked) {
      failpoint?.("before_effect.model_call");
      const whole = await fetchImages(asked, ports.ask);
      const heard = await ports.inPlace(() => listen(whole, anchor, turn, begun));
      failpoint?.("after_effect.model_call");
      return heard;
    },
    async again(heard, asked, { code, message }, delay_ms) {
      const said = textOf(heard.transcript.parts);
      anchor = await restart(turn, { code, message }, { delay_ms, spent: spent(turn, heard, asked), said });
    },
  });
  // The budget refused the call: the run fails with that error.
  if ("refused" in ended) return void (await turn.record(endOf(turn, begun, ended.refused, null)));
  const { heard, asked } = ended;
  if (!heard.error) return finish(turn, heard, asked, anchor, begun);
  await turn.record(endOf(turn, begun, heard.error, answerOf(turn, heard, asked)));
}

/** Returns the event that ends the step, with its error (or null) and its answer. */
function endOf(
  turn: RunContext,
  begun: number,
  error: Pick<RunError, "code" | "message" | "retryable"> | null,
  answer: ModelAnswer | null,
): RunEvent {
  const latency_ms = Math.round(performance.now() - begun);
  const { step_index } = openModelStep(turn);
  const { code, message, retryable } = error ?? {};
  return endStep({
    step_index,
    step_type: "model_call",
    status: error ? "failed" : "completed",
    latency_ms,
    answer,
    error: error && { code: code!, message: message!, retryable: retryable! },
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
  attempt?: { delay_ms: number; spent: ModelSpend; said: string },
): Promise<number> {
  const [entry] = await turn.record(restartStep(openModelStep(turn), reason, attempt));
  return entry!.seq;
}

const openModelStep = (turn: RunContext) => openStep(turn.state(), "model_call")!;

async function listen(request: ModelRequest, anchor: number, turn: RunContext, begun: number): Promise<Heard> {
  const { ports, signal, start } = turn;
  const transcript = new Transcript();
  const screen = createOutputGuard(compileGuardrails(start.agent.guardrails ?? []), {
    isJson: start.agent.output_schema !== null,
  });
  const heard: Heard = {
    transcript,
    screen,
    error: null,
    finish: null,
    usage: unknownUsage,
    aborted: false,
    time_to_first_token_ms: null,
  };
  let isAnswered = false;
  const giveUp = new AbortController();
  const stop = (reason: string) => {
    const cut = { retryable: false, retry_after_ms: null, aborted: false, request: "sent" } as const;
    heard.error = { code: "model_error", message: reason, ...cut };
    heard.aborted = isAnswered;
    giveUp.abort();
  };
  const silence_ms = idleTimeout(start);
  const alarm = createAlarm(silence_ms, () => {
    stop("");
    heard.error = silence(silence_ms);
  });
  const forget = onAbort([signal], () => giveUp.abort());
  const asked = performance.now();
  const rest = createYielder();
  const voice = coalesceDeltas((piece) => show([piece], heard, anchor, turn, begun));
  const tell = createTeller(heard, anchor, turn);
  let [events, passed] = [0, 0];
  const observer: AnswerObserver = {
    onByte() {
      isAnswered = true;
      alarm.refresh();
    },
    onArguments(length) {
      transcript.arriving += length;
      tell(passed);
      if (saidIn(heard) > answerMax) stop(tooLong);
    },
  };
  try {
    for await (const event of ports.model.stream(request, giveUp.signal, observer)) {
      // Without this pause a fast answer would be read completely before its first delta is sent.
      if (++events % eventsAtOnce === 0) await rest();
      if (giveUp.signal.aborted) break;
      if (event.type === "delta" && event.text === "") transcript.opened(event);
      else if (event.type === "delta") {
        heard.time_to_first_token_ms ??= Math.round(performance.now() - asked);
        transcript.opened(event);
        for (const piece of screen.push(event)) {
          passed += piece.text.length;
          voice.push(piece);
        }
        tell(passed);
        if (screen.blocked()) giveUp.abort();
      } else if (event.type === "tool_call") transcript.toolCall(event);
      else if (event.type === "metadata") transcript.metadata(event.part, event.metadata);
      else if (event.type === "done") Object.assign(heard, { finish: event.finish, usage: event.usage });
      else if (event.type === "error") Object.assign(heard, { error: event.error, usage: event.usage });
      if (saidIn(heard) > answerMax) stop(tooLong);
      else if (transcript.calls() > callsMax) stop(`The model asked for more than ${callsMax} tool calls at once.`);
      alarm.refresh();
    }
  } finally {
    forget();
    alarm.end();
    voice.flush();
  }
  return heard;
}

const tooLong = `The model's answer is longer than ${answerMax} characters.`;

/** Number of UTF-16 code units that the model has produced, shown or not: text and tool calls. */
const saidIn = ({ screen, transcript }: Pick<Heard, "screen" | "transcript">): number =>
  screen.said() + Math.max(transcript.asked, transcript.arriving);

/** Reports the length of output that readers do not see: arguments, and text that a guardrail holds back. */
function createTeller(heard: Heard, anchor: number, { ports }: RunContext): (passed: number) => void {
  let told = 0;
  return (passed) => {
    const said = saidIn(heard);
    const untold = said - Math.max(told, passed);
    if (untold < (told === 0 ? 1 : untoldMax)) return;
    told = said;
    ports.said?.(anchor, said);
  };
}

/** Sends pieces to the readers and adds them to the transcript for the journal. */
function show(pieces: readonly Piece[], { transcript }: Heard, anchor: number, turn: RunContext, begun: number): void {
  const { step_index } = openModelStep(turn);
  const ms = Math.round(performance.now() - begun);
  for (const { part, kind, text } of pieces) {
    transcript.delta({ part, kind, text }, ms);
    turn.ports.delta({ anchor, step_index, part, kind, text, ms });
  }
}

/** Shows withheld text after the judges have approved it. Returns the findings of guardrails and judges. */
async function release(
  turn: RunContext,
  heard: Heard,
  anchor: number,
  begun: number,
  used: RunUsage,
): Promise<Finding[]> {
  const { screen, transcript } = heard;
  const { rest, findings } = await screen.end(transcript.calls() === 0);
  const text = screen.shown();
  const isJudged = !screen.blocked() && text !== "";
  const verdicts = isJudged ? await askJudges(judgesOn(turn, "output"), "output", text, turn, used) : [];
  if (!verdicts.some(isBlocked)) show(rest, heard, anchor, turn, begun);
  return [...findings, ...verdicts];
}

async function finish(
  turn: RunContext,
  heard: Heard,
  request: ModelRequest,
  anchor: number,
  begun: number,
): Promise<void> {
  const used = addModelCall(turn.state().usage, spent(turn, heard, request));
  const findings = await release(turn, heard, anchor, begun, used);
  const blocked = findings.find(isBlocked);
  if (blocked) return block(turn, heard, request, findings, blocked, begun);
  const { turn_index } = openModelStep(turn);
  const whole = answerOf(turn, heard, request);
  const screened = await screenCalls(whole.parts, turn, withFindings(used, findings));
  const answer = { ...whole, parts: screened.parts };
  const noted = [...findings, ...screened.findings];
  const first = turn.takeSteps(noted.length);
  // One append: after a crash between the answer and its calls, the answer would look final.
  await turn.record(
    endOf(turn, begun, null, answer),
    ...decidedEvents(noted, first, turn_index),
    ...requestCalls(answer.parts, turn.state(), turn.start.agent, {
      first: first + noted.length,
      words: screened.words,
      finish: answer.finish,
    }),
  );
}

/** Ends an answer that a guardrail blocked: text already shown is kept, no call is made, the run fails. */
async function block(
  turn: RunContext,
  heard: Heard,
  request: ModelRequest,
  findings: readonly Finding[],
  { message }: Finding,
  begun: number,
): Promise<void> {
  const { turn_index } = openModelStep(turn);
  const answer = answerOf(turn, heard, request);
  const said = answer.parts.flatMap((part) => (part.type === "tool_call" ? [] : [{ ...part, metadata: undefined }]));
  const shown = { ...answer, parts: said.some(({ text }) => text !== "") ? said : [] };
  await turn.record(
    endOf(turn, begun, { code: "guardrail_blocked", message, retryable: false }, shown),
    ...decidedEvents(findings, turn.takeSteps(findings.length), turn_index),
  );
}

function answerOf(turn: RunContext, heard: Heard, request: ModelRequest): ModelAnswer {
  const { transcript, screen, finish, time_to_first_token_ms } = heard;
  for (const part of screen.changed()) transcript.disown(part);
  // A call that the stream cut short is incomplete: it is neither run nor shown to the model again.
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

function spent({ state }: RunContext, heard: Heard, request: ModelRequest): ModelSpend {
  const { usage, error, aborted } = heard;
  const spoken = { usage, failed: error !== null, said: saidIn(heard), aborted };
  return spendingOf(spoken, request, runPrice(state().run));
}
