import type { ModelSpend, RunUsage, ToolCompleted } from "./run-event.ts";

export const noUsage: RunUsage = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  model_calls: 0,
  tool_calls: 0,
  cost_usd: 0,
  estimated: false,
};

/** Usage of a run whose record is lost. */
export const unknownRunUsage: RunUsage = {
  ...noUsage,
  input_tokens: null,
  output_tokens: null,
  total_tokens: null,
  cached_input_tokens: null,
  reasoning_tokens: null,
  cost_usd: null,
};

/** Estimates tokens: about four characters each in the providers' tokenizers. */
export const tokensIn = (characters: number): number => Math.ceil(characters / 4);

/** One unknown summand makes the sum unknown, because a partial sum would look complete. */
const add = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);

export function addModelCall(sum: RunUsage, { usage, cost_usd, estimated, cost_estimated }: ModelSpend): RunUsage {
  const input_tokens = add(sum.input_tokens, usage.input_tokens);
  const output_tokens = add(sum.output_tokens, usage.output_tokens);
  return {
    input_tokens,
    output_tokens,
    total_tokens: add(input_tokens, output_tokens),
    cached_input_tokens: add(sum.cached_input_tokens, usage.cached_input_tokens),
    reasoning_tokens: add(sum.reasoning_tokens, usage.reasoning_tokens),
    model_calls: sum.model_calls + 1,
    tool_calls: sum.tool_calls,
    cost_usd: add(sum.cost_usd, cost_usd),
    estimated: sum.estimated || estimated,
    ...((sum.cost_estimated || cost_estimated) && { cost_estimated: true }),
  };
}

/** Adds the result of a call: a refused call is not counted, and a child run's usage is added. */
export function addToolResult(sum: RunUsage, { refused, usage }: Pick<ToolCompleted, "refused" | "usage">): RunUsage {
  const counted = refused ? { ...sum, tool_calls: sum.tool_calls - 1 } : sum;
  return usage ? addChildRun(counted, usage) : counted;
}

/** Adds a child run's usage to its parent's. */
export const addChildRun = (sum: RunUsage, child: RunUsage): RunUsage => ({
  input_tokens: add(sum.input_tokens, child.input_tokens),
  output_tokens: add(sum.output_tokens, child.output_tokens),
  total_tokens: add(sum.total_tokens, child.total_tokens),
  cached_input_tokens: add(sum.cached_input_tokens, child.cached_input_tokens),
  reasoning_tokens: add(sum.reasoning_tokens, child.reasoning_tokens),
  model_calls: sum.model_calls + child.model_calls,
  tool_calls: sum.tool_calls + child.tool_calls,
  cost_usd: add(sum.cost_usd, child.cost_usd),
  estimated: sum.estimated || child.estimated,
  ...((sum.cost_estimated || child.cost_estimated) && { cost_estimated: true }),
});
