import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";

/** Failed runs with the same error code. */
export interface FailureGroup {
  code: string;
  count: number;
  agentIds: string[];
  /** The newest run of the group. */
  latest: Run;
}

/** Groups failed runs by error code, the most frequent first. */
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

/** Returns advice for an error code, or undefined if only the message helps. */
export const adviceFor = (code: string): string | undefined => advice[code];

const advice: Record<string, string> = {
  model_error: "Check the model call in the trace. Use the connection's test button to check the provider.",
  model_incomplete: "The provider ends its responses early. Reduce the connection's concurrent calls under Settings.",
  model_rate_limited: "Ask the provider for a higher limit, or reduce the runs in progress under Settings, Limits.",
  model_not_available: "Connect the model's provider under Settings, Model connections, or choose another model.",
  context_length_exceeded: "Turn on compaction for the agent, or reduce its max messages.",
  tool_error: "Open the trace at the failed tool call to see its arguments and the error.",
  tool_outcome_unknown: "Check whether the call took effect, then resolve it in the trace.",
  guardrail_blocked: "The trace shows the guardrail and what it found.",
  budget_exceeded: "Raise the budget of the agent or the daily budget.",
  max_turns_exceeded: "The agent repeated itself. Check its last model calls, or raise max model calls.",
  run_timeout: "Check the trace for slow steps, or raise the agent's time limit.",
  action_expired: "Nobody responded in time. Approvals lists what is waiting now.",
  output_schema_mismatch:
    "The output did not match the agent's schema. Describe the format in the instructions, or relax the schema.",
  crash_loop: "The server crashed three times at the same step. Its log says why.",
  internal_error: "An error in runnel itself. The server's log shows it with the request id.",
};
