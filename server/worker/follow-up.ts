import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import { failedEvents } from "../core/conclude.ts";
import { isTooLong, planContext } from "../core/context.ts";
import { decide, runError } from "../core/decide.ts";
import { requiredAction } from "../core/frames.ts";
import { newId } from "../core/ids.ts";
import { modelRequest } from "../core/prompt.ts";
import type { RunError, RunEvent } from "../core/run-event.ts";
import { apply, type RunState, type ToolCall } from "../core/run-state.ts";
import { hashJson } from "../lib/hash.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import { leaveOut } from "./leave-out.ts";
import { openRetrieval, startOfRetrieval } from "./retrieve.ts";
import { unjudged } from "./unjudged.ts";

/**
 * What comes next without any work: the start of a model call, a pause, or the end. It is appended together with what
 * it follows from, since every append of its own is a commit that somebody waits for.
 */
export function followUp(state: RunState, agent: AgentSnapshot, now: number): RunEvent[] {
  const command = decide(state);
  switch (command.do) {
    case "call_model":
      if (state.turns === 0 && agent.unavailable?.[0]) return unavailable(state, agent.unavailable[0], now);
      if (unjudged(state, agent).length > 0) return []; // Nothing is asked of the model before its judges have said yes.
      return state.open.some((step) => step.step_type === "model_call") ? [] : nextCall(state, agent, now);
    case "prepare":
      if (agent.unavailable?.[0]) return unavailable(state, agent.unavailable[0], now);
      if (unjudged(state, agent).length > 0 || command.what !== "retrieval" || openRetrieval(state)) return [];
      return [startOfRetrieval(state, agent)];
    case "pause":
      return [pause(state, command.calls, now)];
    case "complete":
      return complete(state, agent, command.output, now);
    case "fail":
      return isTooLong(state) && command.error === state.model_error
        ? afterRefusal(state, agent, command.error, now)
        : failedEvents(state, command.error, now);
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

/** An agent that lacks a tool is not the agent that was meant. */
const unavailable = (state: RunState, { tool, message }: { tool: string; message: string }, now: number): RunEvent[] =>
  failedEvents(state, runError("tool_error", `The tool ${tool} cannot be used: ${message}`, state, true), now);

/** The start of a model call, or of what has to come before it so that its prompt fits; or the end, if it cannot. */
function nextCall(state: RunState, agent: AgentSnapshot, now: number): RunEvent[] {
  const plan = planContext(state, agent);
  if (!plan) return [startOfCall(state, agent)];
  if (plan.do === "fail") return failedEvents(state, plan.error, now);
  return withFollowUp(state, leaveOut(plan, state, agent), agent, now);
}

/** The model has found its prompt too long: it is asked again with a shorter one, if there is one. */
function afterRefusal(state: RunState, agent: AgentSnapshot, error: RunError, now: number): RunEvent[] {
  const plan = planContext(state, agent);
  if (!plan || plan.do === "fail") return failedEvents(state, error, now);
  return withFollowUp(state, leaveOut(plan, state, agent), agent, now);
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

/** The end, unless the output does not fit its schema: then the model gets one turn to mend it. */
function complete(state: RunState, agent: AgentSnapshot, output: string | null, now: number): RunEvent[] {
  const { usage } = state;
  const { output_schema } = agent;
  if (!output_schema) return [{ type: "run.completed", output, output_json: null, usage }];
  const checked = checkOutput(output ?? "", output_schema);
  if (checked.ok) return [{ type: "run.completed", output, output_json: checked.value, usage }];
  if (state.repairs === 0 && state.turns < state.run!.max_turns)
    return withFollowUp(state, [rejection(checked.fault)], agent, now);
  const message = `The output does not fit the agent's output_schema: ${checked.fault}`;
  return [{ type: "run.failed", error: runError("output_schema_mismatch", message, state), output, usage }];
}

const rejection = (fault: string): RunEvent => ({
  type: "output.rejected",
  message_id: newId("message"),
  content: `Your answer does not fit the required JSON schema: ${fault} Answer again with nothing but JSON that fits it.`,
});

function checkOutput(
  text: string,
  schema: Record<string, unknown>,
): { ok: true; value: unknown } | { ok: false; fault: string } {
  try {
    const value: unknown = JSON.parse(text);
    const [fault] = validateAgainst(schema, value);
    return fault ? { ok: false, fault: `${fault.path || "the value"} ${fault.message}.` } : { ok: true, value };
  } catch {
    return { ok: false, fault: "it is not JSON." };
  }
}
