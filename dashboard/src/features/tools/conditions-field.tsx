import { Plus, X } from "lucide-react";
import { useId, useState } from "react";
import { type Condition, type ConditionTest, conditionsOf, schemaOfConditions } from "../../lib/conditions.ts";
import { fieldsOf, jsonText, readJson } from "../../lib/json-text.ts";
import { schemaOfSchemas } from "../../lib/schema-of-schemas.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { FormOrJson } from "../../ui/forms/form-or-json.tsx";
import { JsonField, type JsonFieldProps } from "../../ui/forms/json-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";

const words: Record<ConditionTest, string> = {
  const: "is",
  enum: "is one of",
  minimum: "is at least",
  exclusiveMinimum: "is more than",
  maximum: "is at most",
  exclusiveMaximum: "is less than",
  pattern: "matches the pattern",
  type: "is of the type",
  given: "is given",
};
const tests = Object.entries(words).map(([value, label]) => ({ value: value as ConditionTest, label }));

const label = "Require approval when the arguments match";
const parseConditions = (text: string) => conditionsOf(text.trim() === "" ? {} : readJson(text).value);

/** Conditions on the arguments under which a call needs approval, edited as rows or as JSON Schema. */
export function ConditionsField({
  parameters,
  ...field
}: JsonFieldProps & { /** JSON Schema of the arguments. */ parameters: string }) {
  return (
    <FormOrJson
      label={label}
      reason="This schema can only be edited as JSON."
      fields={parseConditions(field.value) && <ConditionRows parameters={parameters} {...field} />}
      json={
        <JsonField
          label={label}
          placeholder='{"properties": {"usd": {"minimum": 100}}}'
          schema={schemaOfSchemas}
          {...field}
        />
      }
    />
  );
}

function ConditionRows({ parameters, value, fault, onText }: JsonFieldProps & { parameters: string }) {
  const listId = useId();
  const [cached, setCached] = useState(() => ({ rows: parseConditions(value) ?? [], text: value }));
  // Incomplete rows are missing in the text, so the rows are rebuilt only if the text changed elsewhere.
  const rows = cached.text === value ? cached.rows : (parseConditions(value) ?? []);
  const put = (next: Condition[]) => {
    const text = next.length > 0 ? jsonText(schemaOfConditions(next)) : "";
    setCached({ rows: next, text });
    onText(text);
  };
  const names = Object.keys(fieldsOf(fieldsOf(readJson(parameters).value).properties));
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1.5 font-medium">{label}</legend>
      <datalist id={listId}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {rows.map((row, i) => (
        <ConditionRow
          // biome-ignore lint/suspicious/noArrayIndexKey: a row has no id, and its name is being edited.
          key={i}
          row={row}
          number={i + 1}
          listId={listId}
          isTwice={rows.findIndex(({ name, test }) => name === row.name && test === row.test) < i}
          onRow={(next) => put(rows.with(i, next))}
          onRemove={() => put(rows.filter((_, n) => n !== i))}
        />
      ))}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button size="sm" onClick={() => put([...rows, { name: names[0] ?? "", test: "const", value: "" }])}>
          <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
          Add condition
        </Button>
        <span className="text-xs text-muted">
          {rows.length > 1 ? "All conditions must be met. " : ""}Conditions on missing arguments are met, except “is
          given”.
        </span>
      </div>
      {fault && (
        <p role="alert" className="text-xs text-bad wrap-anywhere">
          {fault}
        </p>
      )}
    </fieldset>
  );
}

function ConditionRow({
  row,
  number,
  listId,
  isTwice,
  onRow,
  onRemove,
}: {
  row: Condition;
  number: number;
  listId: string;
  isTwice: boolean;
  onRow: (row: Condition) => void;
  onRemove: () => void;
}) {
  const { name, test, value } = row;
  const onValue = ({ target }: { target: { value: string } }) => onRow({ ...row, value: target.value });
  return (
    <section
      aria-label={`Condition ${number}`}
      className="flex min-w-0 flex-wrap items-start gap-x-3 gap-y-2 rounded-md border border-line bg-subtle p-3"
    >
      <div className="min-w-36 flex-1">
        <Field
          label="Argument"
          list={listId}
          autoComplete="off"
          spellCheck={false}
          value={name}
          error={isTwice ? "This condition exists already." : null}
          onChange={({ target }) => onRow({ ...row, name: target.value })}
        />
      </div>
      <div className="w-44">
        <Select label="Condition" choices={tests} value={test} onChoose={(next) => onRow({ ...row, test: next })} />
      </div>
      {test === "enum" && (
        <div className="min-w-36 flex-1">
          <TextArea label="Values" hint="One per line." className="min-h-13" value={value} onChange={onValue} />
        </div>
      )}
      {test !== "enum" && test !== "given" && (
        <div className="min-w-36 flex-1">
          <Field label="Value" autoComplete="off" value={value} onChange={onValue} />
        </div>
      )}
      <Button
        kind="ghost"
        size="icon-sm"
        className="max-rail:ml-auto rail:mt-7"
        aria-label={`Remove condition ${number}`}
        onClick={onRemove}
      >
        <X aria-hidden className="size-4" strokeWidth={1.5} />
      </Button>
    </section>
  );
}
