import type { Fault } from "../../core/errors.ts";
import { fault } from "../../http/errors.ts";
import { idOf } from "../../http/schemas.ts";
import type { Definition } from "../definition.ts";
import type { UpdateTool } from "../schema.ts";
import { textParameter, timeoutFaults } from "./fields.ts";
import type { Known, ToolKind } from "./tool-kind.ts";

export const agentFields = { agent_id: idOf("agent") };

/** Another agent, which works on what it is asked in a run of its own. */
export const agentKind: ToolKind = {
  fields: agentFields,
  faults: (input, before, known) => [...agentFaults(input, before, known), ...timeoutFaults(input)],
  change: ({ agent_id }, before) => ({ agent: { agent_id: agent_id ?? before!.agent!.agent_id } }),
  show: ({ agent }) => ({ ...agent }),
  // A child run is found again by its call.
  call: ({ agent }) => ({ idempotent: true, agent }),
  fixedParameters: () => textParameter("input", "What the agent is asked to do, with all that it must know."),
  untestable: "An agent tool works within a run only. Start a run of its agent instead.",
};

function agentFaults(input: UpdateTool, before: Definition | null, { hasAgent }: Known): Fault[] {
  const faults: Fault[] = [];
  if (input.agent_id === undefined && !before)
    faults.push(fault("agent_id", "An agent tool needs an agent.", "required"));
  if (input.agent_id !== undefined && !hasAgent(input.agent_id))
    faults.push(fault("agent_id", "There is no such agent."));
  if (input.parameters) faults.push(fault("parameters", "An agent is asked in words: its one parameter is input."));
  return faults;
}
