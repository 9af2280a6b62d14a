import type { ToolType } from "../../../../server/domain/agent-snapshot.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { Field } from "../../ui/forms/field.tsx";
import { FormSection } from "../../ui/forms/form-section.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { SchemaField } from "../../ui/forms/schema-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { ConditionsField } from "./conditions-field.tsx";
import { hasParameters } from "./tool-draft.ts";
import { type ToolDraft, toolParts } from "./types/tool-parts.ts";

/** Form fields of a tool of one type. */
export function ToolForm({ type, ...props }: Fields<ToolDraft> & { type: ToolType }) {
  const { draft, text, json } = props;
  const { Fields: Own, nameHint = "The model calls it by this name, such as get_weather." } = toolParts[type];
  return (
    <>
      <FormSection title="Tool">
        <Field label="Name" maxLength={64} autoComplete="off" spellCheck={false} hint={nameHint} {...text("name")} />
        <TextArea
          label="Description"
          rows={3}
          hint="Tells the model what the tool does and when to call it."
          {...text("description")}
        />
      </FormSection>
      {Own && <Own {...props} />}
      {hasParameters(type, draft) && (
        <FormSection title="Parameters" about="Arguments that do not match are returned to the model as an error.">
          <SchemaField label="Arguments (JSON Schema)" {...json("parameters")} />
        </FormSection>
      )}
      <Risk type={type} {...props} />
    </>
  );
}

const approvals = [
  { value: "never", label: "Not required", hint: "Calls run as soon as the model makes them." },
  {
    value: "always",
    label: "Always required",
    hint: "Each call waits under Approvals until someone decides.",
  },
  { value: "when", label: "Conditional", hint: "Only calls whose arguments match a JSON Schema." },
] as const;

function Risk({ type, draft, set, text, json, pick, choose }: Fields<ToolDraft> & { type: ToolType }) {
  return (
    <FormSection title="Risk" about="Who approves calls, and what happens if a crash interrupts one.">
      <RadioCards label="Approval" choices={approvals} {...choose("approval")} />
      {draft.approval === "when" && <ConditionsField parameters={draft.parameters} {...json("when")} />}
      <div className="grid gap-4 rail:grid-cols-2">
        {type !== "client" && (
          <Select
            label="If a crash interrupts a call"
            choices={[
              { value: "ask", label: "Ask a person" },
              { value: "retry", label: "Retry the call" },
              { value: "report", label: "Report it to the model" },
            ]}
            {...pick("on_unknown")}
          />
        )}
        <Field label="Max output size, bytes" inputMode="numeric" placeholder="262144" {...text("max_output_bytes")} />
      </div>
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={draft.enabled} onChange={(event) => set({ enabled: event.target.checked })} />
        Enabled
      </label>
    </FormSection>
  );
}
