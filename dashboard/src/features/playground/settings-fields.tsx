import { Field } from "../../ui/field.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { Select } from "../../ui/select.tsx";
import type { Draft, faultsOf } from "./draft.ts";

const efforts = ["", "none", "minimal", "low", "medium", "high", "max"] as const;

interface SettingsProps {
  draft: Draft;
  faults: ReturnType<typeof faultsOf>;
  readOnly: boolean;
  /** Names of what runs here do not have yet. */
  unsaved: readonly string[];
  onDraft: (change: Partial<Draft>) => void;
}

/** What bounds a run, and what the model is told beside its instructions. */
export function SettingsFields(props: SettingsProps) {
  return (
    <>
      <RunSettings {...props} />
      <SavedSettings {...props} />
    </>
  );
}

function RunSettings({ draft, faults, readOnly, onDraft }: SettingsProps) {
  return (
    <fieldset className="grid min-w-0 grid-cols-2 gap-3" disabled={readOnly}>
      <legend className="sr-only">Of each run here</legend>
      <Field
        label="Model calls"
        inputMode="numeric"
        value={draft.maxTurns}
        error={faults.maxTurns}
        onChange={(event) => onDraft({ maxTurns: event.target.value })}
      />
      <Field
        label="Spend, USD"
        inputMode="decimal"
        placeholder="no limit"
        value={draft.maxCost}
        error={faults.maxCost}
        onChange={(event) => onDraft({ maxCost: event.target.value })}
      />
    </fieldset>
  );
}

function SavedSettings({ draft, faults, readOnly, unsaved, onDraft }: SettingsProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-3 border-t border-line-soft pt-3" disabled={readOnly}>
      <legend className="sr-only">Of the saved agent</legend>
      <p className="text-xs text-muted">
        {unsaved.length > 0 ? (
          <span className="text-warn">Not in runs yet: {unsaved.join(", ")}. Save the agent first.</span>
        ) : (
          "Runs have these once the agent is saved."
        )}
      </p>
      <div className="grid grid-cols-2 gap-3">
        <Field
          label="Temperature"
          inputMode="decimal"
          placeholder="the model’s"
          value={draft.temperature}
          error={faults.temperature}
          onChange={(event) => onDraft({ temperature: event.target.value })}
        />
        <Field
          label="Output, tokens"
          inputMode="numeric"
          placeholder="the model’s"
          value={draft.maxOutputTokens}
          error={faults.maxOutputTokens}
          onChange={(event) => onDraft({ maxOutputTokens: event.target.value })}
        />
      </div>
      <Select
        label="Reasoning effort"
        value={draft.reasoningEffort}
        choices={efforts.map((value) => ({ value, label: value || "the model’s" }))}
        onChoose={(reasoningEffort) => onDraft({ reasoningEffort })}
      />
      <Check
        label="Calls in parallel"
        checked={draft.parallelCalls}
        onCheck={(parallelCalls) => onDraft({ parallelCalls })}
      />
      <Check
        label="Reads the conversation so far"
        checked={draft.readsThread}
        onCheck={(readsThread) => onDraft({ readsThread })}
      />
      {draft.model === "test/script" && (
        <JsonField
          label="Script"
          hint="One entry per model call: text, reasoning, tool_calls, error, delta_ms."
          rows={6}
          optional
          value={draft.script}
          fault={faults.script}
          onText={(script) => onDraft({ script })}
        />
      )}
    </fieldset>
  );
}

function Check({ label, checked, onCheck }: { label: string; checked: boolean; onCheck: (checked: boolean) => void }) {
  return (
    <label className="flex cursor-pointer items-center gap-2">
      <input type="checkbox" checked={checked} onChange={(event) => onCheck(event.target.checked)} />
      {label}
    </label>
  );
}
