import { decidedEvents, type Finding, isBlocked } from "../core/guardrail-event.ts";
import { newId } from "../core/ids.ts";
import type { ModelRequest, ModelUsage } from "../core/model-call.ts";
import { modelRequest } from "../core/prompt.ts";
import { requestCalls } from "../core/request-calls.ts";
import { processRestarted, restartStep } from "../core/restart.ts";
import type { ModelAnswer, ModelSpend, RunError, RunEvent, RunUsage } from "../core/run-event.ts";
import { openStep } from "../core/run-state.ts";
import { endStep } from "../core/step-events.ts";
import { textOf } from "../core/text-of.ts";
import { addModelCall } from "../core/usage.ts";
import { compileGuardrails } from "../guardrails/compile.ts";
import { failpoint } from "../lib/failpoint.ts";
import { inSlices } from "../lib/slices.ts";
import { untilAborted } from "../lib/until-aborted.ts";
import { type AnswerObserver, type ModelError, unknownUsage } from "../models/port.ts";
import { runPrice } from "../models/run-price.ts";
import { ask, createAlarm, idleTimeout, silence } from "./ask.ts";
import { fetchImages } from "./fetch-images.ts";
import { gathered } from "./gathered.ts";
import { askJudges, judgesOn } from "./judge.ts";
import { createScreen, type Piece, type Screen } from "./screen.ts";
import { screenCalls } from "./screen-calls.ts";
import { spendingOf, withFindings } from "./spending.ts";
import { Transcript } from "./transcript.ts";
import type { Turn } from "./turn.ts";

// A model that does not come to an end may not fill the memory, nor a tool with calls.
const answerMax = 1_048_576;
const callsMax = 1000;
const eventsAtOnce = 64;
// The main thread is told of what no reader hears after so many characters of it: it counts what a run costs that is cancelled.
const untoldMax = 256;

interface Heard {
  transcript: Transcript;
  screen: Screen;
  error: ModelError | null;
  finish: ModelAnswer["finish"];
  usage: ModelUsage;
  /** Whether the call was ended here, after the provider had begun to answer. */
  aborted: boolean;
  time_to_first_token_ms: number | null;
}

/** One step: asks the model, retries what may be retried, and records the answer together with the calls it asks for. */
export async function callModel(turn: Turn): Promise<void> {
  const { start, ports } = turn;
  const request = modelRequest(turn.state(), start.agent);
  const begun = performance.now();
  let anchor = await begin(turn);
  const ended = await ask(turn, request, {
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
  // Its model was not asked (again): the run fails of it.
  if ("refused" in ended) return void (await turn.record(endOf(turn, begun, ended.refused, null)));
  const { heard, asked } = ended;
  if (!heard.error) return finish(turn, heard, asked, anchor, begun);
  await turn.record(endOf(turn, begun, heard.error, answerOf(turn, heard, asked)));
}

/** The end of the step: an error, or none, with what was said. */
function endOf(
  turn: Turn,
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

/** The anchor of the step, which has been started; started again when the process died in the middle of it. */
async function begin(turn: Turn): Promise<number> {
  const { anchor, run_attempt } = openModelStep(turn);
  if (run_attempt === turn.state().attempt) return anchor;
  return restart(turn, processRestarted("the model was answering"));
}

async function restart(
  turn: Turn,
  reason: { code: string; message: string },
  attempt?: { delay_ms: number; spent: ModelSpend; said: string },
): Promise<number> {
  const [entry] = await turn.record(restartStep(openModelStep(turn), reason, attempt));
  return entry!.seq;
}

const openModelStep = (turn: Turn) => openStep(turn.state(), "model_call")!;

async function listen(request: ModelRequest, anchor: number, turn: Turn, begun: number): Promise<Heard> {
  const { ports, signal, start } = turn;
  const transcript = new Transcript();
  const screen = createScreen(compileGuardrails(start.agent.guardrails ?? []), {
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
  const forget = untilAborted([signal], () => giveUp.abort());
  const asked = performance.now();
  const rest = inSlices();
  const voice = gathered((piece) => show([piece], heard, anchor, turn, begun));
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
      // What comes without a pause would be in memory as a whole before the first of it crosses.
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

/** UTF-16 code units that the model has said, heard or not: its text, and what it asks of tools. */
const saidIn = ({ screen, transcript }: Pick<Heard, "screen" | "transcript">): number =>
  screen.said() + Math.max(transcript.asked, transcript.arriving);

/** Tells the main thread how much was said where readers do not hear it: arguments, and what a guardrail holds back. */
function createTeller(heard: Heard, anchor: number, { ports }: Turn): (passed: number) => void {
  let told = 0;
  return (passed) => {
    const said = saidIn(heard);
    const untold = said - Math.max(told, passed);
    if (untold < (told === 0 ? 1 : untoldMax)) return;
    told = said;
    ports.said?.(anchor, said);
  };
}

/** Lets readers hear what they may; the same is taken down for the journal. */
function show(pieces: readonly Piece[], { transcript }: Heard, anchor: number, turn: Turn, begun: number): void {
  const { step_index } = openModelStep(turn);
  const ms = Math.round(performance.now() - begun);
  for (const { part, kind, text } of pieces) {
    transcript.delta({ part, kind, text }, ms);
    turn.ports.delta({ anchor, step_index, part, kind, text, ms });
  }
}

/** What was held back until the end, unless a guardrail ends the answer: judges see it before anybody else does. */
async function release(turn: Turn, heard: Heard, anchor: number, begun: number, used: RunUsage): Promise<Finding[]> {
  const { screen, transcript } = heard;
  const { rest, findings } = await screen.end(transcript.calls() === 0);
  const text = screen.shown();
  const isJudged = !screen.blocked() && text !== "";
  const verdicts = isJudged ? await askJudges(judgesOn(turn, "output"), "output", text, turn, used) : [];
  if (!verdicts.some(isBlocked)) show(rest, heard, anchor, turn, begun);
  return [...findings, ...verdicts];
}

async function finish(turn: Turn, heard: Heard, request: ModelRequest, anchor: number, begun: number): Promise<void> {
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
  // One append: a crash between the answer and the calls that it asks for would look like a final answer.
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

/** The end of an answer that no guardrail lets through: what was heard of it stays, no call is made, the run fails. */
async function block(
  turn: Turn,
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

function answerOf(turn: Turn, heard: Heard, request: ModelRequest): ModelAnswer {
  const { transcript, screen, finish, time_to_first_token_ms } = heard;
  for (const part of screen.changed()) transcript.disown(part);
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

function spent({ state }: Turn, heard: Heard, request: ModelRequest): ModelSpend {
  const { usage, error, aborted } = heard;
  const spoken = { usage, failed: error !== null, said: saidIn(heard), aborted };
  return spendingOf(spoken, request, runPrice(state().run!));
}
