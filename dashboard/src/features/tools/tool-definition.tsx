import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { DefinitionForm, type DefinitionKind } from "../../entities/crud/definition-form.tsx";
import { changeTool, ToolChanged, toolApi } from "../../entities/tool/tool-api.ts";
import { blameTool, readToolDraft, toolChanges, toolDraftOf, toolWords } from "./tool-draft.ts";
import { ToolForm } from "./tool-form.tsx";
import { type ToolDraft, toolParts } from "./types/tool-parts.ts";

const kind: DefinitionKind<Tool, ToolDraft> = {
  noun: "Tool",
  api: toolApi,
  draftOf: toolDraftOf,
  changesOf: toolChanges,
  assignErrors: blameTool,
  faultsOf: (draft, { type }) => readToolDraft(type, draft).faults,
  save: changeTool,
  newerOf: async (_, error) => (error instanceof ToolChanged ? error.newer : null),
  isNewer: (tool, base) => tool.updated_at > base.updated_at,
  fieldLabels: (changes) => toolWords(Object.keys(changes)),
  request: ({ id, description }, changes) => ({
    path: `/v1/tools/${id}`,
    body: Object.keys(changes).length > 0 ? changes : { description },
  }),
  messages: {
    act: () => "Save tool",
    saved: ({ name }) => name,
    state: (_, isFaulty) =>
      isFaulty
        ? "Some fields are invalid."
        : "New runs use what you save. Runs in progress keep the version they started with.",
    conflict: ({ name }) => ({
      title: `Someone saved ${name} meanwhile`,
      mineAct: "Save mine",
      theirsAct: "Discard mine",
    }),
  },
};

/** Form that shows and edits a tool. Its type cannot change. */
export function ToolDefinition({ tool }: { tool: Tool }) {
  const { Above } = toolParts[tool.type];
  return (
    <DefinitionForm kind={kind} thing={tool} above={Above && <Above tool={tool} />}>
      {(fields) => <ToolForm type={tool.type} {...fields} />}
    </DefinitionForm>
  );
}
