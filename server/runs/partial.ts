import type { Partial } from "../core/conclude.ts";
import { costOf } from "../core/cost.ts";
import { modelRequest } from "../core/prompt.ts";
import type { RunState } from "../core/run-state.ts";
import { tokensIn } from "../core/usage.ts";
import { unlessDamaged } from "../db/unless-damaged.ts";
import type { Journal } from "../journal/journal.ts";
import { unknownUsage } from "../models/port.ts";
import { runPrice } from "../models/run-price.ts";
import { estimatedUsage } from "../worker/spending.ts";
import { type Live, partialAnswer } from "./watch.ts";

/** What the model call that is cut short has said: it was streamed, so it is recorded, and counted as an estimate. */
export function partialOf(live: Live | null, state: RunState, journal: Pick<Journal, "snapshot">): Partial | null {
  // A retry or a recovery may have been recorded in this very tick: what is live still belongs to what it discards.
  const stands = state.open.some((step) => step.anchor === live?.anchor && step.run_attempt === state.attempt);
  if (!live || !stands) return null;
  const run = state.run!;
  const agent = unlessDamaged(() => journal.snapshot(run, run.agent_hash));
  const said = Math.max(live.length, live.said);
  const usage = agent
    ? estimatedUsage(modelRequest(state, agent), said)
    : { ...unknownUsage, input_tokens: tokensIn(JSON.stringify(state.messages).length), output_tokens: tokensIn(said) };
  return { ...partialAnswer(live), usage, cost_usd: costOf(runPrice(run), usage), estimated: true };
}
