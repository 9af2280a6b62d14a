import { requireValue } from "../lib/require-value.ts";
import type { AgentSnapshot } from "./agent-snapshot.ts";
import { byteLength } from "./byte-length.ts";
import { messageSize, promptRoom, promptSize } from "./context-size.ts";
import { defaultFailover } from "./failover.ts";
import { activeAgent } from "./handoff.ts";
import type { PromptMessage } from "./model-call.ts";
import { conversationToCut, countEarlierMessages, modelRequest } from "./prompt.ts";
import { runError } from "./run-error.ts";
import type { RunError } from "./run-event.ts";
import { activeModels, currentWindow, type RunModel } from "./run-models.ts";
import type { RunState } from "./run-state.ts";
import { type SummaryBounds, sizeOfSummary, summarySpace } from "./summary.ts";

/** Plan for a prompt that is too long for its model. `left_out` and the estimates go into the event. */
export type ContextPlan =
  | { do: "fail"; error: RunError }
  | ({ do: "compact" | "truncate"; tokens_after: number; tool_output_max_bytes?: number } & SummaryBounds);

const summaryMost = 2048;
const summaryLeast = 64;
// Tool results of a refused prompt are shortened to a quarter, and not below this.
const outputLeast_bytes = 2048;

/** True if the newest model call was refused because its prompt is too long. */
export const isTooLong = ({ model_error }: Pick<RunState, "model_error">): boolean =>
  model_error?.code === "context_length_exceeded";

/**
 * Returns the compaction needed before the next model call, or null. Depends on the state and the agent only, so that
 * recovery decides the same. Only agents with a memory policy have their prompts cut.
 */
export function planContext(state: RunState, pinned: AgentSnapshot): ContextPlan | null {
  const agent = activeAgent(state, pinned);
  const policy = agent.memory?.context;
  const window = currentWindow(state);
  const refused = isTooLong(state);
  if (!policy || (window === null && !refused)) return null;
  const before = promptSize(modelRequest(state, agent));
  const room = window === null ? Number.POSITIVE_INFINITY : promptRoom(window, agent);
  if (before <= room && !refused) return null;
  const tooLong = (): ContextPlan => ({
    do: "fail",
    error: state.model_error ?? overflow(before, requireValue(window, "The context window"), state),
  });
  if (policy.strategy === "fail") return tooLong();
  // The same cut again would be refused again: only shorter tool results can help.
  if (refused && state.compacted?.after_refusal) return shorterOutputs(state, agent) ?? tooLong();
  // A prompt that was refused although it seemed to fit has more tokens than estimated: aim at half of it.
  const targetTokens = refused ? Math.min(room, Math.floor(before / 2)) : room;
  const most = refused ? Math.min(room, before - 1) : room;
  // Cut more than needed, so that the next turn does not have to cut again.
  const wanted = Math.floor(targetTokens * (policy.strategy === "compact" ? 1 / 2 : 3 / 4));
  const summary_max = Math.max(summaryLeast, Math.min(summaryMost, Math.floor(targetTokens / 8)));
  const cut = cutFor(state, agent, { before, most, wanted, summary_max });
  if (!cut) return (refused && shorterOutputs(state, agent)) || tooLong();
  return { do: policy.strategy, ...cut, tokens_before: before, summary_max };
}

/** Returns another model of the run whose window has room for the prompt, unless the model has refused the prompt. */
export function widerModel(state: RunState, agent: AgentSnapshot): RunModel | null {
  const window = currentWindow(state);
  const others = activeModels(state.run, state.handoffs).filter(({ model }) => model !== state.model);
  const { failover_on = defaultFailover } = agent;
  if (others.length === 0 || window === null || isTooLong(state) || !failover_on.includes("overflow")) return null;
  const size = promptSize(modelRequest(state, agent));
  const hasRoom = (its: number | null) => its !== null && its > window && size <= promptRoom(its, agent);
  return others.find(({ context_window }) => hasRoom(context_window)) ?? null;
}

/**
 * Returns a plan that shortens the tool results of a refused prompt: the newest turn, which always stays, may alone be
 * too long. Null if they are short already.
 */
function shorterOutputs(state: RunState, agent: AgentSnapshot): ContextPlan | null {
  const request = modelRequest(state, agent);
  const outputs = request.messages.map((message) => (message.role === "tool" ? byteLength(message.output) : 0));
  const longest = Math.max(0, ...outputs);
  if (longest <= outputLeast_bytes) return null;
  const tool_output_max_bytes = Math.max(outputLeast_bytes, Math.floor(longest / 4));
  const { summary = null, left_out = 0 } = state.compacted ?? {};
  const compacted = { summary, left_out, tool_output_max_bytes, after_refusal: true };
  const tokens_before = promptSize(request);
  const tokens_after = promptSize(modelRequest({ ...state, compacted }, agent));
  return { do: "truncate", left_out, tokens_before, tokens_after, summary_max: 0, tool_output_max_bytes };
}

interface Aim {
  before: number;
  most: number;
  wanted: number;
  summary_max: number;
}

/** Returns the first cut that reaches the wanted size; else the last one, if its rest fits. */
function cutFor(
  state: RunState,
  agent: AgentSnapshot,
  { before, most, wanted, summary_max }: Aim,
): { left_out: number; tokens_after: number } | null {
  const already = state.compacted?.left_out ?? 0;
  const isCompact = agent.memory?.context.strategy === "compact";
  const [sent, rest] = [modelRequest(state, agent).messages, conversationToCut(state).slice(already)];
  const sizes = sizesOf(rest, sent);
  const added = isCompact ? summarySpace(summary_max) - sizeOfSummary(state.compacted?.summary ?? null) : 0;
  let after = before + added;
  let last: { left_out: number; tokens_after: number } | null = null;
  const cuts = new Set(cutsOf(state));
  for (const [index, size] of sizes.entries()) {
    after -= size;
    const left_out = already + index + 1;
    if (!cuts.has(left_out)) continue;
    last = { left_out, tokens_after: after };
    if (after <= wanted) return last;
  }
  return last && last.tokens_after <= most ? last : null;
}

/** Returns the size of each message; tool results count as sent, possibly shortened. */
function sizesOf(rest: readonly PromptMessage[], sent: readonly PromptMessage[]): number[] {
  const outputs = new Map(sent.flatMap((message) => (message.role === "tool" ? [[message.call_id, message]] : [])));
  return rest.map((message) => messageSize((message.role === "tool" && outputs.get(message.call_id)) || message));
}

/**
 * Possible numbers of messages to leave out, ascending. The remaining history begins with a user message, no result
 * loses its call, and the newest turn stays whole.
 */
export function cutsOf(state: RunState): number[] {
  const all = conversationToCut(state);
  const length = countEarlierMessages(state);
  const newest = all.findLastIndex(({ role }, index) => role === "assistant" && index >= length);
  const end = newest === -1 ? length : newest;
  return Array.from({ length: end }, (_, index) => index + 1).filter((count) =>
    count < length ? all[count]?.role === "user" : all[count]?.role !== "tool",
  );
}

const overflow = (before: number, window: number, state: RunState): RunError =>
  runError(
    "context_length_exceeded",
    `The prompt has about ${before} tokens as counted here, which is more than the model's ${window} leave room for.`,
    state,
  );
