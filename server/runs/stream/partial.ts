import { requestForModel } from "../../domain/prompt.ts";
import type { RunState } from "../../domain/run-state.ts";
import type { Partial } from "../../domain/terminal-events.ts";
import { tokensIn } from "../../domain/usage.ts";
import { estimatedUsage, pricedAt } from "../../runtime/agent-loop/spending.ts";
import { unknownUsage } from "../../runtime/models/model.ts";
import { runPrice } from "../../runtime/models/run-price.ts";
import { nullIfUnreadable } from "../../storage/db/null-if-unreadable.ts";
import type { Journal } from "../../storage/journal/journal.ts";
import { type Live, partialAnswer } from "./run-subscriptions.ts";

/**
 * Returns the partial answer of an interrupted model call, with estimated usage, because readers have already received
 * it.
 */
export function partialOf(live: Live | null, state: RunState, journal: Pick<Journal, "snapshot">): Partial | null {
  // A retry or recovery may have been recorded in this tick: the live deltas then belong to the discarded attempt.
  const isCurrent = state.open.some((step) => step.anchor === live?.anchor && step.run_attempt === state.attempt);
  if (!live || !isCurrent) return null;
  const run = state.run;
  const agent = nullIfUnreadable(() => journal.snapshot(run, run.agent_hash));
  const generated = Math.max(live.length, live.generatedLength);
  const usage = agent
    ? estimatedUsage(requestForModel(state, agent), generated)
    : {
        ...unknownUsage,
        input_tokens: tokensIn(JSON.stringify(state.messages).length),
        output_tokens: tokensIn(generated),
      };
  const model = state.model === run.model ? {} : { model: state.model };
  return { ...partialAnswer(live), usage, ...pricedAt(runPrice(state), usage), estimated: true, ...model };
}
