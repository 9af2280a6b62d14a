import { failedEvents } from "../core/conclude.ts";
import { type Command, runError } from "../core/decide.ts";
import { requiredAction } from "../core/frames.ts";
import type { RunEvent } from "../core/run-event.ts";
import type { ToolCall } from "../core/run-state.ts";
import { validateAgainst } from "../lib/json-schema.ts";
import { callModel } from "./call-model.ts";
import { runTools } from "./run-tools.ts";
import type { Turn } from "./turn.ts";

/** Does what `decide` said, and records what came of it. */
export async function perform(command: Exclude<Command, { do: "stop" }>, turn: Turn): Promise<void> {
  switch (command.do) {
    case "call_model":
      return callModel(turn);
    case "run_tools":
      return runTools(command.calls, turn);
    case "pause":
      return void (await turn.record(pause(command.calls, turn)));
    case "complete":
      return void (await turn.record(complete(command.output, turn)));
    case "fail":
      return void (await turn.record(...failedEvents(turn.state(), command.error, turn.ports.now())));
  }
}

function pause(calls: ToolCall[], { state, ports }: Turn): RunEvent {
  const expiresAt = ports.now() + state().run!.action_timeout_ms;
  return { type: "run.requires_action", required_action: requiredAction(calls, expiresAt) };
}

function complete(output: string | null, { state, start }: Turn): RunEvent {
  const { usage } = state();
  const schema = start.agent.output_schema;
  if (!schema) return { type: "run.completed", output, output_json: null, usage };
  const checked = checkOutput(output ?? "", schema);
  if (checked.ok) return { type: "run.completed", output, output_json: checked.value, usage };
  const message = `The output does not fit the agent's output_schema: ${checked.fault}`;
  return { type: "run.failed", error: runError("output_schema_mismatch", message, state()), output, usage };
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
