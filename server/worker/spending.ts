import { costOf } from "../core/cost.ts";
import type { Finding } from "../core/guardrail-event.ts";
import type { ModelRequest, ModelUsage } from "../core/model-call.ts";
import type { ModelPrice } from "../core/price.ts";
import type { ModelSpend, RunUsage } from "../core/run-event.ts";
import { addModelCall, tokensIn } from "../core/usage.ts";
import { unknownUsage } from "../models/port.ts";

/** How a model call went, as far as its cost goes; `said` counts the UTF-16 code units that came. */
export interface Spoken {
  usage: ModelUsage;
  failed: boolean;
  said: number;
  /** Whether we ended the call after the provider had begun to answer: it has read the prompt. */
  aborted?: boolean;
}

/**
 * What a model call cost. Where the provider does not say (it broke off, or the server does not count streams), what was
 * streamed is counted and marked as an estimate; a call that failed before it said anything cost nothing.
 */
export function spendingOf(
  { usage, failed, said, aborted = false }: Spoken,
  request: ModelRequest,
  price: ModelPrice | null,
): ModelSpend {
  const { input_tokens, output_tokens } = usage;
  if (input_tokens !== null && output_tokens !== null)
    return { usage, cost_usd: costOf(price, usage), estimated: false };
  if (output_tokens === null && failed && said === 0 && !aborted)
    return { usage: nothing, cost_usd: 0, estimated: false };
  const guess = estimatedUsage(request, said);
  const counted = {
    ...usage,
    input_tokens: input_tokens ?? guess.input_tokens,
    output_tokens: output_tokens ?? guess.output_tokens,
  };
  return { usage: counted, cost_usd: costOf(price, counted), estimated: true };
}

/** What a run has used, with what judges took that is not on record yet. */
export const withFindings = (used: RunUsage, findings: readonly Finding[]): RunUsage =>
  findings.reduce((sum, { spent }) => (spent ? addModelCall(sum, spent) : sum), used);

const nothing: ModelUsage = { input_tokens: 0, output_tokens: 0, cached_input_tokens: 0, reasoning_tokens: 0 };

/** What a call took, as far as that can be told from its request and from how much was said. */
export function estimatedUsage({ messages, tools, settings }: ModelRequest, said: number): ModelUsage {
  // Message by message: all of them as one text would be as much memory again.
  const asked = messages.reduce(
    (sum, message) => sum + JSON.stringify(message).length + 1,
    1 + JSON.stringify(tools).length,
  );
  return {
    ...unknownUsage,
    input_tokens: tokensIn(asked),
    // The provider ends an answer there: more of it is a wrong guess.
    output_tokens: Math.min(tokensIn(said), settings.max_output_tokens ?? Number.POSITIVE_INFINITY),
  };
}
