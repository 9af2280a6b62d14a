import type { Partial } from "../core/conclude.ts";
import { costOf } from "../core/price.ts";
import type { RunState } from "../core/run-state.ts";
import { unknownUsage } from "../models/port.ts";
import { runPrice } from "../models/run-price.ts";
import { type Live, partialAnswer } from "./watch.ts";

/** What the model call that is cut short has said: it was streamed, so it is recorded, and counted as an estimate. */
export function partialOf(live: Live | null, state: RunState): Partial | null {
  // A retry or a recovery may have been recorded in this very tick: what is live still belongs to what it discards.
  const stands = state.open.some((step) => step.anchor === live?.anchor && step.run_attempt === state.attempt);
  if (!live || !stands) return null;
  const asked = JSON.stringify(state.messages).length;
  const usage = { ...unknownUsage, input_tokens: Math.ceil(asked / 4), output_tokens: Math.ceil(live.length / 4) };
  return { ...partialAnswer(live), usage, cost_usd: costOf(runPrice(state.run!), usage), estimated: true };
}
