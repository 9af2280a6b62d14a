import { expect, test } from "bun:test";
import { childBudget } from "./child-budget.ts";
import { initialState, type RunState, type ToolCall } from "./run-state.ts";
import { noUsage } from "./usage.ts";

const call = (id: string, type: string, status: ToolCall["status"] = "running"): ToolCall =>
  ({ id, type, status, needs: null, child: null }) as ToolCall;

const parent = (budget: object | null, calls: ToolCall[], usage = noUsage): RunState =>
  ({ ...initialState, run: { budget }, calls, usage }) as RunState;

const whole = { max_cost_usd: 1, max_total_tokens: 1000, max_tool_calls: 11, max_wall_ms: 5000 };
const two = [call("a", "agent"), call("b", "agent"), call("c", "http"), call("d", "agent", "completed")];

test("active child runs share the rest of their parent's budget evenly, and all have the same time", () => {
  const usage = { ...noUsage, total_tokens: 101, cost_usd: 0.4, tool_calls: 2 };
  expect(childBudget(parent(whole, two, usage), null, 1000)).toEqual({
    max_cost_usd: 0.3,
    max_total_tokens: 449,
    max_tool_calls: 4,
    max_wall_ms: 4000,
  });
});

test("an agent's own budget holds where it is tighter, and alone where its parent has none", () => {
  const own = { max_total_tokens: 7, max_cost_usd: 3 };
  expect(childBudget(parent(whole, two), own, 0)).toEqual({
    ...whole,
    max_total_tokens: 7,
    max_cost_usd: 0.5,
    max_tool_calls: 5,
  });
  expect(childBudget(parent(null, two), own, 0)).toEqual(own);
  expect(childBudget(parent(null, two), null, 0)).toBeNull();
});

test("the rest of an exhausted or unknown budget is 0, and a child may then spend nothing", () => {
  const usage = { ...noUsage, total_tokens: null, cost_usd: 2 };
  const left = childBudget(parent({ max_cost_usd: 1, max_total_tokens: 1000 }, two, usage), null, 0);
  expect(left).toEqual({ max_cost_usd: 0, max_total_tokens: 0 });
});

test("together they never get more than there was, in whatever order they begin and end", () => {
  const budget = { max_total_tokens: 1000 };
  let seed = 1;
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let round = 0; round < 300; round++) {
    const waiting = Array.from({ length: 1 + Math.floor(random() * 6) }, (_, n) => call(String(n), "agent"));
    let calls = waiting;
    let used = 0;
    let held = 0;
    const given = new Map<string, number>();
    for (const { id } of waiting) {
      const state = parent(budget, calls, { ...noUsage, total_tokens: used });
      const share = childBudget(state, null, 0)!.max_total_tokens!;
      given.set(id, share);
      held += share;
      expect(used + held).toBeLessThanOrEqual(1000);
      for (const [other, most] of [...given])
        if (random() < 0.4) {
          given.delete(other);
          held -= most;
          used += Math.floor(random() * (most + 1));
          calls = calls.map((each) => (each.id === other ? call(other, "agent", "completed") : each));
        }
    }
  }
});
