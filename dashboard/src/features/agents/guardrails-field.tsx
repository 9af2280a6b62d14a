import { Plus } from "lucide-react";
import {
  type GuardrailAction,
  type GuardrailPoint,
  type GuardrailType,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
} from "../../../../server/domain/agent-snapshot.ts";
import { numberIn } from "../../lib/json-text.ts";
import { EntryCard } from "../../ui/data/entry-card.tsx";
import { Menu } from "../../ui/dialogs/menu.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import type { JsonFieldProps } from "../../ui/forms/json-field.tsx";
import { JsonValueField } from "../../ui/forms/json-value-field.tsx";
import { LinesField } from "../../ui/forms/lines-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { EntriesField, type EntryProps } from "./entries-field.tsx";
import { kinds, parseRules, type Rule, togglePoint, updateSetting } from "./guardrail-fields.ts";

/** The guardrails of an agent, as fields or as JSON, with a menu that adds one of each type. */
export const GuardrailsField = (props: JsonFieldProps) => (
  <EntriesField
    label="Guardrails"
    field="guardrails"
    placeholder="[]"
    parse={parseRules}
    about={(count) => (count > 0 ? `${count} of at most 32, applied in this order.` : "No guardrails yet.")}
    fields={RuleFields}
    add={(list, put) => (
      <Menu
        trigger={
          <button type="button" className={buttonClass({ size: "sm" })}>
            <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
            Add a guardrail
          </button>
        }
      >
        {({ MenuItem }) =>
          Object.entries(kinds).map(([type, { label, example }]) => (
            <MenuItem key={type} onClick={() => put([...list, { type, ...example }])}>
              {label}
            </MenuItem>
          ))
        }
      </Menu>
    )}
    {...props}
  />
);

const points: Record<GuardrailPoint, string> = {
  input: "Input",
  output: "Output",
  tool_call: "Tool calls",
  tool_output: "Tool outputs",
};
const actions: Record<GuardrailAction, string> = {
  block: "Block",
  redact: "Redact",
  flag: "Flag",
  require_approval: "Require approval",
};

function RuleFields({ number, entry: rule, onEntry: onRule, onRemove }: EntryProps<Rule>) {
  const { type, on, action, config = {} } = rule;
  const retype = (next: GuardrailType) => onRule({ type: next, ...kinds[next].example });
  return (
    <EntryCard title={`Guardrail ${number}: ${kinds[type].label}`} onRemove={onRemove}>
      <div className="grid gap-3 rail:grid-cols-2">
        <Select
          label="Type"
          choices={guardrailTypes.map((each) => ({ value: each, label: kinds[each].label }))}
          value={type}
          onChoose={retype}
        />
        <Select
          label="Action"
          choices={guardrailActions.map((each) => ({ value: each, label: actions[each] }))}
          value={action}
          onChoose={(next) => onRule({ ...rule, action: next })}
        />
      </div>
      <fieldset className="flex min-w-0 flex-wrap gap-x-4 gap-y-2">
        <legend className="mb-1.5 font-medium">Applies to</legend>
        {guardrailPoints.map((point) => (
          <label key={point} className="flex items-center gap-2">
            <input
              type="checkbox"
              checked={on.includes(point)}
              onChange={({ target }) => onRule(togglePoint(rule, point, target.checked))}
            />
            {points[point]}
          </label>
        ))}
      </fieldset>
      {kinds[type].settings.map((setting) => {
        const { name, label, hint, kind } = setting;
        const put = (value: unknown) => onRule(updateSetting(rule, setting, value));
        const fieldProps = { label, hint };
        const settingValue = config[name];
        if (kind === "json")
          return <JsonValueField key={name} {...fieldProps} value={settingValue ?? {}} onValue={put} />;
        if (kind === "lines")
          return (
            <LinesField
              key={name}
              {...fieldProps}
              mono
              className="min-h-13"
              lines={(settingValue as string[] | undefined) ?? []}
              onLines={put}
            />
          );
        const text = String(settingValue ?? "");
        if (kind === "prose")
          return <TextArea key={name} {...fieldProps} value={text} onChange={({ target }) => put(target.value)} />;
        return (
          <Field
            key={name}
            {...fieldProps}
            spellCheck={false}
            inputMode={kind === "number" ? "numeric" : undefined}
            value={text}
            onChange={({ target }) => put(kind === "number" ? numberIn(target.value) : target.value)}
          />
        );
      })}
    </EntryCard>
  );
}
