import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import { processRestarted, restartStep } from "../core/restart.ts";
import type { ToolError } from "../core/run-event.ts";
import type { OpenStep, ToolCall } from "../core/run-state.ts";
import { settleCall } from "../core/settle.ts";
import { failpoint } from "../lib/failpoint.ts";
import { Superseded, type Turn } from "./turn.ts";

/** What running a tool came to; `attempts` counts the requests that were made. */
export type ToolOutcome =
  | { output: unknown; error: null; attempts: number }
  | { output: null; error: ToolError; attempts: number };

/** Runs one call. Never throws but for an abort: what goes wrong is an error that the model reads. */
export type RunTool = (call: ToolCall, tool: ToolSnapshot, signal: AbortSignal) => Promise<ToolOutcome>;

/** Runs calls side by side. Their intent is in the journal already; each result is recorded as it comes. */
export async function runTools(calls: readonly ToolCall[], turn: Turn): Promise<void> {
  const ended = await Promise.allSettled(calls.map((call) => runCall(call, turn)));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
}

async function runCall(call: ToolCall, turn: Turn): Promise<void> {
  const step = turn.state().open.find((open) => open.tool_call_id === call.id)!;
  const tool = turn.start.agent.tools.find(({ id }) => id === call.tool_id)!;
  if (step.run_attempt < turn.state().attempt && !(await resume(call, step, tool, turn))) return;
  const begun = performance.now();
  failpoint?.("before_effect.tool_call");
  const outcome = await turn.ports.runTool(call, tool, turn.signal);
  failpoint?.("after_effect.tool_call");
  if (turn.signal.aborted) throw new Superseded();
  const status = outcome.error ? "failed" : "completed";
  // Each earlier start of the step was an attempt too, as far as anybody knows.
  const earlier = turn.state().open.find((open) => open.tool_call_id === call.id)!.attempt - 1;
  const attempts = earlier + outcome.attempts;
  await turn.record(
    ...settleCall(call, {
      ...outcome,
      attempts,
      status,
      latency_ms: Math.round(performance.now() - begun),
      submitted: false,
    }),
  );
}

/**
 * The process died after the intent was recorded, so the request may have arrived. What is safe to repeat is repeated
 * under the same key; of the rest nobody knows, and nothing is guessed. Answers whether to run the call now.
 */
async function resume(call: ToolCall, step: OpenStep, tool: ToolSnapshot, turn: Turn): Promise<boolean> {
  if (tool.idempotent || tool.on_unknown === "retry") {
    await turn.record(restartStep(step, processRestarted("the tool was running")));
    return true;
  }
  if (tool.on_unknown === "report") {
    const message = "The process ended while the tool was running. It may or may not have had its effect.";
    const error = { code: "outcome_unknown", message };
    const latency_ms = Math.max(0, turn.ports.now() - step.started_at);
    await turn.record(
      ...settleCall(call, {
        status: "unknown",
        output: null,
        error,
        attempts: call.attempts,
        latency_ms,
        submitted: false,
      }),
    );
    return false;
  }
  const { id, step_index, turn_index, tool_id, tool: name, type, arguments: args } = call;
  await turn.record({
    type: "tool.requested",
    call: { id, step_index, turn_index, tool_id, tool: name, type, arguments: args, needs: "reconcile" },
  });
  return false;
}
