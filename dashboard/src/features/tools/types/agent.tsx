import { useQuery } from "@tanstack/react-query";
import { agentApi } from "../../../entities/agent/agent-api.ts";
import { readChoiceText, textOfChoice } from "../../../entities/agent/version-choice.ts";
import { VersionSelect } from "../../../entities/agent/version-select.tsx";
import type { Fields } from "../../../hooks/use-form.ts";
import { useWorkspace } from "../../../lib/workspace.ts";
import { FormSection } from "../../../ui/forms/form-section.tsx";
import { Select } from "../../../ui/forms/select.tsx";
import type { CommonDraft, ToolPart } from "./tool-part.ts";

export interface AgentDraft {
  agent_id: string;
  /** Version or label of the agent. */
  choice: string;
}

export const part: ToolPart<AgentDraft> = {
  hint: "Calls another agent as a run of its own.",
  target: ({ agent_id }) => agent_id ?? "",
  draftOf: (tool) => ({ agent_id: tool?.agent_id ?? "", choice: textOfChoice(tool ?? {}) }),
  read: ({ choice }, { required }) => ({
    agent_id: required("agent_id", "Choose the agent to call."),
    ...readChoiceText(choice),
  }),
  Fields: AgentFields,
  words: { agent_id: "agent to call", choice: "version" },
  always: ["agent_id"],
  together: ["agent_id", "version", "label"],
  hasParameters: () => false,
  testUnavailable: {
    title: "An agent works in a run",
    about: "Try that agent, or one that has this tool, in the playground.",
  },
};

function AgentFields({ draft, fieldErrors, set, pick }: Fields<CommonDraft & AgentDraft>) {
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
        value={draft.agent_id}
        onChoose={(agent_id) => set({ agent_id, choice: "" })}
      />
      {draft.agent_id !== "" && (
        <VersionSelect agentId={draft.agent_id} hint="A label is read at each call." {...pick("choice")} />
      )}
    </FormSection>
  );
}
