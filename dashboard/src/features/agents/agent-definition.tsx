import type { Agent } from "../../../../server/resources/agents/schema.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { assignAgentErrors, changesOf, draftOf, fieldWords, readDraft } from "../../entities/agent/agent-draft.ts";
import type { DefinitionField, Draft } from "../../entities/agent/agent-fields.ts";
import { DefinitionForm, type DefinitionKind } from "../../entities/crud/definition-form.tsx";
import { ApiError, get } from "../../lib/api.ts";
import { AgentForm } from "./agent-form.tsx";

/** Each save creates a version. The API refuses it if another version was saved since `version` was read. */
const kind: DefinitionKind<Agent, Draft> = {
  noun: "Agent",
  api: agentApi,
  draftOf,
  changesOf,
  assignErrors: assignAgentErrors,
  faultsOf: (draft) => readDraft(draft).faults,
  save: (at, { id, version }, changedFields) =>
    agentApi.change(at, id, { ...changedFields, expected_version: version }),
  newerOf: async (at, error, id) =>
    error instanceof ApiError && error.code === "version_conflict" ? await get<Agent>(agentApi.url(at, id)) : null,
  isNewer: (agent, base) => agent.version > base.version,
  fieldLabels: (changes) => fieldWords(Object.keys(changes) as DefinitionField[]),
  request: ({ id, instructions, version }, changes) => ({
    path: `/v1/agents/${id}`,
    body: { ...(Object.keys(changes).length > 0 ? changes : { instructions }), expected_version: version },
  }),
  messages: {
    act: ({ version }) => `Save as version ${version + 1}`,
    saved: ({ name, version }) => `${name} is at version ${version}`,
    state: (changedLabels, isFaulty) =>
      `Changed: ${changedLabels.join(", ") || "nothing"}${isFaulty ? ". Some fields are invalid." : ""}`,
    conflict: (newer, base) => ({
      title: `Someone saved version ${newer.version} meanwhile; you started from version ${base.version}`,
      mineAct: `Save mine as version ${newer.version + 1}`,
      theirsAct: `Take version ${newer.version}`,
    }),
  },
};

/** The form that shows and edits an agent's definition. */
export function AgentDefinition({ agent }: { agent: Agent }) {
  return (
    <DefinitionForm kind={kind} thing={agent}>
      {(fields) => <AgentForm {...fields} />}
    </DefinitionForm>
  );
}
