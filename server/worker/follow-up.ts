import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { failedEvents } from "../core/conclude.ts";
import { decide, runError } from "../core/decide.ts";
import { requiredAction } from "../core/frames.ts";
import { newId } from "../core/ids.ts";
import { modelRequest } from "../core/prompt.ts";
import type { RunEvent } from "../core/run-event.ts";
import { apply, type RunState, type ToolCall } from "../core/run-state.ts";
import { hashJson } from "../lib/hash.ts";
import { validateAgainst } from "../lib/json-schema.ts";

/**
 * What comes next without any work: the start of a model call, a pause, or the end. It is appended together with what
 * it follows from, since every append of its own is a commit that somebody waits for.
 */
export function followUp(state: RunState, agent: AgentSnapshot, now: number): RunEvent[] {
  const command = decide(state);
  switch (command.do) {
    case "call_model":
      return state.open.some((step) => step.step_type === "model_call") ? [] : [startOfCall(state, agent)];
    case "pause":
      return [pause(state, command.calls, now)];
    case "complete":
      return [complete(state, agent, command.output)];
    case "fail":
      return failedEvents(state, command.error, now);
    default:
      return [];
  }
}

/** These events and what follows from them. `state` may lag behind what others append: it only waits longer then. */
export function withFollowUp(
  state: RunState,
  events: readonly RunEvent[],
  agent: AgentSnapshot,
  now: number,
): RunEvent[] {
  const after = events.reduce((next, event) => apply(next, { seq: next.seq + 1, at: now, event }), state);
  return [...events, ...followUp(after, agent, now)];
}

const startOfCall = (state: RunState, agent: AgentSnapshot): RunEvent => ({
  type: "step.started",
  step_id: newId("step"),
  step_index: state.steps,
  step_type: "model_call",
  turn_index: state.turns,
  name: state.run!.model,
  attempt: 1,
  tool_call_id: null,
  input_hash: hashJson(modelRequest(state, agent)),
});

const pause = (state: RunState, calls: ToolCall[], now: number): RunEvent => ({
  type: "run.requires_action",
  required_action: requiredAction(calls, now + state.run!.action_timeout_ms),
});

function complete(state: RunState, { output_schema }: AgentSnapshot, output: string | null): RunEvent {
  const { usage } = state;
  if (!output_schema) return { type: "run.completed", output, output_json: null, usage };
  const checked = checkOutput(output ?? "", output_schema);
  if (checked.ok) return { type: "run.completed", output, output_json: checked.value, usage };
  const message = `The output does not fit the agent's output_schema: ${checked.fault}`;
  return { type: "run.failed", error: runError("output_schema_mismatch", message, state), output, usage };
}

function checkOutput(
  text: string,
  schema: Record<string, unknown>,
): { ok: true; value: unknown } | { ok: false; fault: string } {
  try {
    const value: unknown = JSON.parse(text);
    const [fault] = validateAgainst(schema, value);
    return fault ? { ok: false, fault: `${fault.path || "the value"} ${fault.message}` } : { ok: true, value };
  } catch {
    return { ok: false, fault: "it is not JSON." };
  }
}
