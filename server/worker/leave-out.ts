import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import type { ContextPlan } from "../core/context.ts";
import { newId } from "../core/ids.ts";
import type { ContextCompacted, ModelSpend, RunEvent } from "../core/run-event.ts";
import type { RunState } from "../core/run-state.ts";
import { summaryRequest } from "../core/summary.ts";
import { hashJson } from "../lib/hash.ts";

export type Cut = Exclude<ContextPlan, { do: "fail" }>;

/** The start of a compaction; where nobody is asked for a summary, all of it. */
export function leaveOut(cut: Cut, state: RunState, agent: AgentSnapshot): RunEvent[] {
  const started: RunEvent = {
    type: "step.started",
    step_id: newId("step"),
    step_index: state.steps,
    step_type: "compaction",
    turn_index: state.turns,
    name: cut.do,
    attempt: 1,
    tool_call_id: null,
    input_hash: cut.do === "compact" ? hashJson(summaryRequest(state, agent, cut)) : null,
  };
  if (cut.do === "compact") return [started];
  return [started, ...compactedEvents(cut, { step_index: state.steps, summary: null, latency_ms: 0, spent: null })];
}

/** What a compaction came to, and the end of its step: two events that always stand in one append. */
export function compactedEvents(
  { left_out, tokens_before, tokens_after }: Cut,
  made: Pick<ContextCompacted, "step_index" | "summary" | "latency_ms"> & { spent: ModelSpend | null },
): RunEvent[] {
  const { step_index, latency_ms } = made;
  const strategy = made.summary === null ? "truncate" : "compact";
  return [
    { type: "context.compacted", strategy, left_out, tokens_before, tokens_after, ...made },
    {
      ...{ type: "step.completed", step_index, step_type: "compaction", status: "completed", latency_ms },
      ...{ error: null, answer: null },
    },
  ];
}
