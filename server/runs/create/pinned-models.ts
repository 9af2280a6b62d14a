import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { ModelPrice } from "../../domain/price.ts";
import type { RunCreated } from "../../domain/run-event.ts";
import type { Environment } from "../../domain/scope.ts";

/** Models as runs pin them at their start. */
export interface ModelFacts {
  /** Returns the current price of a model, by full name; null if unknown. */
  priceOf(model: string): ModelPrice | null;
  /** Returns the context window of a model in tokens, by full name; null if unknown. */
  windowOf(model: string): number | null;
  /** Returns the further models of an agent, of its own or of its connection; absent: its own. */
  fallbacksOf?(agent: Pick<AgentSnapshot, "model" | "models">, environment: Environment): string[];
}

const ownFallbacks = ({ models = [] }: Pick<AgentSnapshot, "models">): string[] => models.slice(1);

/** Returns the price and window of each of the agent's models, for the event that creates a run. */
export function pinnedModels(
  agent: Pick<AgentSnapshot, "model" | "models" | "team">,
  environment: Environment,
  { priceOf, windowOf, fallbacksOf = ownFallbacks }: ModelFacts,
): Pick<RunCreated, "price" | "context_window" | "fallbacks" | "team"> {
  const factsOf = (model: string) => ({ price: priceOf(model), context_window: windowOf(model) });
  const pinned = (model: string) => ({ model, ...factsOf(model) });
  const fallbacks = fallbacksOf(agent, environment).map(pinned);
  const team = (agent.team ?? []).map((each) => ({
    agent_id: each.id,
    models: [each.model, ...fallbacksOf(each, environment)].map(pinned),
  }));
  return {
    ...factsOf(agent.model),
    ...(fallbacks.length > 0 && { fallbacks }),
    ...(team.length > 0 && { team }),
  };
}
