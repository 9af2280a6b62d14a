import type { AnyRun as Run } from "../../../../server/wire/run.ts";

/** Runs that failed in the same way. */
export interface FailureGroup {
  code: string;
  count: number;
  agentIds: string[];
  /** The latest of them. */
  latest: Run;
}

/** Failed runs by their error's code: what happens most often first. */
export function failureGroups(runs: readonly Run[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const run of runs) {
    const code = run.error?.code ?? "unknown";
    const group = groups.get(code);
    if (!group) groups.set(code, { code, count: 1, agentIds: [run.agent_id], latest: run });
    else {
      group.count++;
      if (!group.agentIds.includes(run.agent_id)) group.agentIds.push(run.agent_id);
      if (run.id > group.latest.id) group.latest = run;
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.latest.id < b.latest.id ? 1 : -1));
}

/** What to do about a code; nothing where only the message helps. */
export const adviceFor = (code: string): string | undefined => advice[code];

const advice: Record<string, string> = {
  model_error: "Look at the model call in the trace; the connection's test button tells whether the provider answers.",
  model_incomplete: "The provider breaks its answers off. Let its connection make fewer calls at once under Settings.",
  model_rate_limited: "Ask the provider for more, or let fewer runs go at once under Settings, Limits.",
  model_not_available: "Connect the model's provider under Settings, Model connections, or choose another model.",
  context_length_exceeded: "Turn on compaction for the agent, or keep fewer messages in its history.",
  tool_error: "Open the trace at the failed tool call: it holds what was sent and what came back.",
  tool_outcome_unknown: "Look whether the tool's effect happened, and answer the call in the trace.",
  guardrail_blocked: "The trace shows which guardrail it was and what it found.",
  budget_exceeded: "Raise the budget of the agent or of the day, or give the agent less to do.",
  max_turns_exceeded: "The agent went in circles. Look at its last model calls, or allow it more of them.",
  run_timeout: "Look in the trace for what took the time, or allow the agent more.",
  action_expired: "Nobody answered in time. Approvals lists what waits now.",
  output_schema_mismatch:
    "The model did not keep to the agent's output schema. Say it in the instructions, or loosen it.",
  crash_loop: "The server died three times at the same step. Its log says why.",
  internal_error: "A fault of runnel's own. The server's log names it beside the request id.",
};
