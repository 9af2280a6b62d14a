import { Plus } from "lucide-react";
import { useRef } from "react";
import { flushSync } from "react-dom";
import { limits } from "../../../../server/domain/limits.ts";
import { type VariableType, variableTypes } from "../../../../server/domain/variable.ts";
import type { Draft } from "../../entities/agent/agent-fields.ts";
import { newVariableRow, type VariableRow } from "../../entities/agent/variable-rows.ts";
import { EntryCard } from "../../ui/data/entry-card.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { LinesField } from "../../ui/forms/lines-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";

interface VariablesFieldProps {
  draft: Pick<Draft, "variables" | "snippets">;
  faults: Partial<Record<"variables" | "snippets", string | null>>;
  set: (changes: Partial<Pick<Draft, "variables" | "snippets">>) => void;
}

const typeWords: Record<VariableType, string> = {
  string: "Text",
  number: "Number",
  integer: "Whole number",
  boolean: "True or false",
};
const types = variableTypes.map((value) => ({ value, label: typeWords[value] }));

/** The variables and snippets that the instructions place. */
export function VariablesField({ draft: { variables, snippets }, faults, set }: VariablesFieldProps) {
  const list = useRef<HTMLOListElement>(null);
  const change = (index: number, part: Partial<VariableRow>) =>
    set({ variables: variables.map((row, at) => (at === index ? { ...row, ...part } : row)) });

  function add(): void {
    flushSync(() => set({ variables: [...variables, newVariableRow] }));
    list.current?.lastElementChild?.querySelector("input")?.focus();
  }

  return (
    <div className="flex flex-col gap-4">
      {variables.length > 0 && (
        <ol ref={list} aria-label="Variables" className="flex flex-col gap-3">
          {variables.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: A variable has no id while it is edited.
            <li key={index}>
              <VariableFields
                row={row}
                place={index + 1}
                onChange={(part) => change(index, part)}
                onRemove={() => set({ variables: variables.toSpliced(index, 1) })}
              />
            </li>
          ))}
        </ol>
      )}
      {faults.variables && (
        <p role="alert" className="text-xs text-bad wrap-anywhere">
          {faults.variables}
        </p>
      )}
      <div>
        <Button size="sm" disabled={variables.length >= limits.variables_per_agent} onClick={add}>
          <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
          Add variable
        </Button>
      </div>
      <LinesField
        label="Snippets"
        rows={2}
        spellCheck={false}
        hint="One name per line, such as refund_policy, or refund_policy@3 for its third version. {{> refund_policy}} places it."
        error={faults.snippets ?? undefined}
        lines={snippets}
        onLines={(lines) => set({ snippets: lines })}
      />
    </div>
  );
}

/** One variable: name, type and default, and below what is said of it. */
function VariableFields({
  row,
  place,
  onChange,
  onRemove,
}: {
  row: VariableRow;
  place: number;
  onChange: (part: Partial<VariableRow>) => void;
  onRemove: () => void;
}) {
  const isText = row.type === "string";
  return (
    <EntryCard title={`Variable ${place}`} onRemove={onRemove}>
      <div className="grid gap-3 rail:grid-cols-3">
        <Field
          label="Name"
          placeholder="customer"
          autoComplete="off"
          spellCheck={false}
          value={row.name}
          onChange={({ target }) => onChange({ name: target.value })}
        />
        <Select label="Type" choices={types} value={row.type} onChoose={(type) => onChange({ type })} />
        <Field
          label="Default"
          placeholder="None"
          autoComplete="off"
          value={row.default}
          onChange={({ target }) => onChange({ default: target.value })}
        />
      </div>
      <Field
        label="Description"
        autoComplete="off"
        value={row.description}
        onChange={({ target }) => onChange({ description: target.value })}
      />
      {isText && (
        <TextArea
          label="Only these values"
          rows={1}
          placeholder="Any. Otherwise one per line"
          value={row.choices}
          onChange={({ target }) => onChange({ choices: target.value })}
        />
      )}
      <label className="flex w-fit items-center gap-2">
        <input
          type="checkbox"
          checked={row.required}
          onChange={({ target }) => onChange({ required: target.checked })}
        />
        A run needs a value
      </label>
    </EntryCard>
  );
}
