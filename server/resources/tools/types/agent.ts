import type { AgentCall } from "../../../domain/agent-snapshot.ts";
import { noSuch } from "../../../domain/error-messages.ts";
import type { Fault } from "../../../domain/errors.ts";
import { fault } from "../../../http/errors.ts";
import { AgentReference, changeableChoice } from "../../../http/schemas.ts";
import * as t from "../../../lib/schema.ts";
import { textParameter } from "./fields.ts";
import { type Definition, type Known, requireSettings, type ToolInput, type ToolKind } from "./tool-kind.ts";

export const fields = {
  agent_id: t.about(
    "The agent that is called: its id, or its name, also as `name@label` or `name@version`.",
    AgentReference,
  ),
  ...changeableChoice,
};
export const response = {
  agent_id: t.text,
  version: t.about("The version that is called; null: the newest, or that of the label.", t.orNull(t.integer)),
  label: t.about("The label that chooses the version at each call; null: none.", t.orNull(t.text)),
};

/** Another agent, called in a child run. */
export const kind: ToolKind = {
  fields,
  response,
  faults: agentFaults,
  change: (input, before) => ({ agent: changedCall(input, before) }),
  show: ({ agent }) => ({ ...agent, version: agent?.version ?? null, label: agent?.label ?? null }),
  // Idempotent, because the child run is found by its call.
  snapshot: (base, { agent }) => ({
    ...base,
    type: "agent",
    idempotent: true,
    http: null,
    agent: requireSettings(agent),
  }),
  fixedParameters: () => textParameter("input", "What the agent is asked to do, with all that it must know."),
  untestable: "An agent tool can only be called within a run. Start a run of its agent instead.",
};

/** The agent and its version are one choice, so either replaces what belonged to the earlier one. */
function changedCall({ agent_id, version, label }: ToolInput, before: Definition | null): AgentCall {
  const isChanged = agent_id !== undefined || version !== undefined || label !== undefined;
  if (!isChanged) return requireSettings(before?.agent);
  return {
    agent_id: agent_id ?? requireSettings(before?.agent).agent_id,
    ...(version != null && { version }),
    ...(label != null && { label }),
  };
}

function agentFaults(input: ToolInput, before: Definition | null, { hasAgent }: Known): Fault[] {
  const faults: Fault[] = [];
  if (input.agent_id === undefined && !before)
    faults.push(fault("agent_id", "An agent tool needs an agent.", "required"));
  if (input.agent_id !== undefined && !hasAgent(input.agent_id)) faults.push(fault("agent_id", noSuch("agent")));
  if (input.parameters) faults.push(fault("parameters", "An agent tool has only the parameter input."));
  return faults;
}
