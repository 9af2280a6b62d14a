import type { ReactNode } from "react";
import type { AgentLabel } from "../../../../server/domain/api-types/label.ts";
import type { Agent as FullAgent } from "../../../../server/resources/agents/schema.ts";
import { VersionSelect } from "../../entities/agent/version-select.tsx";
import type { Fields } from "../../hooks/use-form.ts";
import { CodeEditor } from "../../ui/editor/code-editor.tsx";
import { AgentSelect } from "./agent-select.tsx";
import { type Draft, modelHint } from "./draft.ts";
import { ModelField } from "./model-field.tsx";
import { SettingsFields } from "./settings-fields.tsx";
import { ToolList } from "./tool-list.tsx";

/** A version or label that is tried. */
export interface TriedVersion {
  /** As in `version-choice.ts`. */
  text: string;
  /** The label; null for a version. */
  held: AgentLabel | null;
}

/** The agent's settings on the left. Unsaved changes apply only to the runs of this page. */
export function AgentPanel({
  agent,
  fields,
  isEdited,
  unsaved,
  tried,
  readOnly,
  compares,
  variables,
  onAgent,
  onVersion,
}: {
  agent: FullAgent;
  fields: Fields<Draft>;
  isEdited: boolean;
  unsaved: readonly string[];
  tried: TriedVersion | undefined;
  readOnly: boolean;
  /** True if each side has a model of its own. */
  compares: boolean;
  /** Fields for prompt variables. */
  variables: ReactNode;
  onAgent: (id: string) => void;
  onVersion: (text: string) => void;
}) {
  const { draft, fieldErrors, set, code } = fields;
  return (
    <section aria-label="Agent" className="pg-agent gap-4 overflow-y-auto px-4 pt-4 pb-6 rail:pl-5">
      <AgentSelect
        value={agent.id}
        name={agent.name}
        hint={tried ? undefined : isEdited ? `Version ${agent.version}, edited` : `Version ${agent.version}`}
        onAgent={onAgent}
      />
      <VersionSelect
        agentId={agent.id}
        value={tried?.text ?? ""}
        hint={tried && triedWords(agent, tried)}
        onChoose={onVersion}
      />
      {!compares && (
        <ModelField
          hint={modelHint(agent, draft)}
          value={draft.model}
          error={fieldErrors.model}
          disabled={readOnly}
          onModel={(model) => set({ model })}
        />
      )}
      <CodeEditor
        label="Instructions"
        language="markdown"
        hint={draft.instructions === agent.instructions ? undefined : "Edited. Applies to the next run."}
        className="min-h-40"
        readOnly={readOnly}
        {...code("instructions")}
      />
      {variables}
      <ToolList agent={agent} chosen={draft.tools} readOnly={readOnly} onChoose={(tools) => set({ tools })} />
      <details open className="min-w-0">
        <summary className="w-fit rounded-sm pb-2 font-medium">Settings</summary>
        <div className="flex flex-col gap-3">
          <SettingsFields agent={agent} fields={fields} readOnly={readOnly} unsaved={unsaved} />
        </div>
      </details>
    </section>
  );
}

function triedWords({ version }: FullAgent, { held }: TriedVersion): string {
  if (held?.split) return `Each conversation gets one of both as it is. Below: version ${version}.`;
  return "Runs use it as it is. Choose the newest version to edit it.";
}
