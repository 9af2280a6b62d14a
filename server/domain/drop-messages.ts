import { hashJson } from "../lib/hash.ts";
import type { AgentSnapshot } from "./agent-snapshot.ts";
import type { ContextPlan } from "./context.ts";
import type { ContextCompacted, ModelSpend, RunEvent } from "./run-event.ts";
import type { RunState } from "./run-state.ts";
import { endStep, startStep } from "./step-events.ts";
import { summaryRequest } from "./summary.ts";

export type CompactionPlan = Exclude<ContextPlan, { do: "fail" }>;

/** Starts a compaction; completes it too if no summary is needed. */
export function dropMessages(cut: CompactionPlan, state: RunState, agent: AgentSnapshot): RunEvent[] {
  const started = startStep({
    step_index: state.steps,
    step_type: "compaction",
    turn_index: state.turns,
    name: cut.do,
    input_hash: cut.do === "compact" ? hashJson(summaryRequest(state, agent, cut)) : null,
  });
  if (cut.do === "compact") return [started];
  // Shorter tool results replace no messages, so the summary of those that are left out stays.
  const summary = cut.tool_output_max_bytes === undefined ? null : (state.compacted?.summary ?? null);
  return [started, ...compactedEvents(cut, { step_index: state.steps, summary, latency_ms: 0, spent: null })];
}

/** Returns a compaction and the end of its step. Both events are always appended together. */
export function compactedEvents(
  { left_out, tokens_before, tokens_after, tool_output_max_bytes }: CompactionPlan,
  result: Pick<ContextCompacted, "step_index" | "summary" | "latency_ms"> & { spent: ModelSpend | null },
): RunEvent[] {
  const { step_index, latency_ms } = result;
  const isShorter = tool_output_max_bytes !== undefined;
  const strategy = result.summary === null || isShorter ? "truncate" : "compact";
  const sizes = { tokens_before, tokens_after, ...(isShorter && { tool_output_max_bytes }) };
  return [
    { type: "context.compacted", strategy, left_out, ...sizes, ...result },
    endStep({ step_index, step_type: "compaction", status: "completed", latency_ms }),
  ];
}
