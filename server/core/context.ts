import type { AgentSnapshot } from "./agent-snapshot.ts";
import { messageSize, promptRoom, promptSize } from "./context-size.ts";
import type { PromptMessage } from "./model-call.ts";
import { conversationToCut, modelRequest, saidBefore } from "./prompt.ts";
import { runError } from "./run-error.ts";
import type { RunError } from "./run-event.ts";
import type { RunState } from "./run-state.ts";
import { type Cut, sizeOfSummary, summarySpace } from "./summary.ts";

/** How a prompt that is too long for its model is made to fit. `left_out` and the estimates are those of the event. */
export type ContextPlan =
  | { do: "fail"; error: RunError }
  | ({ do: "compact" | "truncate"; tokens_after: number } & Cut);

const summaryMost = 2048;
const summaryLeast = 64;

/** Whether the newest model call was refused since its prompt is too long for the model. */
export const isTooLong = ({ model_error }: Pick<RunState, "model_error">): boolean =>
  model_error?.code === "context_length_exceeded";

/**
 * What is to be done before the next model call, so that its prompt fits; null for nothing. From the state and the
 * agent alone: whoever goes on with a run comes to the same. Only agents with a memory policy have their prompts cut.
 */
export function planContext(state: RunState, agent: AgentSnapshot): ContextPlan | null {
  const policy = agent.memory?.context;
  const window = state.run?.context_window ?? null;
  const refused = isTooLong(state);
  if (!policy || (window === null && !refused)) return null;
  const before = promptSize(modelRequest(state, agent));
  const room = window === null ? Number.POSITIVE_INFINITY : promptRoom(window, agent);
  if (before <= room && !refused) return null;
  const tooLong = (): ContextPlan => ({ do: "fail", error: state.model_error ?? overflow(before, window!, state) });
  // What was refused once more in the same turn would be refused for ever.
  if (policy.strategy === "fail" || (refused && state.compacted?.after_refusal)) return tooLong();
  // A prompt that was refused although it seemed to fit has more tokens than were counted: half of it is aimed at.
  const aim = refused ? Math.min(room, Math.floor(before / 2)) : room;
  const most = refused ? Math.min(room, before - 1) : room;
  // Some way below what fits: else the next turn would have to do the same.
  const wanted = Math.floor(aim * (policy.strategy === "compact" ? 1 / 2 : 3 / 4));
  const summary_max = Math.max(summaryLeast, Math.min(summaryMost, Math.floor(aim / 8)));
  const cut = cutFor(state, agent, { before, most, wanted, summary_max });
  if (!cut) return tooLong();
  return { do: policy.strategy, ...cut, tokens_before: before, summary_max };
}

interface Aim {
  before: number;
  most: number;
  wanted: number;
  summary_max: number;
}

/** The first place to cut at that leaves as little as is wanted; else the last, if what it leaves fits. */
function cutFor(
  state: RunState,
  agent: AgentSnapshot,
  { before, most, wanted, summary_max }: Aim,
): { left_out: number; tokens_after: number } | null {
  const already = state.compacted?.left_out ?? 0;
  const isCompact = agent.memory!.context.strategy === "compact";
  const [sent, rest] = [modelRequest(state, agent).messages, conversationToCut(state).slice(already)];
  // Their sizes as they are sent, with outputs that are shortened.
  const sizes = sizesOf(rest, sent);
  const added = isCompact ? summarySpace(summary_max) - sizeOfSummary(state.compacted?.summary ?? null) : 0;
  let after = before + added;
  let last: { left_out: number; tokens_after: number } | null = null;
  const cuts = new Set(cutsOf(state));
  for (let index = 0; index < rest.length; index++) {
    after -= sizes[index]!;
    const left_out = already + index + 1;
    if (!cuts.has(left_out)) continue;
    last = { left_out, tokens_after: after };
    if (after <= wanted) return last;
  }
  return last && last.tokens_after <= most ? last : null;
}

/** What is left of history stands before the documents, the rest at the end: both in their order. */
function sizesOf(rest: readonly PromptMessage[], sent: readonly PromptMessage[]): number[] {
  const outputs = new Map(sent.flatMap((message) => (message.role === "tool" ? [[message.call_id, message]] : [])));
  return rest.map((message) => messageSize((message.role === "tool" && outputs.get(message.call_id)) || message));
}

/**
 * How many messages may be left out, in ascending order. What stays of history begins with what a user said, no result
 * is without its call, and the newest turn stays whole.
 */
export function cutsOf(state: RunState): number[] {
  const all = conversationToCut(state);
  const length = saidBefore(state);
  const newest = all.findLastIndex(({ role }, index) => role === "assistant" && index >= length);
  const end = newest === -1 ? length : newest;
  return Array.from({ length: end }, (_, index) => index + 1).filter((count) =>
    count < length ? all[count]!.role === "user" : all[count]?.role !== "tool",
  );
}

const overflow = (before: number, window: number, state: RunState): RunError =>
  runError(
    "context_length_exceeded",
    `The prompt has about ${before} tokens as counted here, which is more than the model's ${window} leave room for.`,
    state,
  );
