import { remainingBudget, tightestBudget } from "./budget.ts";
import type { Budget } from "./budget-schema.ts";
import { stepTypeOf } from "./complete-call.ts";
import { nanoUsd, usdOf } from "./cost.ts";
import { pendingCalls, type RunState } from "./run-state.ts";

/**
 * Returns the budget of a child run: at most its own agent's, and at most its share of its parent's rest. Open agent
 * calls get equal shares, so that together they cannot exceed the rest.
 */
export function childBudget(parent: RunState, own: Budget | null | undefined, wall_ms: number): Budget | null {
  const left = remainingBudget(parent.run.budget ?? null, { usage: parent.usage, wall_ms });
  const sharers = pendingCalls(parent).filter(({ type }) => stepTypeOf(type) === "subagent").length;
  return tightestBudget(own, left && share(left, Math.max(1, sharers)));
}

/** Time is not divided, because children run concurrently. */
function share({ max_cost_usd, max_total_tokens, max_tool_calls, max_wall_ms }: Budget, sharers: number): Budget {
  return {
    ...(max_cost_usd !== undefined && { max_cost_usd: usdOf(Math.floor(nanoUsd(max_cost_usd) / sharers)) }),
    ...(max_total_tokens !== undefined && { max_total_tokens: Math.floor(max_total_tokens / sharers) }),
    ...(max_tool_calls !== undefined && { max_tool_calls: Math.floor(max_tool_calls / sharers) }),
    ...(max_wall_ms !== undefined && { max_wall_ms }),
  };
}
