import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { flushSync } from "react-dom";
import { limits } from "../../../../server/domain/limits.ts";
import { type ProtocolName, protocolNames } from "../../../../server/domain/protocols.ts";
import { toolsOfProvider } from "../../../../server/domain/provider-tools.ts";
import { reasoningEfforts } from "../../../../server/domain/providers.ts";
import { mostTools } from "../../../../server/domain/tool-search/search-tool.ts";
import { type Draft, runLimits } from "../../entities/agent/agent-fields.ts";
import { ScriptEditor } from "../../entities/agent/script-editor.tsx";
import { modelsQuery } from "../../entities/model/model-api.ts";
import { ModelListNotes } from "../../entities/model/model-list-notes.tsx";
import { modelSuggestions } from "../../entities/model/model-suggestions.tsx";
import { useApiSchema } from "../../entities/server/use-api-schema.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CodeEditor } from "../../ui/editor/code-editor.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Combobox } from "../../ui/forms/combobox.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { FormSection } from "../../ui/forms/form-section.tsx";
import { JsonField, type JsonFieldProps } from "../../ui/forms/json-field.tsx";
import { SchemaField } from "../../ui/forms/schema-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { FallbackModels } from "./fallback-models.tsx";
import { GuardrailsField } from "./guardrails-field.tsx";
import { HandoffsField } from "./handoffs-field.tsx";
import { MemoryPolicyFields } from "./memory-policy-fields.tsx";
import { SkillPicker } from "./skill-picker.tsx";
import { behaviorOf, exampleScript } from "./test-model.ts";
import { ToolPicker } from "./tool-picker.tsx";
import { VariablesField } from "./variables-field.tsx";

type AgentFormProps = Fields<Draft>;

/** Tools that the model's provider runs itself; nothing for a provider without them. */
function ProviderToolsField({ draft, json }: AgentFormProps) {
  const types = toolsOfProvider(draft.model.trim().split("/")[0] ?? "");
  if (types.length === 0 && draft.provider_tools === "") return null;
  return (
    <JsonField
      label="Tools of the provider"
      optional
      hint={`The model's provider runs these itself and charges for them. Types: ${types.join(", ") || "none"}.`}
      placeholder='[{"type": "web_search", "max_uses": 3}]'
      {...json("provider_tools")}
    />
  );
}

function ToolLoadingField({ pick }: AgentFormProps) {
  return (
    <Select
      label="Tool loading"
      hint={`With deferred tools, the model searches for the tools that it needs. Automatic: above ${mostTools} tools.`}
      choices={[
        { value: "auto", label: "Automatic" },
        { value: "all", label: "All tools in each request" },
        { value: "deferred", label: "Deferred" },
      ]}
      {...pick("tool_loading")}
    />
  );
}

/** All fields of an agent's definition. */
export function AgentForm(props: AgentFormProps) {
  const { draft, fieldErrors, json, set } = props;
  const metadata = useApiSchema("Metadata");
  return (
    <>
      <Basics {...props} />
      <FormSection
        title="Variables"
        about="{{name}} in the instructions and in descriptions of tools stands for a value that each run gives. Without variables, it is text."
      >
        <VariablesField draft={draft} faults={fieldErrors} set={set} />
      </FormSection>
      <ModelFields {...props} />
      <FormSection title="Tools" about="Tools the agent may call. Each version keeps its own list.">
        <ToolPicker chosen={draft.tools} fault={fieldErrors.tools} onChoose={(tools) => set({ tools })} />
        <div className="grid gap-4 rail:grid-cols-2">
          <ToolLoadingField {...props} />
        </div>
        <ProviderToolsField {...props} />
      </FormSection>
      <FormSection
        title="Skills"
        about="Folders with instructions and files, which the model loads when a task needs them."
      >
        <SkillPicker chosen={draft.skills} fault={fieldErrors.skills} onChoose={(skills) => set({ skills })} />
      </FormSection>
      <FormSection
        title="Handoffs"
        about="Agents that may go on with a conversation. The model gets a tool for each, and the other agent answers."
      >
        <HandoffsField {...json("handoffs")} />
      </FormSection>
      <FormSection title="Memory" about="Stores that runs search and write to, and how much of the thread they read.">
        <MemoryPolicyFields model={draft.model.trim()} {...json("memory")} />
      </FormSection>
      <RunLimits {...props} />
      <FormSection
        title="Guardrails"
        about="Rules for inputs and outputs. Blocked and redacted content is never stored."
      >
        <GuardrailsField {...json("guardrails")} />
      </FormSection>
      <DoorFields {...props} />
      <FormSection
        title="Response format"
        about="A JSON Schema that the final answer must match. Without one, the answer is text."
      >
        <SchemaField label="Output schema" optional {...json("output_schema")} />
        <JsonField label="Metadata" optional hint="Up to 16 key-value pairs." schema={metadata} {...json("metadata")} />
      </FormSection>
    </>
  );
}

function Basics({ text, code }: AgentFormProps) {
  return (
    <FormSection title="Agent">
      <div className="grid gap-4 rail:grid-cols-2">
        <Field label="Name" name="name" maxLength={limits.name_length} autoComplete="off" {...text("name")} />
        <Field
          label="Description"
          hint="For people, and for agents that may hand over to this one."
          autoComplete="off"
          {...text("description")}
        />
      </div>
      <CodeEditor
        label="Instructions"
        language="markdown"
        hint="The system prompt. Markdown is highlighted and sent as written."
        className="min-h-40"
        {...code("instructions")}
      />
    </FormSection>
  );
}

function ModelFields({ draft, fieldErrors, set, text, json, suggest, pick }: AgentFormProps) {
  const at = useWorkspace();
  const models = useQuery(modelsQuery(at));
  const known = modelSuggestions(models.data?.data ?? []).map((item) => ({
    ...item,
    aside: behaviorOf(item.value) ? (
      <span className="font-sans text-2xs text-muted">{behaviorOf(item.value)}</span>
    ) : (
      item.aside
    ),
  }));
  const behavior = behaviorOf(draft.model);
  const isScript = draft.model.trim() === "test/script" || draft.script !== "";
  return (
    <FormSection title="Model" about="Choose a known model, or type any other model of a connection.">
      <Combobox
        label="Model"
        hint={behavior ? `${draft.model.trim()} ${behavior}: built in, free and offline.` : "<provider>/<model>"}
        items={known}
        {...suggest("model")}
      />
      <ModelListNotes />
      <FallbackModels draft={draft} items={known} fault={fieldErrors.fallbacks} set={set} />
      <div className="grid grid-cols-2 gap-4 wide:grid-cols-4">
        <Field label="Temperature" inputMode="decimal" placeholder="Default" {...text("temperature")} />
        <Field label="Max output tokens" inputMode="numeric" placeholder="Default" {...text("max_output_tokens")} />
        <Select
          label="Reasoning effort"
          choices={[{ value: "", label: "Default" }, ...reasoningEfforts.map((value) => ({ value, label: value }))]}
          {...pick("reasoning_effort")}
        />
        <Select
          label="Parallel tool calls"
          choices={[
            { value: "", label: "Default" },
            { value: "true", label: "Yes" },
            { value: "false", label: "No" },
          ]}
          {...pick("parallel_tool_calls")}
        />
        <Select
          label="Prompt caching"
          hint="The provider reads repeated prompts from its cache, which costs less."
          choices={[
            { value: "auto", label: "Automatic" },
            { value: "off", label: "Off" },
          ]}
          {...pick("prompt_caching")}
        />
      </div>
      {isScript && <ScriptField {...json("script")} tools={draft.tools} />}
    </FormSection>
  );
}

const doorLabels = { mcp: "MCP: a tool of this server", a2a: "A2A: an agent with a card" };

function DoorFields({ draft, set, json }: AgentFormProps) {
  const withProtocol = (name: ProtocolName, on: boolean) =>
    protocolNames.filter((one) => (one === name ? on : draft.doors.includes(one)));
  return (
    <FormSection
      title="Access"
      about={
        <>
          Protocols that clients may use besides the API. They need an API key too:{" "}
          <a href="/docs/connect/mcp" className="text-accent underline">
            MCP
          </a>
          ,{" "}
          <a href="/docs/connect/a2a" className="text-accent underline">
            A2A
          </a>
          .
        </>
      }
    >
      {protocolNames.map((name) => (
        <label key={name} className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={draft.doors.includes(name)}
            onChange={(event) => set({ doors: withProtocol(name, event.target.checked) })}
          />
          {doorLabels[name]}
        </label>
      ))}
      <SchemaField
        label="Input schema"
        optional
        hint="What MCP clients pass, as an object. Without a schema, they pass text."
        {...json("input_schema")}
      />
    </FormSection>
  );
}

function RunLimits({ text }: AgentFormProps) {
  return (
    <FormSection title="Run limits" about="A run ends when it reaches the first of these limits.">
      <div className="grid grid-cols-2 gap-4 wide:grid-cols-3">
        {runLimits.map(({ field, label, placeholder }) => (
          <Field key={field} label={label} inputMode="decimal" placeholder={placeholder} {...text(field)} />
        ))}
      </div>
    </FormSection>
  );
}

/** The script of `test/script`. The generated example calls the selected tools. */
function ScriptField({
  tools,
  ...field
}: JsonFieldProps & {
  /** Ids of the agent's tools. */
  tools: readonly string[];
}) {
  const all = useQuery(toolApi.every(useWorkspace()));
  const picked = (all.data ?? []).filter(({ id, type }) => tools.includes(id) && type !== "mcp");
  const place = useRef<HTMLDivElement>(null);
  // The button disappears when it is used, so move the focus to the generated script.
  const generate = () => {
    flushSync(() => field.onText(exampleScript(picked)));
    place.current?.querySelector<HTMLElement>("textarea,[contenteditable]")?.focus();
  };
  return (
    <div ref={place} className="contents">
      <ScriptEditor tools={picked} {...field} />
      {field.value.trim() === "" && (
        <div>
          <Button size="sm" onClick={generate}>
            {picked.length > 0 ? "Generate an example with the selected tools" : "Generate an example"}
          </Button>
        </div>
      )}
    </div>
  );
}
