import type { ModelPrice } from "../core/price.ts";
import type { RunError, RunUsage } from "../core/run-event.ts";
import { type Model, type ModelError, type ModelRequest, unknownUsage } from "../models/port.ts";
import { allowCall, withinAllowance } from "./allow-call.ts";
import type { RunStart } from "./messages.ts";
import { createPatience } from "./patience.ts";
import type { Spoken } from "./spending.ts";
import { Superseded, type Turn } from "./turn.ts";

/** What a model was asked, and what it said at last: its answer, or an error that does not pass. */
interface Asked<Heard> {
  heard: Heard;
  asked: ModelRequest;
}

interface Way<Heard> {
  send(request: ModelRequest): Promise<Heard>;
  /** Before it is asked again: notes what the attempt came to. */
  again(heard: Heard, request: ModelRequest, error: ModelError, delay_ms: number): Promise<unknown>;
  /** What the run has used so far, on record or not. */
  used?(): RunUsage;
  /** What the model costs, if it is not the run's. */
  price?: ModelPrice | null;
}

/** Asks a model, and asks again while what goes wrong may pass; or says why it may not be asked. */
export async function ask<Heard extends { error: ModelError | null }>(
  turn: Turn,
  request: ModelRequest,
  { send, again, used, price }: Way<Heard>,
): Promise<Asked<Heard> | { refused: RunError }> {
  const patience = createPatience();
  for (;;) {
    const allowed = await allowCall(turn, request, used?.(), price);
    if ("code" in allowed) return { refused: allowed };
    const asked = withinAllowance(request, allowed);
    const heard = await send(asked);
    if (turn.signal.aborted) throw new Superseded(); // Whoever aborted ends the step.
    const { error } = heard;
    const delay_ms = error && patience(error);
    if (delay_ms === null) return { heard, asked };
    await again(heard, asked, error!, delay_ms);
    await turn.ports.sleep(delay_ms, turn.signal);
  }
}

/** What was heard of an answer that nobody reads as it comes. */
export interface Text extends Spoken {
  answer: string;
  error: ModelError | null;
}

const idleTimeout_ms = 300_000;
// A model that does not come to an end may not fill the memory.
const longest = 1_048_576;

/** How long a run's provider may send nothing, not even a comment, before it is taken for dead. */
export const idleTimeout = ({ connection }: Pick<RunStart, "connection">): number =>
  connection.idle_timeout_ms ?? idleTimeout_ms;

/** Rings once nothing has come for so long, and not after its end. */
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

/** For a call that was ended because its provider sent nothing for so long. */
export const silence = (ms: number): ModelError => ({
  code: "model_error",
  message: `The model sent nothing for ${ms / 1000} seconds.`,
  retryable: true,
  retry_after_ms: null,
  aborted: false,
  request: "sent",
});

/**
 * Hears an answer to its end, or as far as its time goes and so much was said. `idle_ms`: how long its provider may send
 * nothing; `max_ms`: how long all of it may take.
 */
export async function hear(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  { idle_ms, max_ms, saidMax = longest }: { idle_ms: number; max_ms?: number; saidMax?: number },
): Promise<Text> {
  const heard: Text = { answer: "", error: null, usage: unknownUsage, failed: false, said: 0, aborted: false };
  const giveUp = new AbortController();
  let isAnswered = false;
  let fault: ModelError | null = null;
  const alarm = createAlarm(idle_ms, () => {
    fault = silence(idle_ms);
    heard.aborted = isAnswered;
    giveUp.abort();
  });
  const observer = {
    onByte() {
      isAnswered = true;
      alarm.refresh();
    },
    onArguments(length: number) {
      heard.said += length;
      if (heard.said > saidMax) giveUp.abort();
    },
  };
  const signals = [signal, giveUp.signal, ...(max_ms === undefined ? [] : [AbortSignal.timeout(max_ms)])];
  try {
    for await (const event of model.stream(request, AbortSignal.any(signals), observer)) {
      alarm.refresh();
      if (event.type === "delta") heard.said += event.text.length;
      if (event.type === "delta" && event.kind === "output") heard.answer += event.text;
      else if (event.type === "done") heard.usage = event.usage;
      else if (event.type === "error")
        Object.assign(heard, { usage: event.usage, error: fault ?? event.error, failed: true });
      if (heard.said > saidMax) break;
    }
  } finally {
    alarm.end();
  }
  return heard;
}
