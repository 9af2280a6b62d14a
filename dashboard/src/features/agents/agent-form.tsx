import { useQuery } from "@tanstack/react-query";
import { reasoningEfforts } from "../../../../server/core/agent-snapshot.ts";
import { modelsQuery } from "../../entities/model/model-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/badge.tsx";
import { Field } from "../../ui/field.tsx";
import { FormSection } from "../../ui/form-section.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { Select } from "../../ui/select.tsx";
import { SuggestField } from "../../ui/suggest-field.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { bounds, type Draft, type Faults } from "./agent-fields.ts";
import { GuardrailsField } from "./guardrails-field.tsx";
import { MemoryPolicyFields } from "./memory-policy-fields.tsx";
import { ScriptField } from "./script-field.tsx";
import { deedOf } from "./test-model.ts";
import { ToolPicker } from "./tool-picker.tsx";

interface AgentFormProps {
  draft: Draft;
  faults: Faults;
  onChange: (change: Partial<Draft>) => void;
}

/** All fields of an agent. */
export function AgentForm(props: AgentFormProps) {
  return (
    <>
      <Basics {...props} />
      <ModelFields {...props} />
      <FormSection title="Tools" about="What the agent may call. A run pins them with the version.">
        <ToolPicker
          chosen={props.draft.tools}
          fault={props.faults.tools}
          onChoose={(tools) => props.onChange({ tools })}
        />
      </FormSection>
      <FormSection
        title="Memory"
        about="The stores that its runs search and write, and how much of a thread they read."
      >
        <MemoryPolicyFields
          text={props.draft.memory}
          fault={props.faults.memory}
          onText={(memory) => props.onChange({ memory })}
        />
      </FormSection>
      <Bounds {...props} />
      <FormSection
        title="Guardrails"
        about="Rules over what goes in and out of its runs. What is blocked or taken out is written down nowhere."
      >
        <GuardrailsField
          text={props.draft.guardrails}
          fault={props.faults.guardrails}
          onText={(guardrails) => props.onChange({ guardrails })}
        />
      </FormSection>
      <FormSection title="Answer" about="A JSON Schema that the last answer must fit. Without one, it is text.">
        <JsonField
          label="Output schema"
          optional
          rows={4}
          placeholder='{"type": "object", "properties": { … }}'
          value={props.draft.output_schema}
          fault={props.faults.output_schema}
          onText={(output_schema) => props.onChange({ output_schema })}
        />
        <JsonField
          label="Metadata"
          optional
          rows={2}
          hint="Up to 16 texts of your own, as an object."
          value={props.draft.metadata}
          fault={props.faults.metadata}
          onText={(metadata) => props.onChange({ metadata })}
        />
      </FormSection>
    </>
  );
}

function Basics({ draft, faults, onChange }: AgentFormProps) {
  return (
    <FormSection title="Agent">
      <div className="grid gap-4 rail:grid-cols-2">
        <Field
          label="Name"
          name="name"
          value={draft.name}
          error={faults.name}
          maxLength={128}
          autoComplete="off"
          onChange={(event) => onChange({ name: event.target.value })}
        />
        <Field
          label="Description"
          value={draft.description}
          error={faults.description}
          hint="For people. The model does not read it."
          autoComplete="off"
          onChange={(event) => onChange({ description: event.target.value })}
        />
      </div>
      <TextArea
        label="Instructions"
        name="instructions"
        rows={8}
        value={draft.instructions}
        error={faults.instructions}
        hint="What the model is told before all else."
        className="min-h-40 text-md"
        onChange={(event) => onChange({ instructions: event.target.value })}
      />
    </FormSection>
  );
}

function ModelFields({ draft, faults, onChange }: AgentFormProps) {
  const at = useWorkspace();
  const models = useQuery(modelsQuery(at));
  const known = [...(models.data?.data ?? [])].sort((a, b) => Number(b.available) - Number(a.available));
  const deed = deedOf(draft.model);
  const isScript = draft.model.trim() === "test/script" || draft.script !== "";
  return (
    <FormSection title="Model" about="Known models are listed. Any other of a connection can be typed.">
      <SuggestField
        label="Model"
        value={draft.model}
        error={faults.model}
        hint={deed ? `${draft.model.trim()} ${deed}: built in, free and offline.` : "<provider>/<model>"}
        items={known.map(({ id, available }) => ({
          value: id,
          aside: available ? (
            <span className="font-sans text-2xs text-muted">{deedOf(id)}</span>
          ) : (
            <Badge>no connection</Badge>
          ),
        }))}
        onValue={(model) => onChange({ model })}
      />
      <div className="grid grid-cols-2 gap-4 wide:grid-cols-4">
        <Field
          label="Temperature"
          inputMode="decimal"
          placeholder="Default"
          value={draft.temperature}
          error={faults.temperature}
          onChange={(event) => onChange({ temperature: event.target.value })}
        />
        <Field
          label="Most output tokens"
          inputMode="numeric"
          placeholder="Default"
          value={draft.max_output_tokens}
          error={faults.max_output_tokens}
          onChange={(event) => onChange({ max_output_tokens: event.target.value })}
        />
        <Select
          label="Reasoning effort"
          value={draft.reasoning_effort}
          choices={[{ value: "", label: "Default" }, ...reasoningEfforts.map((value) => ({ value, label: value }))]}
          onChoose={(reasoning_effort) => onChange({ reasoning_effort })}
        />
        <Select
          label="Parallel tool calls"
          value={draft.parallel_tool_calls}
          choices={[
            { value: "", label: "Default" },
            { value: "true", label: "Yes" },
            { value: "false", label: "No" },
          ]}
          onChoose={(parallel_tool_calls) => onChange({ parallel_tool_calls })}
        />
      </div>
      {isScript && (
        <ScriptField
          value={draft.script}
          fault={faults.script}
          tools={draft.tools}
          onText={(script) => onChange({ script })}
        />
      )}
    </FormSection>
  );
}

function Bounds({ draft, faults, onChange }: AgentFormProps) {
  return (
    <FormSection title="Bounds" about="What one run may spend at most. It ends where the first is reached.">
      <div className="grid grid-cols-2 gap-4 wide:grid-cols-3">
        {bounds.map(({ field, label, placeholder }) => (
          <Field
            key={field}
            label={label}
            inputMode="decimal"
            placeholder={placeholder}
            value={draft[field]}
            error={faults[field]}
            onChange={(event) => onChange({ [field]: event.target.value })}
          />
        ))}
      </div>
    </FormSection>
  );
}
