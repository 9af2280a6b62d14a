import type { ToolType } from "../../../../server/core/agent-snapshot.ts";
import type { Fields } from "../../lib/use-form.ts";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { Field } from "../../ui/field.tsx";
import { FormSection } from "../../ui/form-section.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { Select } from "../../ui/select.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { hasParameters } from "./tool-draft.ts";
import { type ToolDraft, toolParts } from "./types/tool-parts.ts";

/** All fields of a tool of one type. */
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
          hint="The model reads it: what the tool does, and when to call it."
          {...text("description")}
        />
      </FormSection>
      {Own && <Own {...props} />}
      {hasParameters(type, draft) && (
        <FormSection title="Parameters" about="A JSON Schema. Arguments that do not fit go back to the model.">
          <JsonField label="Schema of the arguments" className="min-h-30" rows={8} {...json("parameters")} />
        </FormSection>
      )}
      <Risk type={type} {...props} />
    </>
  );
}

const approvals = [
  { value: "never", label: "Nobody is asked", hint: "The call is made as soon as the model asks for it." },
  {
    value: "always",
    label: "A person approves each call",
    hint: "It waits among the approvals until somebody decides.",
  },
  { value: "when", label: "A person approves some", hint: "Those whose arguments fit a JSON Schema." },
] as const;

function Risk({ type, draft, set, text, json, pick, choose }: Fields<ToolDraft> & { type: ToolType }) {
  return (
    <FormSection
      title="Risk"
      about="Who decides before a call, and what happens when nobody knows whether it was made."
    >
      <ChoiceCards label="Before a call" choices={approvals} {...choose("approval")} />
      {draft.approval === "when" && (
        <JsonField
          label="Approval is asked for arguments that fit"
          rows={4}
          placeholder='{"properties": {"usd": {"minimum": 100}}}'
          {...json("when")}
        />
      )}
      <div className="grid gap-4 rail:grid-cols-2">
        {type !== "client" && (
          <Select
            label="When nobody knows whether a call happened"
            choices={[
              { value: "ask", label: "Ask a person" },
              { value: "retry", label: "Call again" },
              { value: "report", label: "Tell the model" },
            ]}
            {...pick("on_unknown")}
          />
        )}
        <Field label="Most output, bytes" inputMode="numeric" placeholder="262144" {...text("max_output_bytes")} />
      </div>
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={draft.enabled} onChange={(event) => set({ enabled: event.target.checked })} />
        New runs may call it
      </label>
    </FormSection>
  );
}
