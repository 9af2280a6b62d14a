import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../lib/workspace.ts";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { Field } from "../../ui/field.tsx";
import { FormSection } from "../../ui/form-section.tsx";
import { JsonField } from "../../ui/json-field.tsx";
import { Select } from "../../ui/select.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { CodeFields } from "./code-fields.tsx";
import { HeadersField } from "./headers-field.tsx";
import { hasParameters, type ToolDraft, type ToolFaults } from "./tool-draft.ts";
import { agentsQuery } from "./tools-api.ts";
import type { ToolType } from "./tools-search.ts";

export interface ToolFormProps {
  type: ToolType;
  draft: ToolDraft;
  faults: ToolFaults;
  onChange: (change: Partial<ToolDraft>) => void;
}

/** All fields of a tool of one type. */
export function ToolForm(props: ToolFormProps) {
  const { type, draft, faults, onChange } = props;
  const Own = own[type];
  return (
    <>
      <FormSection title="Tool">
        <Field
          label="Name"
          value={draft.name}
          error={faults.name}
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
          hint={
            type === "mcp"
              ? "Stands before the names of the server's tools."
              : "The model calls it by this name, such as get_weather."
          }
          onChange={(event) => onChange({ name: event.target.value })}
        />
        <TextArea
          label="Description"
          rows={3}
          value={draft.description}
          error={faults.description}
          hint="The model reads it: what the tool does, and when to call it."
          onChange={(event) => onChange({ description: event.target.value })}
        />
      </FormSection>
      {Own && <Own {...props} />}
      {hasParameters(type, draft) && (
        <FormSection title="Parameters" about="A JSON Schema. Arguments that do not fit go back to the model.">
          <JsonField
            label="Schema of the arguments"
            className="min-h-30"
            rows={8}
            value={draft.parameters}
            fault={faults.parameters}
            onText={(parameters) => onChange({ parameters })}
          />
        </FormSection>
      )}
      <Risk {...props} />
    </>
  );
}

const own: Partial<Record<ToolType, (props: ToolFormProps) => React.ReactNode>> = {
  http: HttpFields,
  webhook: HttpFields,
  code: CodeFields,
  mcp: McpFields,
  agent: AgentFields,
};

function HttpFields({ type, draft, faults, onChange }: ToolFormProps) {
  const isHttp = type === "http";
  return (
    <FormSection title="Request" about="Public addresses over https. In test, this machine too.">
      <div className="grid gap-4 rail:grid-cols-[calc(var(--space-10)*3)_minmax(0,1fr)]">
        {isHttp && (
          <Select
            label="Method"
            value={draft.method}
            choices={["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].map((value) => ({ value, label: value }))}
            onChoose={(method) => onChange({ method })}
          />
        )}
        <div className={isHttp ? undefined : "rail:col-span-2"}>
          <Field
            label="Address"
            type="url"
            value={draft.url}
            error={faults.url}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => onChange({ url: event.target.value })}
          />
        </div>
      </div>
      <HeadersField headers={draft.headers} fault={faults.headers} onHeaders={(headers) => onChange({ headers })} />
      <div className="grid grid-cols-2 gap-4 wide:grid-cols-4">
        <Field
          label="Timeout, ms"
          inputMode="numeric"
          placeholder="30000"
          value={draft.timeout_ms}
          error={faults.timeout_ms}
          onChange={(event) => onChange({ timeout_ms: event.target.value })}
        />
        <Field
          label="Tried again"
          inputMode="numeric"
          placeholder="0"
          value={draft.retries}
          error={faults.retries}
          onChange={(event) => onChange({ retries: event.target.value })}
        />
        <Select
          label="A repeated call"
          value={draft.idempotent}
          choices={[
            { value: "", label: "Default" },
            { value: "true", label: "Does no harm" },
            { value: "false", label: "Does harm" },
          ]}
          onChoose={(idempotent) => onChange({ idempotent })}
        />
        {isHttp && (
          <Select
            label="Answer"
            value={draft.response}
            choices={[
              { value: "json", label: "JSON" },
              { value: "text", label: "Text" },
            ]}
            onChoose={(response) => onChange({ response })}
          />
        )}
      </div>
    </FormSection>
  );
}

function McpFields({ draft, faults, onChange }: ToolFormProps) {
  return (
    <FormSection
      title="Server"
      about="Over Streamable HTTP, or stdio:<name> for a program that the operator configured."
    >
      <Field
        label="Address"
        value={draft.server_url}
        error={faults.server_url}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange({ server_url: event.target.value })}
      />
      <HeadersField headers={draft.headers} fault={faults.headers} onHeaders={(headers) => onChange({ headers })} />
      <div className="grid gap-4 rail:grid-cols-2">
        <TextArea
          label="Allowed tools"
          mono
          rows={3}
          placeholder="All"
          hint="Names of the server's tools, one a line."
          value={draft.allowed_tools}
          error={faults.allowed_tools}
          onChange={(event) => onChange({ allowed_tools: event.target.value })}
        />
        <Field
          label="Timeout, ms"
          inputMode="numeric"
          placeholder="30000"
          value={draft.timeout_ms}
          error={faults.timeout_ms}
          onChange={(event) => onChange({ timeout_ms: event.target.value })}
        />
      </div>
    </FormSection>
  );
}

function AgentFields({ draft, faults, onChange }: ToolFormProps) {
  const at = useWorkspace();
  const agents = useQuery(agentsQuery(at)).data ?? [];
  const isKnown = draft.agent_id === "" || agents.some(({ id }) => id === draft.agent_id);
  return (
    <FormSection title="Agent" about="It works as a run of its own, within what is left of its parent's budget.">
      <Select
        label="Asked agent"
        value={draft.agent_id}
        choices={[
          { value: "", label: "Choose an agent" },
          ...(isKnown ? [] : [{ value: draft.agent_id, label: draft.agent_id }]),
          ...agents.map(({ id, name }) => ({ value: id, label: name })),
        ]}
        aria-invalid={faults.agent_id ? true : undefined}
        hint={faults.agent_id}
        onChoose={(agent_id) => onChange({ agent_id })}
      />
    </FormSection>
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

function Risk({ type, draft, faults, onChange }: ToolFormProps) {
  return (
    <FormSection
      title="Risk"
      about="Who decides before a call, and what happens when nobody knows whether it was made."
    >
      <ChoiceCards
        label="Before a call"
        choices={approvals}
        chosen={draft.approval}
        onChoose={(approval) => onChange({ approval })}
      />
      {draft.approval === "when" && (
        <JsonField
          label="Approval is asked for arguments that fit"
          rows={4}
          placeholder='{"properties": {"usd": {"minimum": 100}}}'
          value={draft.when}
          fault={faults.when}
          onText={(when) => onChange({ when })}
        />
      )}
      <div className="grid gap-4 rail:grid-cols-2">
        {type !== "client" && (
          <Select
            label="After a crash in the middle of a call"
            value={draft.on_unknown}
            choices={[
              { value: "ask", label: "Ask a person" },
              { value: "retry", label: "Call again" },
              { value: "report", label: "Tell the model" },
            ]}
            onChoose={(on_unknown) => onChange({ on_unknown })}
          />
        )}
        <Field
          label="Most output, bytes"
          inputMode="numeric"
          placeholder="262144"
          value={draft.max_output_bytes}
          error={faults.max_output_bytes}
          onChange={(event) => onChange({ max_output_bytes: event.target.value })}
        />
      </div>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={draft.enabled}
          onChange={(event) => onChange({ enabled: event.target.checked })}
        />
        New runs may call it
      </label>
    </FormSection>
  );
}
