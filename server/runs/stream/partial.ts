import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { activeAgent } from "../../domain/handoff.ts";
import { requestForModel } from "../../domain/prompt.ts";
import type { RunState } from "../../domain/run-state.ts";
import { requestedTier } from "../../domain/service-tier.ts";
import type { Partial } from "../../domain/terminal-events.ts";
import { tokensIn } from "../../domain/usage.ts";
import { type Asked, estimatedUsage, pricedAt } from "../../runtime/agent-loop/spending.ts";
import { unknownUsage } from "../../runtime/models/model.ts";
import { parseModel } from "../../runtime/models/registry.ts";
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
  const agent = nullIfUnreadable(() => activeAgent(state, journal.snapshot(run, run.agent_hash)));
  const generated = Math.max(live.length, live.generatedLength);
  const usage = agent
    ? estimatedUsage(requestForModel(state, agent), generated)
    : {
        ...unknownUsage,
        input_tokens: tokensIn(JSON.stringify(state.messages).length),
        output_tokens: tokensIn(generated),
      };
  const model = state.model === run.model ? {} : { model: state.model };
  const cost = pricedAt(runPrice(state), usage, askedOf(state.model, agent));
  return { ...partialAnswer(live), usage, ...cost, estimated: true, ...model };
}

/** The model that was answering, with the service tier that its agent asks for. */
function askedOf(name: string, agent: AgentSnapshot | null): Asked {
  const { provider = "", model = "" } = parseModel(name) ?? {};
  const tier = agent?.model === name ? requestedTier(agent.settings) : null;
  return { provider, model, ...(tier !== null && { tier }) };
}
