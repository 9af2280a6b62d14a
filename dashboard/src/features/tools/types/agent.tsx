import { useQuery } from "@tanstack/react-query";
import { agentApi } from "../../../entities/agent/agent-api.ts";
import type { Fields } from "../../../hooks/use-form.ts";
import { useWorkspace } from "../../../lib/workspace.ts";
import { FormSection } from "../../../ui/forms/form-section.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import type { CommonDraft, ToolPart } from "./tool-part.ts";

export interface AgentDraft {
  agent_id: string;
}

export const part: ToolPart<AgentDraft> = {
  hint: "Calls another agent as a run of its own.",
  target: ({ agent_id }) => agent_id ?? "",
  draftOf: (tool) => ({ agent_id: tool?.agent_id ?? "" }),
  read: (_, { required }) => ({ agent_id: required("agent_id", "Choose the agent to call.") }),
  Fields: AgentFields,
  words: { agent_id: "agent to call" },
  always: ["agent_id"],
  hasParameters: () => false,
  testUnavailable: {
    title: "An agent works in a run",
    about: "Try that agent, or one that has this tool, in the playground.",
  },
};

function AgentFields({ draft, fieldErrors, pick }: Fields<CommonDraft & AgentDraft>) {
  const at = useWorkspace();
  const agents = useQuery(agentApi.every(at)).data ?? [];
  const isKnown = draft.agent_id === "" || agents.some(({ id }) => id === draft.agent_id);
  return (
    <FormSection title="Agent" about="Starts a separate run, within the remaining budget of the parent run.">
      <Select
        label="Agent to call"
        choices={[
          { value: "", label: "Choose an agent" },
          ...(isKnown ? [] : [{ value: draft.agent_id, label: draft.agent_id }]),
          ...agents.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        aria-invalid={fieldErrors.agent_id ? true : undefined}
        hint={fieldErrors.agent_id ?? undefined}
        {...pick("agent_id")}
      />
    </FormSection>
  );
}
