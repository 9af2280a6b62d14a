import { remaining, tightest } from "./budget.ts";
import type { Budget } from "./budget-schema.ts";
import { nanoUsd, usdOf } from "./cost.ts";
import { pendingCalls, type RunState } from "./run-state.ts";
import { stepTypeOf } from "./settle.ts";

/**
 * What a child run may spend: no more than its own agent's budget, and no more than its share of what is left of its
 * parent's. The calls of agents that are still open share alike, so that together they cannot spend more than there is.
 */
export function childBudget(parent: RunState, own: Budget | null | undefined, wall_ms: number): Budget | null {
  const left = remaining(parent.run!.budget ?? null, { usage: parent.usage, wall_ms });
  const sharers = pendingCalls(parent).filter(({ type }) => stepTypeOf(type) === "subagent").length;
  return tightest(own, left && share(left, Math.max(1, sharers)));
}

/** Time is not parted: they work side by side. */
function share({ max_cost_usd, max_total_tokens, max_tool_calls, max_wall_ms }: Budget, sharers: number): Budget {
  return {
    ...(max_cost_usd !== undefined && { max_cost_usd: usdOf(Math.floor(nanoUsd(max_cost_usd) / sharers)) }),
    ...(max_total_tokens !== undefined && { max_total_tokens: Math.floor(max_total_tokens / sharers) }),
    ...(max_tool_calls !== undefined && { max_tool_calls: Math.floor(max_tool_calls / sharers) }),
    ...(max_wall_ms !== undefined && { max_wall_ms }),
  };
}
