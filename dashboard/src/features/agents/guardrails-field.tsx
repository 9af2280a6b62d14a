import { Plus } from "lucide-react";
import {
  type GuardrailAction,
  type GuardrailPoint,
  type GuardrailType,
  guardrailActions,
  guardrailPoints,
  guardrailTypes,
} from "../../../../server/core/agent-snapshot.ts";
import { useApiSchema } from "../../entities/server/use-api-schema.ts";
import { jsonText, numberIn, readJson } from "../../lib/json-text.ts";
import { buttonClass } from "../../ui/button.tsx";
import { EntryCard } from "../../ui/entry-card.tsx";
import { Field } from "../../ui/field.tsx";
import { JsonField, type JsonFieldProps } from "../../ui/json-field.tsx";
import { JsonValueField } from "../../ui/json-value-field.tsx";
import { LinesField } from "../../ui/lines-field.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Select } from "../../ui/select.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { TwoViews } from "../../ui/two-views.tsx";
import { kinds, type Rule, rulesOf, withPoint, withSetting } from "./guardrail-fields.ts";

/** The rules of an agent, as fields or as JSON, and one of each kind to add. */
export function GuardrailsField({ value: text, fault, onText }: JsonFieldProps) {
  const schema = useApiSchema("CreateAgentRequest", "guardrails");
  const { value, fault: broken } = readJson(text.trim() === "" ? "[]" : text);
  const list = broken === null && Array.isArray(value) ? value : null;
  const rules = rulesOf(list);
  const put = (next: readonly unknown[]) => onText(next.length > 0 ? jsonText(next) : "");
  const about = list && list.length > 0 ? `${list.length} of at most 32, applied in this order.` : "No guardrails yet.";
  return (
    <>
      <TwoViews
        label="Guardrails"
        fields={
          rules && (
            <fieldset className="flex min-w-0 flex-col gap-2">
              <legend className="mb-1.5 font-medium">Guardrails</legend>
              {rules.map((rule, i) => (
                <RuleFields
                  // biome-ignore lint/suspicious/noArrayIndexKey: a rule is its place.
                  key={i}
                  number={i + 1}
                  rule={rule}
                  onRule={(next) => put(rules.with(i, next))}
                  onRemove={() => put(rules.filter((_, n) => n !== i))}
                />
              ))}
              <p className="text-xs text-muted">{about}</p>
              {fault && (
                <p role="alert" className="text-xs text-bad wrap-anywhere">
                  {fault}
                </p>
              )}
            </fieldset>
          )
        }
        json={
          <JsonField
            label="Guardrails"
            optional
            placeholder="[]"
            hint={about}
            value={text}
            fault={fault}
            schema={schema}
            onText={onText}
          />
        }
      />
      {list && (
        <div>
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
        </div>
      )}
    </>
  );
}

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

interface RuleProps {
  number: number;
  rule: Rule;
  onRule: (rule: Rule) => void;
  onRemove: () => void;
}

function RuleFields({ number, rule, onRule, onRemove }: RuleProps) {
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
              onChange={({ target }) => onRule(withPoint(rule, point, target.checked))}
            />
            {points[point]}
          </label>
        ))}
      </fieldset>
      {kinds[type].settings.map((setting) => {
        const { name, label, hint, kind } = setting;
        const put = (value: unknown) => onRule(withSetting(rule, setting, value));
        const said = { label, hint };
        const given = config[name];
        if (kind === "json") return <JsonValueField key={name} {...said} value={given ?? {}} onValue={put} />;
        if (kind === "lines")
          return (
            <LinesField
              key={name}
              {...said}
              mono
              className="min-h-13"
              lines={(given as string[] | undefined) ?? []}
              onLines={put}
            />
          );
        const text = String(given ?? "");
        if (kind === "prose")
          return <TextArea key={name} {...said} value={text} onChange={({ target }) => put(target.value)} />;
        return (
          <Field
            key={name}
            {...said}
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
