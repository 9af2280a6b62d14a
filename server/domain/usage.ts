import type { ModelUsage } from "./model-call.ts";
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
  const { input_tokens, output_tokens, ...parts } = addTokens(sum, usage);
  return {
    input_tokens,
    output_tokens,
    total_tokens: add(input_tokens, output_tokens),
    ...parts,
    model_calls: sum.model_calls + 1,
    tool_calls: sum.tool_calls,
    cost_usd: add(sum.cost_usd, cost_usd),
    estimated: sum.estimated || estimated,
    ...((sum.cost_estimated || cost_estimated) && { cost_estimated: true }),
  };
}

/** Returns the token counts of a run's usage. */
export const tokensOf = (usage: RunUsage): ModelUsage => addTokens(noTokens, usage);

const noTokens: ModelUsage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };

const addTokens = (sum: ModelUsage, more: ModelUsage): ModelUsage => ({
  input_tokens: add(sum.input_tokens, more.input_tokens),
  output_tokens: add(sum.output_tokens, more.output_tokens),
  cached_input_tokens: add(sum.cached_input_tokens, more.cached_input_tokens),
  reasoning_tokens: add(sum.reasoning_tokens, more.reasoning_tokens),
  ...addWrites(sum, more),
});

const writeCounts = ["cache_write_5m_tokens", "cache_write_1h_tokens"] as const;

/** Adds the counts of cache writes. They stay absent if both lack them, so that older records keep their shape. */
function addWrites(a: ModelUsage, b: ModelUsage): Pick<ModelUsage, (typeof writeCounts)[number]> {
  const sum: Pick<ModelUsage, (typeof writeCounts)[number]> = {};
  for (const name of writeCounts)
    if (a[name] !== undefined || b[name] !== undefined) sum[name] = add(writesOf(a, name), writesOf(b, name));
  return sum;
}

/** A provider without this count wrote nothing; of a call without any counts nothing is known. */
const writesOf = (usage: ModelUsage, name: (typeof writeCounts)[number]): number | null =>
  usage[name] === undefined ? usage.input_tokens && 0 : usage[name];

/** Adds the result of a call: a refused call is not counted, and a child run's usage is added. */
export function addToolResult(sum: RunUsage, { refused, usage }: Pick<ToolCompleted, "refused" | "usage">): RunUsage {
  const counted = refused ? { ...sum, tool_calls: sum.tool_calls - 1 } : sum;
  return usage ? addChildRun(counted, usage) : counted;
}

/** Adds a child run's usage to its parent's. */
export function addChildRun(sum: RunUsage, child: RunUsage): RunUsage {
  const { input_tokens, output_tokens, ...parts } = addTokens(sum, child);
  return {
    input_tokens,
    output_tokens,
    total_tokens: add(sum.total_tokens, child.total_tokens),
    ...parts,
    model_calls: sum.model_calls + child.model_calls,
    tool_calls: sum.tool_calls + child.tool_calls,
    cost_usd: add(sum.cost_usd, child.cost_usd),
    estimated: sum.estimated || child.estimated,
    ...((sum.cost_estimated || child.cost_estimated) && { cost_estimated: true }),
  };
}
