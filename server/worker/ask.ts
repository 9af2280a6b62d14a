import type { RunError, RunUsage } from "../core/run-event.ts";
import { type Model, type ModelError, type ModelRequest, unknownUsage } from "../models/port.ts";
import { allowCall, withinAllowance } from "./allow-call.ts";
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
}

/** Asks a model, and asks again while what goes wrong may pass; or says why it may not be asked. */
export async function ask<Heard extends { error: ModelError | null }>(
  turn: Turn,
  request: ModelRequest,
  { send, again, used }: Way<Heard>,
): Promise<Asked<Heard> | { refused: RunError }> {
  const patience = createPatience();
  for (;;) {
    const allowed = await allowCall(turn, request, used?.());
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

/** Hears an answer to its end, or as far as its time goes and so much was said. */
export async function hear(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
  { max_ms, saidMax = Number.POSITIVE_INFINITY }: { max_ms: number; saidMax?: number },
): Promise<Text> {
  const heard: Text = { answer: "", error: null, usage: unknownUsage, failed: false, said: 0 };
  const either = AbortSignal.any([signal, AbortSignal.timeout(max_ms)]);
  for await (const event of model.stream(request, either)) {
    if (event.type === "delta") heard.said += event.text.length;
    if (event.type === "delta" && event.kind === "output") heard.answer += event.text;
    else if (event.type === "done") heard.usage = event.usage;
    else if (event.type === "error") Object.assign(heard, { usage: event.usage, error: event.error, failed: true });
    if (heard.said > saidMax) break;
  }
  return heard;
}
