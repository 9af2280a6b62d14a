import type { Agent as FullAgent } from "../../../../server/wire/agent.ts";
import { TextArea } from "../../ui/text-area.tsx";
import { AgentSelect } from "./agent-select.tsx";
import type { Draft, faultsOf } from "./draft.ts";
import { ModelField } from "./model-field.tsx";
import { SettingsFields } from "./settings-fields.tsx";
import { ToolList } from "./tool-list.tsx";

/** The agent on the left: what is changed here holds for the runs of this page, until it is saved. */
export function AgentPanel({
  agent,
  draft,
  faults,
  isEdited,
  unsaved,
  readOnly,
  compares,
  onAgent,
  onDraft,
}: {
  agent: FullAgent;
  draft: Draft;
  faults: ReturnType<typeof faultsOf>;
  isEdited: boolean;
  unsaved: readonly string[];
  readOnly: boolean;
  /** Each side has a model of its own, then. */
  compares: boolean;
  onAgent: (id: string) => void;
  onDraft: (change: Partial<Draft>) => void;
}) {
  return (
    <section aria-label="Agent" className="pg-agent gap-4 overflow-y-auto px-4 pt-4 pb-6 rail:pl-5">
      <AgentSelect
        value={agent.id}
        name={agent.name}
        hint={isEdited ? `Version ${agent.version}, edited` : `Version ${agent.version}`}
        onAgent={onAgent}
      />
      {!compares && (
        <ModelField
          value={draft.model}
          error={faults.model}
          disabled={readOnly}
          onModel={(model) => onDraft({ model })}
        />
      )}
      <TextArea
        label="Instructions"
        hint={draft.instructions === agent.instructions ? undefined : "Edited: the next run has them."}
        rows={8}
        readOnly={readOnly}
        value={draft.instructions}
        onChange={(event) => onDraft({ instructions: event.target.value })}
      />
      <ToolList tools={draft.tools} readOnly={readOnly} onTools={(tools) => onDraft({ tools })} />
      <details open className="min-w-0">
        <summary className="w-fit rounded-sm pb-2 font-medium">Settings</summary>
        <div className="flex flex-col gap-3">
          <SettingsFields draft={draft} faults={faults} readOnly={readOnly} unsaved={unsaved} onDraft={onDraft} />
        </div>
      </details>
    </section>
  );
}
